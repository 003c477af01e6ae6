"""The settings, `manifest.json`."""

import os
from collections.abc import Iterator
from typing import Final

from cyberos import config, layout
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family
from cyberos.errors import CyberosError, UnsupportedStore


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the settings."""
    if not os.path.lexists(exam.path(layout.MANIFEST)):
        yield Finding(
            "manifest.missing", Severity.WARNING, "the store has no settings, so the defaults hold", layout.MANIFEST
        )
        return
    try:
        config.load(exam.store)
    except UnsupportedStore as error:
        yield Finding("manifest.newer", Severity.ERROR, error.message, layout.MANIFEST)
    except CyberosError as error:
        yield Finding("manifest.malformed", Severity.ERROR, error.message, layout.MANIFEST)


FAMILY: Final = Family("manifest", check)
