"""Recording conversations: starting, adding turns, ending."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cyberos import clock
from cyberos.core.sessions import lifecycle, terms
from cyberos.core.sessions.lifecycle import Closed
from cyberos.core.sessions.terms import TurnInput
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore
from cyberos.errors import BadArgument


class Started(NamedTuple):
    """A session that was started."""

    session_id: str
    seq: int
    started_at: str
    classification: str
    retention_days: int
    actor: str
    encrypted: bool
    correlates_with: str | None
    path: str


class Appended(NamedTuple):
    """Turns that were added, by their numbers; null where there were none."""

    session_id: str
    first_turn: int | None
    last_turn: int | None
    turns_count: int


class Finished(NamedTuple):
    """A session that has ended. `sha256sum` of the transcript is `binlog_hash`."""

    session_id: str
    seq: int
    ended_at: str
    ended_reason: str
    turns_count: int
    binlog_hash: str
    path: str


def start(
    store: str,
    session_id: str,
    *,
    classification: str,
    retention_days: int | None,
    correlates_with: str | None,
    actor: str,
    keystore: Keystore | None,
) -> Started:
    """Starts a session and makes it the active one; `auto` stands for an id that nobody has used."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        known = lifecycle.start(
            writer,
            terms.new_id() if session_id == "auto" else session_id,
            classification=classification,
            retention_days=retention_days,
            actor=actor,
            correlates_with=correlates_with,
        )
    return Started(
        session_id=known.id,
        seq=known.seq,
        started_at=known.started_at,
        classification=known.classification,
        retention_days=known.retention_days,
        actor=known.actor,
        encrypted=known.encrypted,
        correlates_with=known.correlates_with,
        path=known.path,
    )


def append(
    store: str, session_id: str, turns: Sequence[TurnInput], *, actor: str, keystore: Keystore | None
) -> Appended:
    """Adds turns to the active session, all or none."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        added = lifecycle.append(writer, session_id, turns)
    first, last = (added.start, added.stop - 1) if added else (None, None)
    return Appended(session_id, first, last, added.stop)


def end(store: str, session_id: str, reason: str | None, *, actor: str) -> Finished:
    """Ends the active session and seals its transcript."""
    with Writer(store, actor=actor) as writer:
        return _finished(lifecycle.end(writer, session_id, reason or lifecycle.EXPLICIT))


def record(
    store: str,
    session_id: str,
    turns: Sequence[TurnInput],
    *,
    classification: str,
    retention_days: int | None,
    correlates_with: str | None,
    reason: str | None,
    actor: str,
    keystore: Keystore | None,
) -> Finished:
    """Records a session that is over, whole, beside the active one."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        closed = lifecycle.record(
            writer,
            terms.new_id() if session_id == "auto" else session_id,
            turns,
            classification=classification,
            retention_days=retention_days,
            actor=actor,
            correlates_with=correlates_with,
            reason=reason or lifecycle.EXPLICIT,
        )
    return _finished(closed)


def parse_turns(lines: Iterable[bytes]) -> list[TurnInput]:
    """Returns turns given as JSON Lines: `role`, `content` and, where wanted, `ts` and `redactions_applied`."""
    import json

    turns = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadArgument(f"line {number} is not JSON: {error}", argument="content") from None
        turns.append(_turn(found, number))
    return turns


def _turn(found: object, number: int) -> TurnInput:
    known = ("role", "content", "redactions_applied", "ts")
    if not isinstance(found, dict) or not found.keys() <= set(known) or not {"role", "content"} <= found.keys():
        raise BadArgument(
            f"line {number} is no turn", argument="content",
            hint='a turn is {"role": …, "content": …}, with "redactions_applied" and "ts" if you like',
        )  # fmt: skip
    redacted, ts = found.get("redactions_applied"), found.get("ts")
    if not isinstance(redacted, bool | None) or not isinstance(ts, str | None):
        raise BadArgument(f"line {number}: redactions_applied is true or false, ts a text", argument="content")
    return TurnInput(found["role"], found["content"], redacted, clock.parse_time(ts) if ts else None)


def _finished(closed: Closed) -> Finished:
    known, ended = closed
    return Finished(
        session_id=known.id,
        seq=ended.seq,
        ended_at=ended.ended_at,
        ended_reason=ended.reason,
        turns_count=ended.turns_count,
        binlog_hash=ended.binlog_hash,
        path=known.path,
    )
