"""Erasing transcripts. That they existed, and what their hash was, stays in the log.

The tombstone takes the transcript's name, then the key is erased, then the row says so; it says what the tombstone
says, so that an interrupted purge can be finished by whoever comes next.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from cyberos import _native, clock
from cyberos.core.sessions import book, desk, gate, lifecycle, reading
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.desk import Desk
from cyberos.core.writer import Writer
from cyberos.errors import SessionStateRefused

MANUAL: Final = "manual"
EXPIRED: Final = "retention_expired"
TOMBSTONE: Final = "session.tombstone"

_LONGEST: Final = 64 << 10

Progress = Callable[[int, int], object]


class Erasure(NamedTuple):
    """What a purge did. `seq` is the row that records it; null where it was on record already.

    `places` are the files that were cleared of content or keys. `copies_until` says until when a copy of the transcript
    made earlier could still be opened with a copy of the keystore; null where it was not encrypted: then for ever.
    """

    session_id: str
    seq: int | None
    reason: str
    turns_count: int
    bytes_erased: int
    places: tuple[str, ...]
    copies_until: str | None


class Expired(NamedTuple):
    """A session whose time is over. `bytes` is what its transcript takes."""

    session_id: str
    started_at: str
    retention_days: int
    days_over: int
    turns_count: int
    bytes: int


def purge(writer: Writer, session_id: str, *, reason: str = MANUAL) -> Erasure:
    """Erases the transcript of a session that has ended, and its key."""
    gate.enter(writer, session_id, book.PURGED)
    with desk.held(writer.store_path, writer.actor, writer.patience) as at:
        sessions = Book(writer.reader())
        known = reading.find(sessions, session_id)
        gate.permit_owner(writer, known, book.PURGED)
        return erase(writer, at, known, reason)


def erase(writer: Writer, at: Desk, known: Known, reason: str) -> Erasure:
    """Erases a session's transcript and key, as far as that is not done; records it, if it is not on record."""
    if known.ended is None:
        command = "end" if known.state == "active" else "recover"
        raise SessionStateRefused(
            f"session {known.id} is {known.state}: its transcript cannot be erased", session_id=known.id,
            state=known.state, active=at.active(), hint=f"cyberos session {command} --id {known.id}",
        )  # fmt: skip
    gate.require_keystore(writer.keystore, known)
    file = known.file(at.store)
    tombstone, erased = read_tombstone(file), 0
    if tombstone is None or tombstone.get("session_id") != known.id:
        tombstone = _tombstone(known, known.ended, reason)
        desk.make_folder(os.path.dirname(file))
        content = json.dumps(tombstone, indent=2, ensure_ascii=False).encode() + b"\n"
        erased = _native.erase_transcript(file, content)
    keys = gate.erase_key(writer, known)
    seq = None
    if known.purged is None:
        seq = lifecycle.emit(writer, known, book.PURGED, _payload(tombstone))
    return Erasure(
        session_id=known.id,
        seq=seq,
        reason=str(tombstone["reason"]),
        turns_count=known.ended.turns_count,
        bytes_erased=erased,
        places=((known.path,) if erased else ()) + keys.places,
        copies_until=_copies_until(known, found=bool(keys.places)),
    )


def _copies_until(known: Known, *, found: bool) -> str | None:
    if not known.encrypted:
        return None
    return "the master key is rotated" if found else "its key, which is in no keystore here, is erased"


def expired(sessions: Book, now_ns: int) -> Iterator[Expired]:
    """Yields the sessions whose time is over and whose transcripts are not erased, those that started first first."""
    store = sessions.reader.store_path
    for known in reversed(sessions.all()):
        if known.state == "ended" and known.ended and now_ns >= known.expires_ns:
            days = (now_ns - known.expires_ns) // (86_400 * clock.NS) + 1
            size = _size(known.file(store))
            yield Expired(known.id, known.started_at, known.retention_days, days, known.ended.turns_count, size)


def purge_expired(
    writer: Writer, *, dry_run: bool = False, progress: Progress | None = None
) -> tuple[list[Expired], list[Erasure]]:
    """Erases every transcript whose time is over; returns which there were, and what was done.

    Each is a purge of its own: what is interrupted is done by the next call.
    """
    gate.enter_all(writer, book.PURGED)
    due = list(expired(Book(writer.reader()), clock.now_ns()))
    if dry_run:
        return due, []
    done = []
    for number, each in enumerate(due, 1):
        done.append(purge(writer, each.session_id, reason=EXPIRED))
        if progress:
            progress(number, len(due))
    return due, done


def read_tombstone(file: str) -> dict[str, Any] | None:
    """Returns what a tombstone says; `None` where the file is none."""
    try:
        with open(file, "rb") as handle:
            raw = handle.read(_LONGEST) if handle.peek(1)[:1] == b"{" else b""
        found = json.loads(raw)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("kind") == TOMBSTONE else None


def _tombstone(known: Known, ended: book.Ended, reason: str) -> dict[str, Any]:
    purged = known.purged
    return {
        "kind": TOMBSTONE,
        "session_id": known.id,
        "classification": known.classification,
        "actor": known.actor,
        "retention_days": known.retention_days,
        "original_started_at": known.started_at,
        "original_ended_at": ended.ended_at,
        "turns_count": ended.turns_count,
        "binlog_hash": ended.binlog_hash,
        "purged_at": purged.purged_at if purged else clock.iso_exact(clock.now_ns()),
        "reason": purged.reason if purged else reason,
    }


def _payload(tombstone: dict[str, Any]) -> dict[str, Any]:
    fields = ("session_id", "original_started_at", "original_ended_at", "turns_count", "purged_at", "reason")
    return {field: tombstone.get(field) for field in fields}


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0
