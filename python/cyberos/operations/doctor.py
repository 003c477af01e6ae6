"""Checking a store's invariants, and restoring those that do not hold."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cyberos.blocks import health
from cyberos.core import repair
from cyberos.core.inspection import check_format
from cyberos.core.repair import Loss, LossPlan
from cyberos.doctor import aftermath
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family, families, register
from cyberos.errors import CyberosError

Progress = Callable[[int], object]


class Diagnosis(NamedTuple):
    """What is wrong with a store, worst first, after what was done about it."""

    store: str
    rows: int
    healthy: bool
    steps: tuple[Step, ...]
    findings: tuple[Finding, ...]
    loss: Loss | None = None


def examine(store: str, *, progress: Progress | None = None) -> Diagnosis:
    """Checks every invariant. Changes nothing."""
    check_format(store)
    return _diagnose(Examination(store, progress=progress))


def mend(
    store: str,
    *,
    actor: str,
    adopt: bool = False,
    accept_loss: bool = False,
    patience: float = 10.0,
    progress: Progress | None = None,
) -> Diagnosis:
    """Does what can be done about the findings, one family after the other, and checks again.

    `adopt` also records working files that were edited by hand. `accept_loss` gives damaged rows up; then such files
    are recorded too, since they may be all that is left of a row, and memories whose files are gone get a tombstone.
    """
    check_format(store)
    exam = Examination(store, actor=actor, patience=patience, progress=progress)
    remedies = {Remedy.REPAIR}
    if adopt or accept_loss:
        remedies.add(Remedy.ADOPT)
    loss: Loss | None = None
    steps: list[Step] = []
    if accept_loss and repair.pending_loss(store):
        seq = repair.finish_loss(store, patience=patience)
        steps.append(Step(f"finished giving up damaged rows, which row {seq} records"))
    elif accept_loss and repair.plan_loss(store) is not None:
        present = aftermath.witness(exam)
        loss = repair.accept_loss(store, actor=actor, patience=patience)
        steps.extend(_told(loss))
        steps.extend(_attempt(aftermath.settle(exam.again(), present, loss)))
    if steps:
        steps.extend(_attempt(_rebuild(exam)))
        exam = exam.again()
    for family in _families():
        done = list(_attempt(_mend(family, exam, remedies)))
        if done:
            steps.extend(done)
            exam = exam.again()
    return _diagnose(exam.again())._replace(steps=tuple(steps), loss=loss)


def plan_loss(store: str) -> LossPlan | None:
    """Returns what giving up damaged rows would mean; `None` where there is nothing to give up. Changes nothing."""
    return repair.plan_loss(store)


def _families() -> tuple[Family, ...]:
    """Returns all families, with those of the layers above the doctor's."""
    if not any(family.name == health.FAMILY.name for family in families()):
        register(health.FAMILY)
    return families()


def _diagnose(exam: Examination) -> Diagnosis:
    findings = [finding for family in _families() for finding in family.check(exam)]
    order = list(Severity)
    findings.sort(key=lambda finding: order.index(finding.severity))
    healthy = not any(finding.counts for finding in findings)
    return Diagnosis(exam.store, exam.survey.rows, healthy, (), tuple(findings))


def _mend(family: Family, exam: Examination, remedies: set[Remedy]) -> Iterator[Step]:
    if family.repair is None:
        return
    findings = [finding for finding in family.check(exam) if finding.remedy in remedies]
    if findings:
        yield from family.repair(exam, findings)


def _attempt(steps: Iterator[Step]) -> Iterator[Step]:
    """Yields the steps; one that cannot be taken is told, and those of other families are still tried."""
    try:
        yield from steps
    except CyberosError as error:
        yield Step(error.message, done=False)


def _rebuild(exam: Examination) -> Iterator[Step]:
    repair.rebuild(exam.store, patience=exam.patience)
    yield Step("made HEAD, the peaks and the indexes again")


def _told(loss: Loss) -> Iterator[Step]:
    for kept in loss.kept:
        yield Step(f"moved {kept.file} to {kept.kept_as} ({kept.bytes} bytes, SHA-256 {kept.sha256})")
    plan = loss.plan
    known = plan.to_seq >= plan.from_seq
    what = f"rows {plan.from_seq} to {plan.to_seq} were" if known else "rows of unknown number were"
    yield Step(f"recorded in row {plan.from_seq} that {what} given up")
    if plan.whole:
        yield Step(f"recorded anew {plan.whole} of those rows, which were whole")
