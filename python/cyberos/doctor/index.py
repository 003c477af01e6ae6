"""The indexes: derived, so that nothing is ever lost with them; only time is."""

from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core import repair
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family

# A writer indexes rows in groups of this many at least; so many may always be missing, and in the tree a part of 256.
_LAG: Final = 512 + 256
_REPAIR: Final = "make it again from the log"


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the indexes."""
    if not exam.follows:
        return
    survey = exam.survey
    for name, state in (("history", survey.path_index), ("objects", survey.body_index), ("tree", survey.tree_index)):
        yield from _check(f"{layout.INDEX}/{name}", state)


def _check(folder: str, state: tuple[int, int, int, list[str], str | None]) -> Iterator[Finding]:
    rows, covered, foreign, unusable, wrong = state

    def found(kind: str, severity: Severity, message: str, file: str = folder) -> Finding:
        return Finding(f"index.{kind}", severity, message, file, remedy=Remedy.REPAIR, repair=_REPAIR)

    for name in unusable:
        yield found("unusable", Severity.WARNING, "this part of the index cannot be used", f"{folder}/{name}")
    if wrong:
        yield found("wrong", Severity.WARNING, f"the index does not say what it must: {wrong}")
    if foreign:
        yield found("foreign", Severity.WARNING, f"{foreign} rows of the index are not this log's")
    elif rows - covered > _LAG and not unusable:
        kind, what = ("stale", f"the first {covered}") if covered else ("missing", "none")
        yield found(kind, Severity.INFO, f"the index covers {what} of {rows} rows; reading is slower than need be")


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:
    """Throws away what is wrong and indexes everything again."""
    folders = {"/".join((finding.file or "").split("/")[:2]) for finding in findings}
    for folder in sorted(folders):
        if any(finding.severity is Severity.WARNING for finding in findings):
            repair.drop_index(exam.store, folder.rpartition("/")[2], patience=exam.patience)
            yield Step(f"removed the index in {folder}")
    repair.rebuild(exam.store, patience=exam.patience)
    yield Step("made the indexes again")


FAMILY: Final = Family("index", check, restore)
