"""What the rows are: kinds that are known, and purges that say why."""

from collections.abc import Iterator
from typing import Final

from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family

# Layers above add theirs.
KNOWN: Final = {
    *("put", "move", "delete"),
    *("create", "str_replace", "insert", "rename"),
    *("memory.importance_scored", "memory.acl_denied", "memory.precondition_failed"),
    *("episode.logged", "dream.start", "dream.complete", "dream.proposal_applied"),
    *("session.start", "session.end", "session.purged"),
    *("protocol.approved", "log.loss_accepted"),
    *("import.start", "import.end"),
    *("block.session_started", "block.session_ended", "block.session_abandoned", "block.integrated"),
}


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is unusual about the rows."""
    if not exam.survey.whole:
        return
    for kind, rows, first in exam.survey.kinds:
        if kind not in KNOWN:
            yield Finding("kinds.unknown", Severity.INFO, f"{kind} is not a known kind (rows: {rows})", seq=first)
    for seq, path, has_reason in exam.survey.purges:
        if not has_reason:
            yield Finding(
                "kinds.purge_without_reason",
                Severity.INFO,
                f"{path} was purged and the row does not say why",
                path,
                seq,
            )


FAMILY: Final = Family("kinds", check)
