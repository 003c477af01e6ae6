"""The search index: derived, so that it may be missing; but it must not be wrong, nor keep what was purged."""

from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core.search import inspection
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family

_SAID: Final = {
    "unusable": "the search index cannot be used",
    "foreign": "the search index is not of this log",
    "purged": "the search index still has words of a memory that was purged",
    "wrong": "the search index does not say what it must",
}


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the index."""
    if not exam.follows:
        return
    memories = {path: sha for path, _, sha, _ in exam.survey.memories}
    purges = [seq for seq, _, _ in exam.survey.purges]
    problem = inspection.inspect(exam.store, memories, purges, exam.survey.last_seq)
    if problem is not None:
        yield Finding(
            f"search.{problem}", Severity.WARNING, _SAID[problem], layout.SEARCH,
            remedy=Remedy.REPAIR, repair="remove it; the next search makes it again",
        )  # fmt: skip


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, as others
    """Removes the index."""
    inspection.remove(exam.store, exam.patience)
    yield Step("removed the search index")


FAMILY: Final = Family("search", check, restore)
