"""Undoing what a session or a dream did, as one unit."""

from typing import Literal, NamedTuple

from cyberos.core import access
from cyberos.core.reader import AuditChainReader
from cyberos.core.reverting import planning, tracing
from cyberos.core.reverting.planning import Reversion, Skipped
from cyberos.core.reverting.tracing import Progress, Unit
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, NothingToRevert, PreconditionFailed, command

Key = Literal["session_id", "dream_id"]

__all__ = ["Key", "Progress", "Reversion", "Reverted", "Skipped", "revert"]


class Reverted(NamedTuple):
    """What was undone, or with `dry_run` would be. `seqs` are the rows that were written, in one commit.

    `unchanged` are memories that the unit had changed and that are again as they were before it.
    """

    session_id: str | None
    dream_id: str | None
    dry_run: bool
    reverted: tuple[Reversion, ...]
    skipped: tuple[Skipped, ...]
    unchanged: tuple[str, ...]
    seqs: tuple[int, ...]


def revert(
    store: str,
    key: Key,
    unit_id: str,
    *,
    actor: str,
    dry_run: bool,
    progress: Progress = lambda _done, _total: None,
) -> Reverted:
    """Brings every memory that the unit changed back to what it was before, by new rows: all or none.

    What others changed since is skipped, and what was purged cannot come back. Raises `NothingToRevert` where the unit
    changed no memory, `AclDenied` where the actor may not write to one that would be brought back, and
    `PreconditionFailed` where a memory is changed meanwhile.
    """
    if not unit_id:
        raise BadArgument("an empty text is no id", argument=key)
    unit = Unit(key, unit_id)
    if dry_run:
        plan = _planned(AuditChainReader(store), unit, progress)
        _require_permission(store, actor, plan)
        return _result(unit, plan, dry_run=True)
    with Writer(store, actor=actor) as writer:
        plan = _planned(writer.reader(), unit, progress)
        try:
            receipts = writer.apply(plan.changes) if plan.changes else []
        except PreconditionFailed as error:
            raise PreconditionFailed(
                f"{error.path} is being changed by somebody else; nothing was reverted",
                path=error.path, expected=error.expected, actual=error.actual,
                hint="run the command again: it skips what was changed",
            ) from error  # fmt: skip
    return _result(unit, plan, tuple(receipt.seq for receipt in receipts if receipt.seq), dry_run=False)


def _require_permission(store: str, actor: str, plan: planning.Plan) -> None:
    """Raises what the writer would, and records nothing."""
    rules = access.rules(store)
    for path in {path: None for change in plan.changes for path in change.written()}:
        decision = rules.decide(actor, path)
        if not decision.allowed:
            raise decision.error()


def _planned(reader: AuditChainReader, unit: Unit, progress: Progress) -> planning.Plan:
    seqs = tracing.rows_of(reader, unit, progress)
    if not seqs:
        what = "session" if unit.key == "session_id" else "dream"
        raise NothingToRevert(
            f"no memory was changed in {what} {unit.id}", **{unit.key: unit.id},
            hint=command("cyberos", "history", "--all-paths", "--filter", f"{unit.key}={unit.id}"),
        )  # fmt: skip
    return planning.plan(reader, tracing.trace(reader, unit, seqs, progress), unit)


def _result(unit: Unit, plan: planning.Plan, seqs: tuple[int, ...] = (), *, dry_run: bool) -> Reverted:
    return Reverted(
        session_id=unit.id if unit.key == "session_id" else None,
        dream_id=unit.id if unit.key == "dream_id" else None,
        dry_run=dry_run,
        reverted=tuple(plan.reversions),
        skipped=tuple(plan.skipped),
        unchanged=tuple(plan.unchanged),
        seqs=seqs,
    )
