"""A bounded window of a project's graph that does not lie: the head and all open tips are in it, and what is cut shows.

Counts come from the sessions and never from what is in the window. Blocks are ordered by their place in the project,
which never changes: `before` goes on where a window ended.
"""

from typing import Final, NamedTuple

from cyberos import clock
from cyberos.blocks import records, states
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Row
from cyberos.blocks.engine import Engine
from cyberos.blocks.views import looking
from cyberos.errors import Absent

# The most blocks that one window has.
WINDOW_LIMIT: Final = 1_000
_END_OF_TIME: Final = 2**62

_NODES: Final = """
    WITH win AS (SELECT block_id FROM block WHERE project_id=? AND principal_id=? AND project_seq<?
            ORDER BY project_seq DESC LIMIT ?),
        sel AS (SELECT block_id FROM win
            UNION SELECT integration_head FROM project WHERE project_id=? AND principal_id=?
            UNION SELECT tip_block_id FROM session WHERE project_id=? AND principal_id=? AND status='open')
    SELECT b.block_id, b.project_seq, b.kind, b.session_id, s.native_ref, s.status, s.integrated_epoch, b.actor,
        b.occurred_ns, t.summary, t.topic, CASE WHEN b.block_id IN (SELECT block_id FROM win) THEN 1 ELSE 0 END
    FROM sel CROSS JOIN block b
    LEFT JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
    LEFT JOIN block_body t ON t.project_id=b.project_id AND t.block_id=b.block_id
    WHERE b.project_id=? AND b.block_id=sel.block_id
    ORDER BY b.project_seq DESC"""
_EDGES: Final = """SELECT child_id, parent_id FROM block_parent WHERE project_id=? AND child_id IN({})
    ORDER BY child_seq DESC, ordinal"""
_TIPS: Final = """SELECT tip_block_id, session_id, native_ref, last_activity_ns FROM session
    WHERE project_id=? AND principal_id=? AND status='open' ORDER BY last_activity_ns DESC, session_id"""
_COUNTS: Final = "SELECT status, count(*) FROM session WHERE project_id=? AND principal_id=? GROUP BY status"
_DORMANT: Final = """SELECT count(*) FROM session
    WHERE project_id=? AND principal_id=? AND status='open' AND last_activity_ns<?"""
_CHUNK: Final = 500


class GraphNode(NamedTuple):
    """A block in the window; `anchor` says that it is older than the window. `parents` may lie outside of it."""

    block_id: str
    seq: int
    kind: str
    session_id: str | None
    native_ref: str | None
    status: str | None
    epoch: int | None
    actor: str
    occurred: str
    summary: str | None
    topic: str | None
    anchor: bool
    parents: list[str]


class Tip(NamedTuple):
    """The newest block of an open session."""

    block_id: str
    session_id: str
    native_ref: str
    status: str


class Graph(NamedTuple):
    """A window, newest first. `counts` is of all sessions; `before` goes on behind it, null at the end."""

    project_id: str
    project: str
    epoch: int | None
    head: str | None
    tips: list[Tip]
    nodes: list[GraphNode]
    counts: dict[str, int]
    limit: int
    before: int | None


def window(engine: Engine, caller: Caller, project_id: str, *, limit: int = 50, before: int | None = None) -> Graph:
    """Returns the newest blocks of a project older than the place `before`."""
    limit = min(limit, WINDOW_LIMIT)
    with looking(engine, caller) as (transaction, principal_id):
        own = (project_id, principal_id)
        rows = transaction.batch([records.select_project(*own)])[0]
        if not rows:
            raise Absent
        project = records.project_of(rows[0])
        quiet = clock.now_ns() - engine.rules.dormant_after_ns
        start = _END_OF_TIME if before is None else before
        found, tips, counts, ((dormant,),) = transaction.batch(
            [
                (_NODES, (*own, start, limit, *own, *own, project_id)),
                (_TIPS, own),
                (_COUNTS, own),
                (_DORMANT, (*own, quiet)),
            ]
        )
        parents: dict[str, list[str]] = {row[0]: [] for row in found}
        for begin in range(0, len(found), _CHUNK):
            names = [row[0] for row in found[begin : begin + _CHUNK]]
            for child, parent in transaction.all(_EDGES.format(", ".join("?" * len(names))), project_id, *names):
                parents[child].append(parent)
    by_status = {status: int(count) for status, count in counts}
    by_status[states.DORMANT], by_status[states.OPEN] = dormant, by_status.get(states.OPEN, 0) - dormant
    inside = [row[1] for row in found if row[11]]
    return Graph(
        project_id,
        project.name,
        project.epoch,
        project.head,
        [Tip._make((*row[:3], states.DORMANT if row[3] < quiet else states.OPEN)) for row in tips],
        [_node(row, parents[row[0]]) for row in found],
        {status: by_status.get(status, 0) for status in (states.OPEN, states.DORMANT, *states.TERMINAL)},
        limit,
        inside[-1] if len(inside) == limit else None,
    )


def _node(row: Row, parents: list[str]) -> GraphNode:
    block_id, seq, kind, session_id, ref, status, epoch, actor, occurred_ns, summary, topic, inside = row
    return GraphNode(
        block_id, seq, kind, session_id, ref, status, 0 if kind == "baseline" else epoch, actor,
        clock.iso_exact(occurred_ns), summary, topic, not inside, parents,
    )  # fmt: skip
