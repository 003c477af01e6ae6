"""Looking at sessions, blocks, conflicts and receipts. Each look sees one state; nothing is changed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from cyberos import clock
from cyberos.blocks import enrolment, records, states
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Row, Transaction
from cyberos.blocks.engine import Engine, identify
from cyberos.blocks.records import Session, Target
from cyberos.errors import Absent

_END_OF_TIME: Final = 2**62

_BLOCK: Final = """SELECT b.block_id, b.session_id, s.native_ref, s.status, s.integrated_epoch, b.session_seq,
    b.project_seq, b.kind, b.actor, b.occurred_ns, b.created_ns, b.token_est, b.fact_key, b.payload_sha256, b.hash,
    t.topic, t.summary, t.payload
    FROM block b LEFT JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
    LEFT JOIN block_body t ON t.project_id=b.project_id AND t.block_id=b.block_id
    WHERE b.project_id=? AND b.principal_id=? """
_BY_ID: Final = _BLOCK + "AND b.block_id=?"
_OF_SESSION: Final = _BLOCK + "AND b.session_id=? ORDER BY b.session_seq"
_PARENTS: Final = "SELECT parent_id FROM block_parent WHERE project_id=? AND child_id=? ORDER BY ordinal"
_SETTLES: Final = "SELECT conflict_id FROM resolution WHERE project_id=? AND block_id=?"
_HANDED_TO: Final = """SELECT DISTINCT r.session_id FROM receipt_block k
    JOIN receipt r ON r.project_id=k.project_id AND r.receipt_id=k.receipt_id WHERE k.project_id=? AND k.block_id=?"""
_RECEIPTS: Final = """SELECT r.receipt_id, r.session_id, r.base_epoch, r.tip_seq, r.budget, r.estimator, r.blocks,
    r.tokens,
    r.omitted_blocks, r.omitted_tokens, r.content_sha256, r.actor, r.at_ns
    FROM receipt r JOIN session s ON s.project_id=r.project_id AND s.session_id=r.session_id
    WHERE r.project_id=? AND s.principal_id=? AND r.session_id=? ORDER BY r.at_ns, r.receipt_id"""
_HANDED: Final = "SELECT block_id FROM receipt_block WHERE project_id=? AND receipt_id=? ORDER BY ordinal"
_CONFLICTS: Final = """SELECT c.conflict_id, c.epoch, c.session_id, c.at_ns
    FROM conflict c JOIN project p ON p.project_id=c.project_id
    WHERE c.project_id=? AND p.principal_id=? ORDER BY c.epoch DESC, c.ordinal DESC"""
_SIDES: Final = """SELECT d.block_id, d.session_id, s.native_ref, b.actor, t.topic, t.summary
    FROM conflict_side d JOIN block b ON b.project_id=d.project_id AND b.block_id=d.block_id
    JOIN session s ON s.project_id=d.project_id AND s.session_id=d.session_id
    LEFT JOIN block_body t ON t.project_id=d.project_id AND t.block_id=d.block_id
    WHERE d.project_id=? AND d.conflict_id=? ORDER BY d.ordinal"""
_SETTLED: Final = """SELECT r.block_id, s.session_id, s.status, s.integrated_epoch FROM resolution r
    JOIN block b ON b.project_id=r.project_id AND b.block_id=r.block_id
    JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
    WHERE r.project_id=? AND r.conflict_id=? ORDER BY b.project_seq"""


class SessionView(NamedTuple):
    """A session. `status` tells dormant from open; `blocks` counts those that say something."""

    session_id: str
    native_ref: str
    status: str
    generation: int
    successor_of: str | None
    transcript_id: str | None
    origin: str
    actor: str
    base_epoch: int | None
    integrated_epoch: int | None
    blocks: int
    tokens: int
    tip_block_id: str
    started: str
    last_activity: str
    ended: str | None


class BlockView(NamedTuple):
    """A block. `epoch` is that in which it became canonical, null before; `text` and `data` are null where purged."""

    block_id: str
    session_id: str | None
    native_ref: str | None
    status: str | None
    epoch: int | None
    seq: int
    kind: str
    actor: str
    occurred: str
    created: str
    tokens: int
    key: str | None
    topic: str | None
    summary: str | None
    text: str | None
    data: dict[str, Any] | None
    payload_sha256: str
    hash: str
    parents: list[str]
    resolves: list[str]
    handed_to: list[str]


class ConflictView(NamedTuple):
    """A conflict. `state` is `open`, `settled` by a canonical block, or `pending` while that is on an open branch."""

    conflict_id: str
    epoch: int
    state: str
    topic: str | None
    at: str
    sides: list[dict[str, str | None]]
    settled_by: list[str]


class ReceiptView(NamedTuple):
    """What was handed to a session, and when for the first time."""

    receipt_id: str
    session_id: str
    base_epoch: int
    tip_seq: int
    budget: int
    estimator: str
    blocks: list[str]
    tokens: int
    omitted_blocks: int
    omitted_tokens: int
    content_sha256: str
    actor: str
    at: str


@contextmanager
def looking(engine: Engine, caller: Caller) -> Iterator[tuple[Transaction, str]]:
    """Yields a transaction that reads, and the principal's id; raises `Absent`."""
    with engine.database.read() as transaction:
        yield transaction, identify(engine, transaction, caller, "read")


def project(engine: Engine, caller: Caller, text: str) -> enrolment.Named:
    """Returns the principal's project of that id or name."""
    with looking(engine, caller) as (transaction, principal_id):
        return enrolment.named(transaction, principal_id, text)


def projects_of(engine: Engine, caller: Caller, store_id: str) -> list[enrolment.Named]:
    """Returns the projects that a store is enrolled in."""
    with looking(engine, caller) as (transaction, principal_id):
        return enrolment.of_store(transaction, principal_id, store_id)


def sessions(
    engine: Engine, caller: Caller, project_id: str, *, status: str | None = None, limit: int = 100
) -> list[SessionView]:
    """Returns the sessions that started last, newest first; `status` may be `dormant`, too."""
    now_ns = clock.now_ns()
    stored, active = states.stored(status, now_ns, engine.rules.dormant_after_ns)
    with looking(engine, caller) as (transaction, principal_id):
        sql, values = records.select_sessions(project_id, principal_id, stored, active, _END_OF_TIME, limit)
        return [_session(engine, records.session_of(row), now_ns) for row in transaction.all(sql, *values)]


def session(engine: Engine, caller: Caller, project_id: str, target: Target) -> tuple[SessionView, list[BlockView]]:
    """Returns a session and its blocks."""
    with looking(engine, caller) as (transaction, principal_id):
        found = session_row(transaction, project_id, principal_id, target)
        rows = transaction.all(_OF_SESSION, project_id, principal_id, found.session_id)
        return _session(engine, found, clock.now_ns()), [_block(transaction, project_id, row) for row in rows]


def session_row(transaction: Transaction, project_id: str, principal_id: str, target: Target) -> Session:
    """Returns the session that is meant; raises `Absent`."""
    sql, values = records.select_session(project_id, principal_id, target)
    row = transaction.one(sql, *values)
    if row is None:
        raise Absent
    return records.session_of(row)


def block(engine: Engine, caller: Caller, project_id: str, block_id: str) -> BlockView:
    """Returns one block."""
    with looking(engine, caller) as (transaction, principal_id):
        row = transaction.one(_BY_ID, project_id, principal_id, block_id)
        if row is None:
            raise Absent
        return _block(transaction, project_id, row)


def conflicts(engine: Engine, caller: Caller, project_id: str, *, settled: bool = False) -> list[ConflictView]:
    """Returns the conflicts that are not settled, newest first; with `settled` all."""
    with looking(engine, caller) as (transaction, principal_id):
        rows = transaction.all(_CONFLICTS, project_id, principal_id)
        found = [_conflict(transaction, project_id, row) for row in rows]
    return [view for view in found if settled or view.state != "settled"]


def receipts(engine: Engine, caller: Caller, project_id: str, target: Target) -> list[ReceiptView]:
    """Returns what was handed to a session, in order."""
    with looking(engine, caller) as (transaction, principal_id):
        found = session_row(transaction, project_id, principal_id, target)
        rows = transaction.all(_RECEIPTS, project_id, principal_id, found.session_id)
        return [_receipt(transaction, project_id, row) for row in rows]


def _session(engine: Engine, found: Session, now_ns: int) -> SessionView:
    status = states.shown(found.status, found.last_activity_ns, now_ns, engine.rules.dormant_after_ns)
    return SessionView(
        found.session_id, found.native_ref, status, found.generation, found.successor_of, found.transcript_id,
        found.origin, found.actor, found.base_epoch, found.integrated_epoch, found.content_blocks,
        found.content_tokens, found.tip_block_id, clock.iso_exact(found.started_ns),
        clock.iso_exact(found.last_activity_ns),
        None if found.terminal_ns is None else clock.iso_exact(found.terminal_ns),
    )  # fmt: skip


def _block(transaction: Transaction, project_id: str, row: Row) -> BlockView:
    (
        block_id, session_id, ref, status, epoch, _, seq, kind, actor, occurred_ns, created_ns, tokens, key, sha256,
        sha, topic, summary, payload,
    ) = row  # fmt: skip
    body = {} if payload is None else json.loads(payload)
    parents, settles, handed = transaction.batch(
        [(_PARENTS, (project_id, block_id)), (_SETTLES, (project_id, block_id)), (_HANDED_TO, (project_id, block_id))]
    )
    return BlockView(
        block_id, session_id, ref, status, 0 if kind == "baseline" else epoch, seq, kind, actor,
        clock.iso_exact(occurred_ns), clock.iso_exact(created_ns), tokens, key, topic, summary, body.get("text"),
        body.get("data"), bytes(sha256).hex(), bytes(sha).hex(), [found[0] for found in parents],
        sorted(found[0] for found in settles), sorted(found[0] for found in handed),
    )  # fmt: skip


def _conflict(transaction: Transaction, project_id: str, row: Row) -> ConflictView:
    conflict_id, epoch, _, at_ns = row
    sides, settled = transaction.batch([(_SIDES, (project_id, conflict_id)), (_SETTLED, (project_id, conflict_id))])
    names = ("block_id", "session_id", "native_ref", "actor", "topic", "summary")
    said = [dict(zip(names, side, strict=True)) for side in sides]
    canonical = [each[0] for each in settled if each[3] is not None]
    pending = [each[0] for each in settled if each[2] == states.OPEN]
    return ConflictView(
        conflict_id, epoch, "settled" if canonical else "pending" if pending else "open",
        next((side["topic"] for side in said if side["topic"] is not None), None), clock.iso_exact(at_ns),
        [{name: side[name] for name in names if name != "topic"} for side in said], canonical or pending,
    )  # fmt: skip


def _receipt(transaction: Transaction, project_id: str, row: Row) -> ReceiptView:
    handed = [found[0] for found in transaction.all(_HANDED, project_id, row[0])]
    return ReceiptView._make((*row[:6], handed, *row[7:10], bytes(row[10]).hex(), row[11], clock.iso_exact(row[12])))
