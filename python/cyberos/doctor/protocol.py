"""What the store's owner has approved, AGENTS.md, and who may write where, STORE.yaml."""

import os
from collections.abc import Iterator
from typing import Final

from cyberos import layout
from cyberos.core import access, protocol
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family
from cyberos.errors import CyberosError


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the protocol text and the access lists."""
    if not os.path.lexists(exam.path(layout.PROTOCOL)):
        yield Finding(
            "protocol.missing", Severity.WARNING, "the store has no protocol text: nothing is approved", layout.PROTOCOL
        )
    else:
        sections = protocol.sections(protocol.load(exam.store))
        if protocol.ACL not in sections:
            yield Finding(
                "protocol.no_acl", Severity.INFO,
                f"there is no {protocol.ACL}: access lists only warn", layout.PROTOCOL,
            )  # fmt: skip
        if protocol.SESSIONS not in sections and os.path.lexists(exam.path(layout.ACTIVE_SESSION)):
            yield Finding(
                "protocol.no_sessions", Severity.WARNING,
                f"a session is being recorded and there is no {protocol.SESSIONS}", layout.PROTOCOL,
            )  # fmt: skip
    yield from _access_lists(exam)


def _access_lists(exam: Examination) -> Iterator[Finding]:
    for root in (*layout.MEMORY_ROOTS, layout.SESSIONS):
        for folder, _, files in os.walk(exam.path(root)):
            if layout.ACL_FILE not in files:
                continue
            where = os.path.relpath(folder, exam.store).replace(os.sep, "/")
            try:
                access.rules(exam.store).decide(exam.actor, f"{where}/x.md")
            except CyberosError as error:
                yield Finding("protocol.acl_malformed", Severity.ERROR, error.message, f"{where}/{layout.ACL_FILE}")


FAMILY: Final = Family("protocol", check)
