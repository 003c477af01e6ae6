"""Finishing what a crash, a full disk or a hand has left half done. Nothing that was acknowledged is thrown away."""

import glob
import hashlib
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from cyberos import _native, layout
from cyberos.core.sessions import book, desk, gate, lifecycle, purging, reading
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.desk import Desk
from cyberos.core.writer import Writer
from cyberos.errors import CorruptLog

RECOVERED: Final = "recovered"


class Recovered(NamedTuple):
    """What was done about one session, in one clause; `state` is what it is in now."""

    session_id: str
    did: str
    state: str


def recover(writer: Writer, session_id: str | None = None) -> list[Recovered]:
    """Finishes what was interrupted in one session, or in all."""
    gate.enter_all(writer, "session.recover")
    with desk.held(writer.store_path, writer.actor, writer.patience) as at:
        sessions = Book(writer.reader())
        named = at.active()
        active = lifecycle.settle(at, sessions)
        done = []
        if named != (active.id if active else None):
            told = "it is active: sessions/.active names it again" if active else "sessions/.active named no active one"
            done.append(Recovered(active.id if active else str(named), told, active.state if active else "none"))
        wanted = [reading.find(sessions, session_id)] if session_id is not None else sessions.all()
        for known in wanted:
            done.extend(_recover(writer, at, sessions, known))
        if session_id is None:
            done.extend(_leftovers(at))
    return done


def _recover(writer: Writer, at: Desk, sessions: Book, known: Known) -> Iterator[Recovered]:
    file = known.file(at.store)
    if known.ended:
        # An interrupted purge has left its tombstone; a purged transcript may have come back from a copy.
        if bool(purging.read_tombstone(file)) != bool(known.purged) and (known.purged is None or os.path.lexists(file)):
            purging.erase(writer, at, known, purging.MANUAL)
            yield Recovered(known.id, "its transcript is erased, and that is on record", "purged")
        return
    if not os.path.lexists(file):
        turns = at.acknowledged(known.id)
        lifecycle.close(writer, at, known, reason="transcript missing", turns=turns, sha256="", chain=None)
        yield Recovered(known.id, f"it ended without its transcript, which is gone with {turns} turns", "ended")
        return
    first, acknowledged = sessions.first_chain(known), at.acknowledged(known.id)
    try:
        if known.state == "active" and _native.count_turns(file) is not None:
            yield from _reopened(known, file, first, acknowledged)
        else:
            lifecycle.finish(writer, at, sessions, known, RECOVERED)
            yield Recovered(known.id, "its end is on record", "ended")
    except CorruptLog as error:
        yield _ended_damaged(writer, at, known, first, error)


def _reopened(known: Known, file: str, first: str, acknowledged: int) -> Iterator[Recovered]:
    turns = _native.Turns(file, known.id, first)
    turns.skip()
    if turns.damage is not None:
        raise CorruptLog(turns.damage, file=known.path)
    transcript = _native.Transcript(file, known.id, first, acknowledged)
    if transcript.dropped():
        yield Recovered(
            known.id,
            f"it is truncated to its last whole turn: {transcript.dropped()} bytes that were never acknowledged",
            known.state,
        )


def _ended_damaged(writer: Writer, at: Desk, known: Known, first: str, error: CorruptLog) -> Recovered:
    """Ends a session whose transcript is damaged, which stays as it is: what is whole of it can be read."""
    file = known.file(at.store)
    turns = _native.Turns(file, known.id, first).skip()
    with open(file, "rb") as handle:
        sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
    os.chmod(file, 0o400)
    reason = book.reason_of(error, at.store)
    lifecycle.close(writer, at, known, reason=reason, turns=turns, sha256=sha256, chain=None)
    return Recovered(known.id, f"it ended with {turns} whole turns; its transcript is {reason}", "ended")


def _leftovers(at: Desk) -> Iterator[Recovered]:
    """Removes what interrupted writes left."""
    for leftover in glob.glob(f"{at.store}/{layout.SESSIONS}/*/*.binlog.zst.tmp"):
        os.chmod(leftover, 0o600)
        with open(leftover, "r+b") as handle:
            handle.write(bytes(os.fstat(handle.fileno()).st_size))
            os.fsync(handle.fileno())
        os.unlink(leftover)
        name = os.path.basename(leftover).removesuffix(".binlog.zst.tmp")
        yield Recovered(name, "what an interrupted write left is removed", book.END)
