"""What the log says of sessions. The rows of one are found through the path index, however long the log is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from cyberos import _native, clock, layout
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import CorruptLog, TranscriptMissing

START: Final = "session.start"
END: Final = "session.end"
PURGED: Final = "session.purged"

_DAY_NS: Final = 86_400 * clock.NS
# What the reason of an end begins with that was recorded with a damaged transcript.
_DAMAGED: Final = "damaged: "
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

    @property
    def damaged(self) -> bool:
        """Whether it was known then that the transcript is damaged."""
        return self.reason.startswith(_DAMAGED)


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


def damaged(known: Known, what: str) -> CorruptLog:
    """Returns the error for a transcript that is damaged."""
    return CorruptLog(f"{known.path} is damaged: {what}", file=known.path, hint=_mending(known))


def reason_of(error: CorruptLog, store: str) -> str:
    """Returns the reason of an end that is recorded with a damaged transcript."""
    return f"{_DAMAGED}{error}".replace(f"{store}/", "")


@contextmanager
def telling_what_helps(known: Known) -> Iterator[None]:
    """Gives the error of a damaged transcript the command that helps."""
    try:
        yield
    except CorruptLog as error:
        error.hints = (_mending(known),)
        raise


def _mending(known: Known) -> str:
    if known.ended:
        return "what is whole of it can be read; restore the file if there is a copy"
    return (
        "restore the file if there is a copy; "
        f"or end the session with what is whole of it: cyberos session recover --id {known.id}"
    )


class Book:
    """The sessions of one store, as its log has them."""

    def __init__(self, reader: AuditChainReader) -> None:
        self.reader: Final = reader

    def find(self, session_id: str) -> Known | None:
        """Returns a session, or `None`."""
        return next(map(_known, self.reader.native.sessions(name_of(session_id))), None)

    def all(self, since_ns: int | None = None) -> list[Known]:
        """Returns the sessions, those that started last first; those that started at `since_ns` or later."""
        known = map(_known, self.reader.native.sessions(layout.SESSIONS))
        return [each for each in known if since_ns is None or each.started_ns >= since_ns]

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

    def writes(self, session_id: str) -> tuple[list[_native.Row], list[Damage]]:
        """Returns the rows that were written during a session, oldest first, and the damage that may hide others."""
        return self.reader.native.touching(f"{name_of(session_id)}/writes")


def is_transcript(entry: _native.Entry) -> bool:
    """Whether a row is a transcript's; upstream has others of the same kinds (see FORMAT.md)."""
    return not entry.path or entry.path.startswith(layout.SESSIONS + "/")


def _known(fields: tuple[Any, ...]) -> Known:
    known = Known(*fields)
    # What the core gives of an end and a purge are bare tuples.
    return known._replace(ended=known.ended and Ended(*known.ended), purged=known.purged and Purged(*known.purged))
