"""What is written about sessions has the shape that the package's JSON Schema says: rows, turns and tombstones."""

import json
from collections.abc import Iterator
from typing import Final

from cyberos.core.sessions import book, schema
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family

_SHAPED: Final = "session-schema"
_ROWS: Final = {book.START: "SessionStart", book.END: "SessionEnd", book.PURGED: "SessionPurged"}


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what has another shape."""
    if not exam.follows:
        return
    for row in exam.sessions.rows:
        if (found := schema.misfit(_ROWS[row.kind], row.extra)) is not None:
            said = f"the {row.kind} of session {row.session_id} {found}"
            yield Finding(f"{_SHAPED}.row", Severity.ERROR, said, seq=row.seq)
    for known in exam.sessions.sessions:
        transcript = exam.sessions.transcripts.get(known.id)
        if transcript is None:
            continue
        if transcript.misfit is not None:
            said = f"of session {known.id}, {transcript.misfit}"
            yield Finding(f"{_SHAPED}.turn", Severity.ERROR, said, known.path, known.seq)
        if transcript.form == "tombstone" and (found := _tombstone(transcript.content)) is not None:
            said = f"the tombstone of session {known.id} {found}"
            yield Finding(f"{_SHAPED}.tombstone", Severity.ERROR, said, known.path, known.seq)


def _tombstone(content: bytes) -> str | None:
    try:
        return schema.misfit("SessionTombstone", json.loads(content))
    except (ValueError, RecursionError):
        return "is no JSON"


FAMILY: Final = Family(_SHAPED, check)
