"""The version bodies: primary data. What is lost here is lost; a purge that did not finish can be finished."""

from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core import repair
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family

# So many are named one by one; the rest are counted.
_LISTED: Final = 100


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the bodies."""
    survey = exam.survey
    if not exam.follows:
        return
    for file, offset, what in survey.body_faults:
        yield Finding(
            "bodies.damaged", Severity.ERROR, what, f"{layout.OBJECTS}/{file.rpartition('/')[2]}", offset=offset
        )
    yield from _missing(exam)
    yield from _erased(exam)
    for seq, path, shas in survey.unfinished_purges:
        yield Finding(
            "bodies.purge_unfinished", Severity.ERROR,
            f"{path} was purged and {len(shas)} of its versions are still stored", path, seq,
            remedy=Remedy.REPAIR, repair="erase them",
        )  # fmt: skip
    if survey.unreferenced:
        yield Finding(
            "bodies.unreferenced", Severity.INFO,
            f"{survey.unreferenced} stored bodies are named by no row: writes that were not acknowledged",
            layout.OBJECTS,
        )  # fmt: skip


def _missing(exam: Examination) -> Iterator[Finding]:
    survey = exam.survey
    missing = survey.missing_bodies
    if not missing:
        return
    if exam.config is not None and not exam.config.is_ours:
        yield Finding(
            "bodies.not_kept", Severity.INFO,
            f"{len(missing)} of {survey.versions} versions were written by a program that keeps no bodies",
            layout.OBJECTS,
        )  # fmt: skip
        return
    for seq, sha in missing[:_LISTED]:
        yield Finding(
            "bodies.missing", Severity.ERROR,
            f"version {sha[:16]}… is neither stored nor erased: lost, or written by a program that keeps no bodies",
            layout.OBJECTS, seq,
        )  # fmt: skip
    if len(missing) > _LISTED:
        yield Finding("bodies.missing", Severity.ERROR, f"and {len(missing) - _LISTED} more", layout.OBJECTS)


def _erased(exam: Examination) -> Iterator[Finding]:
    """Yields living memories whose content is gone although a purge accounts for it: none may be purged and live."""
    told = {sha for _, sha in exam.survey.missing_bodies}
    for path, seq, sha, is_stored in exam.survey.memories:
        if sha and not is_stored and sha not in told:
            yield Finding(
                "bodies.erased", Severity.ERROR,
                f"the memory lives, and its version {sha[:16]}… is not stored any more", path, seq,
            )  # fmt: skip


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, as others
    """Erases what purges left behind."""
    erased = repair.finish_purges(exam.store, patience=exam.patience)
    yield Step(f"erased {erased} stored versions of purged memories")


FAMILY: Final = Family("bodies", check, restore)
