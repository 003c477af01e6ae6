"""The transcript ledger, for callers: start, append, end, record, read, list, purge.

A session is recorded only when somebody asks for it; one is active at a time. Who writes is the writer's actor; keys
come from the writer's keystore.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core.sessions import gate, lifecycle, purging, reading, recovery
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.purging import Erasure
from cyberos.core.sessions.reading import Turn
from cyberos.core.sessions.recovery import Recovered
from cyberos.core.sessions.terms import Classification, Role, TurnInput
from cyberos.core.writer import Writer

__all__ = [
    "Classification",
    "Erasure",
    "Recovered",
    "Role",
    "Session",
    "Turn",
    "TurnInput",
    "append",
    "append_many",
    "end",
    "list_sessions",
    "purge",
    "purge_expired",
    "read",
    "record",
    "recover",
    "start",
]


class Session(NamedTuple):
    """A session. `state` is `active`, `ended`, `purged`, or `unfinished` where recording it whole was interrupted."""

    id: str
    started_at: datetime
    classification: str
    retention_days: int = 30
    actor: str = "agent"
    ended_at: datetime | None = None
    correlates_with: str | None = None
    state: str = "active"
    turns_count: int | None = None
    path: str = ""


def start(
    writer: Writer,
    id: str,  # noqa: A002, the document's name
    classification: Classification = "confidential",
    retention_days: int | None = None,
    actor: str = "agent",
    correlates_with: str | None = None,
) -> Session:
    """Starts a session; `retention_days=None` means the manifest's.

    Raises `ProtocolNotApproved`, `AclDenied`, `BadArgument`, `SessionStateRefused` where one is active, `AlreadyExists`
    where there ever was one of this id, and `KeyMissing` where it is restricted and there is no key.
    """
    return _session(
        lifecycle.start(
            writer, id, classification=classification, retention_days=retention_days, actor=actor,
            correlates_with=correlates_with,
        )
    )  # fmt: skip


def append(
    writer: Writer,
    id: str,  # noqa: A002
    role: Role,
    content: str,
    redactions_applied: bool | None = None,  # noqa: FBT001, the document's signature
) -> int:
    """Adds a turn to the active session, durably; returns its number, from 0.

    Raises `SessionNotFound`, `SessionStateRefused`, `TurnRefused`, `AclDenied`, and what opening its keys raises.
    """
    return lifecycle.append(writer, id, [TurnInput(role, content, redactions_applied)]).start


def append_many(writer: Writer, id: str, turns: Iterable[TurnInput]) -> range:  # noqa: A002
    """Adds turns to the active session, all or none, with one sync; returns their numbers."""
    return lifecycle.append(writer, id, list(turns))


def end(writer: Writer, id: str, reason: str | None = None) -> Session:  # noqa: A002
    """Ends the active session and seals its transcript."""
    return _session(lifecycle.end(writer, id, reason or lifecycle.EXPLICIT).session)


def record(
    writer: Writer,
    id: str,  # noqa: A002
    turns: Iterable[TurnInput],
    classification: Classification = "confidential",
    retention_days: int | None = None,
    actor: str = "agent",
    correlates_with: str | None = None,
    reason: str | None = None,
) -> Session:
    """Records a session that is over, in one step, beside the active one; any number at once.

    Called again after an interruption with the same id and actor, it does it again.
    """
    return _session(
        lifecycle.record(
            writer, id, list(turns), classification=classification, retention_days=retention_days, actor=actor,
            correlates_with=correlates_with, reason=reason or lifecycle.EXPLICIT,
        ).session
    )  # fmt: skip


def read(writer: Writer, id: str, decrypt: bool = False) -> list[Turn]:  # noqa: A002, FBT001, FBT002
    """Returns the turns of a session; those of a restricted one have a placeholder for content without `decrypt`."""
    book = Book(writer.reader())
    known = reading.find(book, id)
    shown = decrypt or not reading.needs_decrypt(known)
    return list(reading.read(book, known, gate.cipher(writer, known) if shown else None).turns)


def list_sessions(writer: Writer, since_ns: int | None = None) -> Iterator[Session]:
    """Yields the sessions, those that started last first."""
    return map(_session, Book(writer.reader()).all(since_ns))


def purge(writer: Writer, id: str) -> Erasure:  # noqa: A002
    """Erases the transcript of a session that has ended, and its key."""
    return purging.purge(writer, id)


def purge_expired(writer: Writer, dry_run: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
    """Erases the transcripts whose time is over; returns `dry_run`, `purged_count` and what is `purged`."""
    due, _ = purging.purge_expired(writer, dry_run=dry_run)
    return {"dry_run": dry_run, "purged_count": len(due), "purged": [each._asdict() for each in due]}


def recover(writer: Writer, id: str | None = None) -> list[Recovered]:  # noqa: A002
    """Finishes what was interrupted in one session, or in all."""
    return recovery.recover(writer, id)


def _session(known: Known) -> Session:
    ended = known.ended
    return Session(
        id=known.id,
        started_at=clock.to_datetime(known.started_ns),
        classification=known.classification,
        retention_days=known.retention_days,
        actor=known.actor,
        ended_at=clock.to_datetime(clock.parse_time(ended.ended_at)) if ended else None,
        correlates_with=known.correlates_with,
        state=known.state,
        turns_count=ended.turns_count if ended else None,
        path=known.path,
    )
