"""What the log says of sessions. The rows of one are found through the path index, however long the log is."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cyberos import _native, clock, layout
from cyberos.core.reader import AuditChainReader
from cyberos.errors import TranscriptMissing

START: Final = "session.start"
END: Final = "session.end"
PURGED: Final = "session.purged"

_DAY_NS: Final = 86_400 * clock.NS
# How many rows are asked for at once, where it is not known how many will do.
_BATCH: Final = 256


class Ended(NamedTuple):
    """What `session.end` says."""

    seq: int
    ended_at: str
    reason: str
    turns_count: int
    binlog_hash: str
    chain_tip: str | None
    path: str = ""


class Purged(NamedTuple):
    """What `session.purged` says."""

    seq: int
    purged_at: str
    reason: str
    turns_count: int | None


class Known(NamedTuple):
    """A session as the log knows it. `seq` is the row that started it, `path` its transcript in the store."""

    id: str
    seq: int
    started_at: str
    started_ns: int
    classification: str
    retention_days: int
    actor: str
    path: str
    correlates_with: str | None = None
    # Written whole, after the fact, and never active.
    recorded: bool = False
    encrypted: bool = False
    ended: Ended | None = None
    purged: Purged | None = None

    @property
    def state(self) -> str:
        """`active`, `ended` or `purged`; one that is recorded whole and has no end was interrupted: `unfinished`."""
        if self.purged:
            return "purged"
        if self.ended:
            return "ended"
        return "unfinished" if self.recorded else "active"

    @property
    def expires_ns(self) -> int:
        """From when on it has expired: when the days it is kept have passed, beginning with the day after its start."""
        return (self.started_ns // _DAY_NS + self.retention_days + 1) * _DAY_NS

    def file(self, store: str) -> str:
        """Returns where its transcript is."""
        return f"{store}/{self.path}"


def name_of(session_id: str) -> str:
    """Returns the name under which the log finds a session's start, end and purge, and its access is decided."""
    return f"{layout.SESSIONS}/{session_id}"


def missing(known: Known) -> TranscriptMissing:
    """Returns the error for a transcript that is gone."""
    return TranscriptMissing(
        f"the transcript of session {known.id} is gone: {known.path}", session_id=known.id, file=known.path,
        hint=f"restore the file, or end the session without it: cyberos session recover --id {known.id}",
    )  # fmt: skip


class Book:
    """The sessions of one store, as its log has them."""

    def __init__(self, reader: AuditChainReader) -> None:
        self.reader: Final = reader

    def find(self, session_id: str) -> Known | None:
        """Returns a session, or `None`."""
        entries, _ = self.reader.native.history(name_of(session_id), follow_moves=False)
        return next(iter(_sessions(entries)), None)

    def all(self, since_ns: int | None = None) -> list[Known]:
        """Returns the sessions, those that started last first; those that started at `since_ns` or later."""
        entries, _ = self.reader.native.history(layout.SESSIONS, follow_moves=False)
        return [known for known in _sessions(entries) if since_ns is None or known.started_ns >= since_ns]

    def active(self) -> Known | None:
        """Returns the active session: of those that were not recorded whole, the last to start, if it is open."""
        below: int | None = None
        over: set[str] = set()
        while True:
            entries, _ = self.reader.native.history(
                layout.SESSIONS, follow_moves=False, limit=_BATCH, below=below
            )  # fmt: skip
            for entry in entries:
                if not is_transcript(entry):
                    continue
                extra = entry.extra
                if entry.kind != START:
                    over.add(extra["session_id"])
                elif not extra.get("recorded"):
                    return self.find(extra["session_id"]) if extra["session_id"] not in over else None
            if len(entries) < _BATCH:
                return None
            below = entries[-1].seq

    def first_chain(self, known: Known) -> str:
        """Returns what the first turn of a session continues: the chain of the row that started it."""
        chain: str = self.reader.row(known.seq)["chain"]
        return chain

    def writes(self, session_id: str) -> Iterator[_native.Entry]:
        """Yields the rows that were written during a session, oldest first."""
        entries, _ = self.reader.native.history(f"{name_of(session_id)}/writes", follow_moves=False)
        yield from reversed(entries)


def is_transcript(entry: _native.Entry) -> bool:
    """Whether a row is a transcript's; upstream has others of the same kinds (see FORMAT.md)."""
    return not entry.path or entry.path.startswith(layout.SESSIONS + "/")


def _sessions(entries: list[_native.Entry]) -> Iterator[Known]:
    """Puts rows, newest first, together."""
    ends: dict[str, Ended] = {}
    purges: dict[str, Purged] = {}
    for entry in filter(is_transcript, entries):
        extra, kind = entry.extra, entry.kind
        session_id = extra["session_id"]
        if kind == PURGED:
            purges[session_id] = _purged(entry.seq, extra)
        elif kind == END:
            ends[session_id] = _ended(entry, extra)
        elif kind == START:
            # A second start of the same id is doctor's to find: the first one has the transcript.
            yield _known(entry, extra, ends.pop(session_id, None), purges.pop(session_id, None))


def _known(entry: _native.Entry, extra: dict[str, Any], ended: Ended | None, purged: Purged | None) -> Known:
    days, correlates = extra.get("retention_days"), extra.get("correlates_with")
    started_ns = entry.ts_ns
    return Known(
        id=extra["session_id"],
        seq=entry.seq,
        started_at=str(extra.get("started_at") or clock.iso_exact(started_ns)),
        started_ns=started_ns,
        classification=str(extra.get("classification")),
        retention_days=days if isinstance(days, int) and days >= 1 else 30,
        actor=str(extra.get("actor") or entry.actor),
        # Upstream gives a transcript another name when it ends.
        path=ended.path if ended and ended.path else entry.path,
        correlates_with=correlates if isinstance(correlates, str) else None,
        recorded=extra.get("recorded") is True,
        encrypted=extra.get("encrypted") is True,
        ended=ended,
        purged=purged,
    )


def _ended(entry: _native.Entry, extra: dict[str, Any]) -> Ended:
    turns, tip = extra.get("turns_count"), extra.get("chain_tip")
    return Ended(
        seq=entry.seq,
        ended_at=str(extra.get("ended_at")),
        reason=str(extra.get("ended_reason")),
        turns_count=turns if isinstance(turns, int) else 0,
        binlog_hash=str(extra.get("binlog_hash") or ""),
        chain_tip=tip if isinstance(tip, str) else None,
        path=entry.path,
    )


def _purged(seq: int, extra: dict[str, Any]) -> Purged:
    turns = extra.get("turns_count")
    return Purged(seq, str(extra.get("purged_at")), str(extra.get("reason")), turns if isinstance(turns, int) else None)
