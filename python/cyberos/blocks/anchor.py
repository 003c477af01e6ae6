"""Telling a store's chain what happened in a project, so that a database that was put back or rewritten is noticed.

Each event of a project is one row; the rows of one project have one path, by which the last one is found at once. What
the chain has is what counts: an event that it has already is not told again, and one that a crash kept from being told
is told by whoever comes next.
"""

import os
from typing import Any, Final, NamedTuple

from cyberos import clock, layout
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Row, Transaction, lock
from cyberos.blocks.engine import Engine
from cyberos.blocks.views import looking
from cyberos.core.changes import Record
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import IntegrationStateInvalid

KINDS: Final = {
    "session_started": "block.session_started",
    "session_ended": "block.session_ended",
    "session_abandoned": "block.session_abandoned",
    "integrated": "block.integrated",
}
# Rows that one commit takes.
_MOST: Final = 1_000

_EVENTS: Final = """SELECT e.event_seq, e.kind, e.session_id, e.epoch, e.actor, e.at_ns, s.native_ref, s.generation,
    s.base_epoch, s.terminal_block_id, l.head_block_id, l.head_sha256, l.sha256
    FROM project_event e JOIN project p ON p.project_id=e.project_id
    LEFT JOIN session s ON s.project_id=e.project_id AND s.session_id=e.session_id
    LEFT JOIN integration_log l ON l.project_id=e.project_id AND l.epoch=e.epoch AND e.kind='integrated'
    WHERE e.project_id=? AND p.principal_id=? AND e.event_seq>? ORDER BY e.event_seq LIMIT ?"""
_LOGGED: Final = """SELECT l.sha256 FROM integration_log l JOIN project p ON p.project_id=l.project_id
    WHERE l.project_id=? AND p.principal_id=? AND l.epoch=?"""
_LAST_EVENT: Final = "SELECT next_event_seq-1 FROM project WHERE project_id=? AND principal_id=?"


class Anchored(NamedTuple):
    """How many rows were added, and the last event that the chain has."""

    rows: int
    event: int


class Anchor(NamedTuple):
    """A row of the chain that anchors a project."""

    seq: int
    kind: str
    facts: dict[str, Any]


def path_of(project_id: str) -> str:
    """Returns the path that a project's rows have."""
    return f"blocks/{project_id}"


def last(reader: AuditChainReader, project_id: str, kind: str | None = None) -> Anchor | None:
    """Returns the newest row that anchors a project; of one kind where that is asked for."""
    wanted = [("kind", kind)] if kind else None
    entries, _ = reader.native.history(path_of(project_id), limit=1, follow_moves=False, filters=wanted)
    return next((Anchor(entry.seq, entry.kind, entry.extra) for entry in entries), None)


def catch_up(engine: Engine, caller: Caller, store: str, project_id: str, *, patience: float = 10.0) -> Anchored:
    """Tells a store's chain what it has not been told. Raises `IntegrationStateInvalid` where they contradict."""
    reader = AuditChainReader(store)
    if not _is_behind(engine, caller, reader, project_id):
        return Anchored(0, _number(last(reader, project_id)))
    os.makedirs(os.path.join(store, layout.INDEX), mode=0o700, exist_ok=True)
    added = 0
    with lock.held(os.path.join(store, layout.ANCHORS_LOCK), patience, lambda: None):
        while True:
            event = _number(last(AuditChainReader(store), project_id))
            with looking(engine, caller) as (transaction, principal_id):
                rows = transaction.all(_EVENTS, project_id, principal_id, event, _MOST)
            if not rows:
                return Anchored(added, event)
            _tell(store, project_id, rows, engine.database.dialect, patience)
            added += len(rows)


def contradiction(transaction: Transaction, principal_id: str, reader: AuditChainReader, project_id: str) -> str | None:
    """Returns how a database contradicts what the chain was told of it."""
    newest = last(reader, project_id)
    row = transaction.one(_LAST_EVENT, project_id, principal_id)
    if newest is not None and (row is None or row[0] < _number(newest)):
        have = 0 if row is None else row[0]
        return f"the chain has event {_number(newest)} (row {newest.seq}), the database goes to {have}: it was put back"
    integrated = last(reader, project_id, KINDS["integrated"])
    if integrated is not None:
        epoch = integrated.facts.get("epoch")
        row = transaction.one(_LOGGED, project_id, principal_id, epoch)
        if row is None or bytes(row[0]).hex() != integrated.facts.get("log_sha256"):
            return f"epoch {epoch} is not the one that row {integrated.seq} of the chain anchors: it was rewritten"
    return None


def _is_behind(engine: Engine, caller: Caller, reader: AuditChainReader, project_id: str) -> bool:
    with looking(engine, caller) as (transaction, principal_id):
        problem = contradiction(transaction, principal_id, reader, project_id)
        if problem is not None:
            raise IntegrationStateInvalid(
                f"nothing is anchored: {problem}",
                reason="contradicts_chain",
                hint="`cyberos blocks check` says more",
            )
        row = transaction.one(_LAST_EVENT, project_id, principal_id)
    return row is not None and row[0] > _number(last(reader, project_id))


def _number(anchor: Anchor | None) -> int:
    event = anchor.facts.get("event") if anchor is not None else 0
    return event if isinstance(event, int) else 0


def _tell(store: str, project_id: str, rows: list[Row], database: str, patience: float) -> None:
    with Writer(store, patience=patience) as writer:
        changes = [_row(project_id, database, row) for row in rows]
        writer.apply(
            [Record(kind, facts) for kind, facts, _ in changes],
            actors=[actor for _, _, actor in changes],
            session_id="",
        )


def _row(project_id: str, database: str, row: Row) -> tuple[str, dict[str, Any], str]:
    event, kind, session_id, epoch, actor, at_ns, ref, generation, base_epoch, terminal, head, head_sha, log_sha = row
    facts: dict[str, Any] = {"path": path_of(project_id), "project_id": project_id, "event": event}
    facts |= {"database": database, "happened": clock.iso_exact(at_ns)}
    if session_id is not None:
        facts["block_session_id"] = session_id
    if kind == "integrated":
        facts |= {"epoch": epoch, "head_block_id": head}
        facts |= {"head_sha256": bytes(head_sha).hex(), "log_sha256": bytes(log_sha).hex()}
    elif kind == "session_started":
        facts |= {"native_ref": ref, "generation": generation, "base_epoch": base_epoch}
    else:
        facts |= {"native_ref": ref, "terminal_block_id": terminal}
        if epoch is not None:
            facts["epoch"] = epoch
    return KINDS.get(kind, f"block.{kind}"), facts, actor
