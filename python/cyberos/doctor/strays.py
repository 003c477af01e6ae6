"""Files at the top of the store that are no part of one; upstream's checker rejects them."""

import os
from collections.abc import Iterator
from typing import Final

from cyberos import layout
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family

_KNOWN: Final = frozenset(
    {
        *(layout.MANIFEST, layout.PROTOCOL, layout.HEAD, layout.LOCK, layout.AUDIT, layout.SESSIONS, layout.INDEX),
        *layout.MEMORY_ROOTS,
        *("conflicts", "exports", "dreams"),
    }
)


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is there and should not be."""
    for name in sorted(os.listdir(exam.store)):
        if name not in _KNOWN:
            yield Finding("strays.top", Severity.WARNING, "this is no part of a store", name)


FAMILY: Final = Family("strays", check)
