"""The settings, `manifest.json`."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import config, layout
from cyberos.core import store as stores
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family
from cyberos.errors import CyberosError


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the settings."""
    if not os.path.lexists(exam.path(layout.MANIFEST)):
        yield Finding(
            "manifest.missing", Severity.WARNING, "the store has no settings, so the defaults hold", layout.MANIFEST,
            remedy=Remedy.REPAIR, repair="write the defaults, and a new store id",
        )  # fmt: skip
        return
    try:
        config.load(exam.store)
    except CyberosError as error:
        yield Finding("manifest.malformed", Severity.ERROR, error.message, layout.MANIFEST)


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, the same for every family
    """Writes a manifest with the defaults. It says that the log is ours only where the log says so itself."""
    survey = exam.survey
    stores.restore_manifest(exam.store, is_ours=survey.tip != "missing" or survey.rows == 0)
    yield Step(f"wrote {layout.MANIFEST} with the defaults and a new store id")


FAMILY: Final = Family("manifest", check, restore)
