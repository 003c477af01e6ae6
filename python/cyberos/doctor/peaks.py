"""The Merkle peaks, `audit/mmr/peaks.bin`: derived from the log, and upstream's readers compare them."""

from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core import repair
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the peaks."""
    if not exam.follows:
        return
    state, detail = exam.survey.peaks
    if state == "missing" and exam.survey.rows == 0:
        return
    found = {
        "missing": (Severity.WARNING, "the peaks are not there"),
        # Every crash leaves them so, and the next writer catches up.
        "behind": (Severity.INFO, f"the peaks are of the first {detail} of {exam.survey.rows} rows"),
        "wrong": (Severity.ERROR, f"the peaks are not those of this log: {detail}"),
    }.get(state)
    if found:
        severity, message = found
        yield Finding(
            f"peaks.{state}", severity, message, layout.PEAKS, remedy=Remedy.REPAIR, repair="compute them again"
        )


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, the same for every family
    """Computes the peaks again."""
    repair.rebuild(exam.store, patience=exam.patience)
    yield Step("computed the peaks from the log again")


FAMILY: Final = Family("peaks", check, restore)
