"""The indexes: derived, so that nothing is ever lost with them; only time is."""

import os
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
_NAMES: Final = ("history", "objects", "tree")


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the indexes."""
    odd = list(_no_folders(exam))
    yield from odd
    if odd or not exam.follows:
        return
    survey = exam.survey
    for name, state in zip(_NAMES, (survey.path_index, survey.body_index, survey.tree_index), strict=True):
        yield from _check(f"{layout.INDEX}/{name}", state)


def _no_folders(exam: Examination) -> Iterator[Finding]:
    for place in (layout.INDEX, *(f"{layout.INDEX}/{name}" for name in _NAMES)):
        path = exam.path(place)
        if os.path.lexists(path) and not os.path.isdir(path):
            is_link = os.path.islink(path)  # whoever made it knows what for
            yield Finding(
                "index.not_a_folder", Severity.ERROR, "an index belongs here, and this is no folder", place,
                remedy=None if is_link else Remedy.REPAIR, repair=None if is_link else f"remove it, and {_REPAIR}",
            )  # fmt: skip


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
    places = {"/".join((finding.file or "").split("/")[:2]) for finding in findings}
    for place in sorted(places):
        if any(finding.severity is not Severity.INFO for finding in findings):
            # What lies in place of the folder of all goes with any of them.
            name = _NAMES[0] if place == layout.INDEX else place.rpartition("/")[2]
            repair.drop_index(exam.store, name, patience=exam.patience)
            yield Step(f"removed what was in place of {place}" if place == layout.INDEX else f"removed {place}")
    repair.rebuild(exam.store, patience=exam.patience)
    yield Step("made the indexes again")


FAMILY: Final = Family("index", check, restore)
