"""Reading recorded conversations: which there are, what was said, and what was written meanwhile."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core.inspection import check_format
from cyberos.core.reader import AuditChainReader
from cyberos.core.sessions import desk, gate, reading
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.reading import Turn
from cyberos.crypto.envelope import SessionCipher
from cyberos.crypto.keystore import Keystore

_DAY_NS = 86_400 * clock.NS


class Listed(NamedTuple):
    """A session. `days_left` is how many whole days its transcript is still kept; null where it was erased."""

    session_id: str
    state: str
    classification: str
    started_at: str
    ended_at: str | None
    turns_count: int | None
    days_left: int | None
    actor: str
    correlates_with: str | None


class Write(NamedTuple):
    """A row that was written during a session; `turn` is the number of the last turn before it."""

    seq: int
    ts: str
    kind: str
    actor: str
    path: str
    turn: int | None


class Shown(NamedTuple):
    """All that the log says of a session; `writes` only where they were asked for."""

    session_id: str
    state: str
    classification: str
    encrypted: bool
    recorded: bool
    started_at: str
    ended_at: str | None
    ended_reason: str | None
    purged_at: str | None
    purged_reason: str | None
    turns_count: int | None
    retention_days: int
    days_left: int | None
    actor: str
    correlates_with: str | None
    path: str
    binlog_hash: str | None
    chain_tip: str | None
    writes: tuple[Write, ...] | None


class Transcript(NamedTuple):
    """A session and its turns, read as they are asked for; the `warnings` are complete when all are read."""

    session: Shown
    turns: Iterator[Turn]
    warnings: list[str]


def list_sessions(
    store: str, *, since: str | None = None, classification: str | None = None, ended: bool | None = None
) -> list[Listed]:
    """Returns the sessions that started since then, the last first; `ended` keeps those that have, or have not."""
    book = _book(store)
    since_ns = clock.parse_time(since) if since is not None else None
    now = clock.now_ns()
    return [
        _listed(store, known, now)
        for known in book.all(since_ns)
        if classification in (None, known.classification)
        and (ended is None or ended == (known.ended is not None))
    ]  # fmt: skip


def show(store: str, session_id: str, *, writes: bool = False) -> Shown:
    """Returns what the log says of a session, also when its transcript is erased."""
    book = _book(store)
    return _shown(store, book, reading.find(book, session_id), writes=writes)


def read(store: str, session_id: str, *, decrypt: bool, keystore: Keystore | None, start: int = 0) -> Transcript:
    """Returns what was said in a session, from turn `start` on."""
    book = _book(store)
    known = reading.find(book, session_id)
    found = reading.read(book, known, _cipher(store, known, keystore, decrypt=decrypt), start=start)
    return Transcript(_shown(store, book, known, writes=False), found.turns, found.warnings)


def tail(
    store: str, session_id: str, *, decrypt: bool, keystore: Keystore | None, last: int, wait: Iterator[None]
) -> Iterator[Turn]:
    """Yields the last turns of a session, then new ones until it has ended; looks whenever `wait` has yielded."""
    book = _book(store)
    known = reading.find(book, session_id)
    cipher = _cipher(store, known, keystore, decrypt=decrypt)
    following = max(0, reading.transcript(book, known).skip() - last)
    seen = None
    while True:
        now = desk.lease(store)
        known = reading.find(book, session_id)
        if now is None or now != seen or known.state != "active":
            seen = now
            for turn in reading.read(book, known, cipher, start=following).turns:
                following = turn.turn_seq + 1
                yield turn
        if known.state != "active" or next(wait, "over") == "over":
            return


def export(transcript: Transcript) -> Iterator[dict[str, Any]]:
    """Yields a session as objects: first `session`, then each turn in the document's form."""
    session = transcript.session
    fields = ("session_id", "started_at", "ended_at", "ended_reason", "classification", "retention_days", "actor")
    about = {field: getattr(session, field) for field in fields}
    about["id"] = about.pop("session_id")
    about["correlates_with"] = session.correlates_with
    yield {"session": {key: value for key, value in about.items() if value is not None}}
    for turn in transcript.turns:
        yield {
            "session_id": session.session_id,
            "role": turn.role,
            "turn_seq": turn.turn_seq,
            "ts": turn.ts,
            "content": turn.content,
            **({} if turn.redactions_applied is None else {"redactions_applied": turn.redactions_applied}),
        }


def _book(store: str) -> Book:
    check_format(store)
    return Book(AuditChainReader(store))


def _cipher(store: str, known: Known, keystore: Keystore | None, *, decrypt: bool) -> SessionCipher | None:
    if known.purged or (reading.needs_decrypt(known) and not decrypt):
        return None
    return gate.cipher_from(keystore, store, known)


def _days_left(known: Known, now: int) -> int | None:
    return None if known.purged else max(0, (known.expires_ns - now) // _DAY_NS)


def _turns_count(store: str, known: Known) -> int | None:
    if known.ended:
        return known.ended.turns_count
    lease = desk.lease(store)
    return lease.turns if lease and lease.session_id == known.id else None


def _listed(store: str, known: Known, now: int) -> Listed:
    return Listed(
        session_id=known.id,
        state=known.state,
        classification=known.classification,
        started_at=known.started_at,
        ended_at=known.ended.ended_at if known.ended else None,
        turns_count=_turns_count(store, known),
        days_left=_days_left(known, now),
        actor=known.actor,
        correlates_with=known.correlates_with,
    )


def _shown(store: str, book: Book, known: Known, *, writes: bool) -> Shown:
    ended, purged = known.ended, known.purged
    return Shown(
        session_id=known.id,
        state=known.state,
        classification=known.classification,
        encrypted=known.encrypted,
        recorded=known.recorded,
        started_at=known.started_at,
        ended_at=ended.ended_at if ended else None,
        ended_reason=ended.reason if ended else None,
        purged_at=purged.purged_at if purged else None,
        purged_reason=purged.reason if purged else None,
        turns_count=_turns_count(store, known),
        retention_days=known.retention_days,
        days_left=_days_left(known, clock.now_ns()),
        actor=known.actor,
        correlates_with=known.correlates_with,
        path=known.path,
        binlog_hash=ended.binlog_hash or None if ended else None,
        chain_tip=ended.chain_tip if ended else None,
        writes=tuple(_writes(book, known.id)) if writes else None,
    )


def _writes(book: Book, session_id: str) -> Iterator[Write]:
    for row in book.writes(session_id)[0]:
        turn = row.extra.get("session_turn")
        yield Write(
            row.seq, clock.iso_exact(row.ts_ns), row.kind, row.actor, row.path,
            turn if isinstance(turn, int) else None,
        )  # fmt: skip
