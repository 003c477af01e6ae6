"""What a session is told when it begins or goes on: accepted history, its own branch, and what is disputed.

The same session in the same state gets the same bytes, on every database: no clock, no ranking, no rounding. Of each
part the newest are taken, whole, until the next would not fit; what is left out is counted. What other branches hold
that have not ended is never in it. What was handed to whom is kept as a receipt.
"""

import json
from typing import Any, Final, NamedTuple

from cyberos import clock
from cyberos.blocks import canonical, conflicts, facts, states
from cyberos.blocks.access import Caller
from cyberos.blocks.conflicts import Open
from cyberos.blocks.connector import Row, Transaction
from cyberos.blocks.engine import Change, Engine, Request, change, identify
from cyberos.blocks.records import Project, Target, project_of, select_project
from cyberos.errors import Absent, BadArgument

BUDGET: Final = 4_000
MAX_BUDGET: Final = 1_000_000
# What the parts that come first may take, in hundredths.
_FOR_CONFLICTS: Final = 20
_FOR_BRANCH: Final = 60
_MAX_CONFLICTS: Final = 20
_PAGE: Final = 64

_HEADER: Final = """SELECT b.block_id, b.session_id, s.native_ref, s.integrated_epoch, b.kind, b.actor, b.occurred_ns,
    b.token_est, b.project_seq, b.session_seq FROM session s CROSS JOIN block b"""
_HISTORY: Final = f"""{_HEADER} WHERE b.project_id=s.project_id AND b.session_id=s.session_id
    AND s.project_id=? AND s.principal_id=? AND s.integrated_epoch<=? AND b.token_est>0
    AND (s.integrated_epoch<? OR b.project_seq<?)
    ORDER BY s.integrated_epoch DESC, b.project_seq DESC LIMIT {_PAGE}"""
_BRANCH: Final = f"""{_HEADER} WHERE b.project_id=s.project_id AND b.session_id=s.session_id
    AND s.project_id=? AND s.principal_id=? AND s.session_id=? AND b.token_est>0 AND b.session_seq<?
    ORDER BY b.session_seq DESC LIMIT {_PAGE}"""
_BODIES: Final = (
    """SELECT block_id, payload FROM block_body WHERE project_id=? AND principal_id=? AND block_id IN({})"""
)
_TOTALS: Final = "SELECT content_blocks, content_tokens FROM integration_log WHERE project_id=? AND epoch=?"
_KNOWN: Final = "SELECT receipt_id FROM receipt WHERE project_id=? AND session_id=? AND content_sha256=?"
_RECEIPT: Final = """INSERT INTO receipt(project_id, receipt_id, session_id, base_epoch, tip_seq, budget, estimator,
    blocks, tokens, omitted_blocks, omitted_tokens, content_sha256, actor, at_ns)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_HANDED: Final = "INSERT INTO receipt_block(project_id, receipt_id, ordinal, block_id) VALUES(?, ?, ?, ?)"
_END_OF_TIME: Final = 2**62


class Item(NamedTuple):
    """A block as it is handed out. `epoch` is null on a branch; `text` is null where it was purged."""

    block_id: str
    session_id: str
    native_ref: str
    epoch: int | None
    kind: str
    actor: str
    occurred: str
    tokens: int
    text: str | None
    topic: str | None
    data: dict[str, Any] | None


class Omitted(NamedTuple):
    """What did not fit. Blocks that say nothing are not counted."""

    reason: str
    history_blocks: int
    history_tokens: int
    branch_blocks: int
    branch_tokens: int
    conflicts: int


class Bootstrap(NamedTuple):
    """What is handed out. `history` is as of `base_epoch`, `branch` is the session's own; both the oldest first.

    `epoch` is the project's now. `content_sha256` is of all that depends on the session and the budget alone.
    """

    project_id: str
    project: str
    session_id: str | None
    base_epoch: int | None
    epoch: int | None
    budget: int
    tokens: int
    estimator: str
    history: list[Item]
    branch: list[Item]
    conflicts: list[Open]
    omitted: Omitted
    analysis: dict[str, str]
    content_sha256: str
    receipt_id: str | None


# Said in every bootstrap, whatever it found: what was compared, and what was not.
ANALYSIS: Final = {"topics": "compared_at_end", "meaning": "not_analysed"}


def for_session(engine: Engine, caller: Caller, project_id: str, target: Target, *, budget: int = BUDGET) -> Bootstrap:
    """Returns what an open session is told, and keeps a receipt of it; the same content again adds no other one."""
    _check(budget)
    request = Request("bootstrap", project_id, {"budget": budget}, target)

    def act(to: Change) -> Bootstrap:
        session, project = to.session, to.project
        if session is None:
            raise Absent
        if session.status in states.TERMINAL:
            raise states.over(session.status, session.session_id, session.native_ref, session.integrated_epoch)
        made = _make(to.transaction, project, session.base_epoch, session.session_id, budget)
        made = _with_branch_total(made, session.content_blocks, session.content_tokens)
        return _sealed(made)._replace(receipt_id=_receipt(to, made))

    return change(engine, caller, request, Bootstrap, act)


def for_project(engine: Engine, caller: Caller, project_id: str, *, budget: int = BUDGET) -> Bootstrap:
    """Returns what a session would be told if it started now. Nobody is handed it: no receipt is kept."""
    _check(budget)
    with engine.database.read() as transaction:
        principal_id = identify(engine, transaction, caller, "read")
        rows = transaction.batch([select_project(project_id, principal_id)])[0]
        if not rows:
            raise Absent
        project = project_of(rows[0])
        return _sealed(_make(transaction, project, project.epoch, None, budget))


def _check(budget: int) -> None:
    if not 0 <= budget <= MAX_BUDGET:
        raise BadArgument(f"a budget is 0 to {MAX_BUDGET} tokens", argument="budget")


def _make(
    transaction: Transaction, project: Project, base_epoch: int | None, session_id: str | None, budget: int
) -> Bootstrap:
    epoch = -1 if base_epoch is None else base_epoch
    disputed, count = conflicts.unsettled(transaction, project.project_id, project.principal_id, epoch, _MAX_CONFLICTS)
    disputed, used = _fitting(disputed, budget * _FOR_CONFLICTS // 100)
    branch: list[Row] = []
    if session_id is not None:
        branch, taken = _newest(transaction, _BRANCH, _own(project, session_id), budget * _FOR_BRANCH // 100)
        used += taken
    history, taken = _newest(transaction, _HISTORY, _accepted(project, epoch), budget - used)
    totals = transaction.one(_TOTALS, project.project_id, epoch) or (0, 0)
    return Bootstrap(
        project_id=project.project_id,
        project=project.name,
        session_id=session_id,
        base_epoch=base_epoch,
        epoch=project.epoch,
        budget=budget,
        tokens=used + taken,
        estimator=facts.ESTIMATOR,
        history=_items(transaction, project, history),
        branch=_items(transaction, project, branch),
        conflicts=disputed,
        omitted=Omitted("token_budget", totals[0] - len(history), totals[1] - taken, 0, 0, count - len(disputed)),
        analysis=ANALYSIS,
        content_sha256="",
        receipt_id=None,
    )


def _with_branch_total(made: Bootstrap, blocks: int, tokens: int) -> Bootstrap:
    omitted = made.omitted._replace(
        branch_blocks=blocks - len(made.branch), branch_tokens=tokens - sum(item.tokens for item in made.branch)
    )
    return made._replace(omitted=omitted)


def _sealed(made: Bootstrap) -> Bootstrap:
    return made._replace(content_sha256=_sha256(made).hex())


def _sha256(made: Bootstrap) -> bytes:
    """Returns the hash of what was handed out: neither the project's epoch nor a receipt is part of that."""
    content = made._replace(epoch=None, receipt_id=None, content_sha256="")._asdict()
    content["omitted"] = made.omitted._asdict()
    for part in ("history", "branch", "conflicts"):
        content[part] = [item._asdict() for item in content[part]]
    return canonical.digest(content)


def _accepted(project: Project, epoch: int) -> Any:
    """Returns how the newest page of history behind a row is asked for."""

    def values(last: Row | None) -> tuple[Any, ...]:
        below, seq = (epoch, _END_OF_TIME) if last is None else (last[3], last[8])
        return (project.project_id, project.principal_id, below, below, seq)

    return values


def _own(project: Project, session_id: str) -> Any:
    def values(last: Row | None) -> tuple[Any, ...]:
        return (project.project_id, project.principal_id, session_id, _END_OF_TIME if last is None else last[9])

    return values


def _newest(transaction: Transaction, sql: str, values: Any, budget: int) -> tuple[list[Row], int]:
    """Returns the newest rows that fit into a budget, the oldest first, and their tokens."""
    taken: list[Row] = []
    used = 0
    last: Row | None = None
    while True:
        page = transaction.all(sql, *values(last))
        for row in page:
            if used + row[7] > budget:
                return taken[::-1], used
            used += row[7]
            taken.append(row)
        if len(page) < _PAGE:
            return taken[::-1], used
        last = page[-1]


def _fitting(disputed: list[Open], budget: int) -> tuple[list[Open], int]:
    taken, used = [], 0
    for conflict in disputed:
        said = " ".join(side["summary"] or "" for side in conflict.sides)
        tokens = facts.tokens_of(f"{conflict.topic or ''} {said}")
        if used + tokens > budget:
            break
        used += tokens
        taken.append(conflict)
    return taken, used


def _items(transaction: Transaction, project: Project, rows: list[Row]) -> list[Item]:
    bodies: dict[str, dict[str, Any]] = {}
    for start in range(0, len(rows), _PAGE):
        names = [row[0] for row in rows[start : start + _PAGE]]
        sql = _BODIES.format(", ".join("?" * len(names)))
        for block_id, payload in transaction.all(sql, project.project_id, project.principal_id, *names):
            bodies[block_id] = json.loads(payload)
    return [_item(row, bodies.get(row[0], {})) for row in rows]


def _item(row: Row, body: dict[str, Any]) -> Item:
    said = (body.get("text"), body.get("topic"), body.get("data"))
    return Item._make((*row[:6], clock.iso_exact(row[6]), row[7], *said))


def _receipt(to: Change, made: Bootstrap) -> str:
    """Adds a receipt of what is handed out, or finds the one that there is; returns its id."""
    project_id, session = to.project.project_id, to.session
    if session is None:
        raise Absent
    sha256 = _sha256(made)
    known = to.transaction.one(_KNOWN, project_id, session.session_id, sha256)
    if known is not None:
        return str(known[0])
    receipt_id = to.growth.new_id("rcp")
    handed = [*made.history, *made.branch]
    omitted = made.omitted
    to.growth.add(
        _RECEIPT, project_id, receipt_id, session.session_id, session.base_epoch, session.tip_seq, made.budget,
        made.estimator, len(handed), made.tokens, omitted.history_blocks + omitted.branch_blocks,
        omitted.history_tokens + omitted.branch_tokens, sha256, to.growth.actor, to.now_ns,
    )  # fmt: skip
    for ordinal, item in enumerate(handed):
        to.growth.add(_HANDED, project_id, receipt_id, ordinal, item.block_id)
    return receipt_id
