"""The two rules that the protocol has about sessions: each is started, ended and purged in order, and is classified."""

from collections.abc import Iterator
from typing import Final

from cyberos.core.sessions import book, terms
from cyberos.core.sessions.inspection import Row
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family

_WELL_FORMED: Final = "session-lifecycle-well-formed"
_CLASSIFIED: Final = "session-classification-valid"

# What a row finds in a session's way, by its kind and how far the session is.
_OUT_OF_PLACE: Final = {
    (book.START, book.START): ("start_twice", "is started again while it is open"),
    (book.START, book.END): ("start_twice", "is started again after its end"),
    (book.START, book.PURGED): ("start_twice", "is started again after its purge"),
    (book.END, None): ("end_without_start", "is ended, and was never started"),
    (book.END, book.END): ("end_twice", "is ended twice"),
    (book.END, book.PURGED): ("end_after_purge", "is ended after its purge"),
    (book.PURGED, None): ("purge_without_start", "is purged, and was never started"),
    (book.PURGED, book.PURGED): ("purge_twice", "is purged twice"),
}


def check_order(exam: Examination) -> Iterator[Finding]:
    """Yields what is out of order: rows of the log, and turns of transcripts."""
    if not exam.follows:
        return
    reached: dict[str, str] = {}
    active: str | None = None
    for row in exam.sessions.rows:
        if found := _OUT_OF_PLACE.get((row.kind, reached.get(row.session_id))):
            what, said = found
            yield _broken(what, f"session {row.session_id} {said}", row)
            continue
        reached[row.session_id] = row.kind
        if row.kind != book.START:
            active = None if active == row.session_id else active
        elif not row.extra.get("recorded"):
            if active is not None:
                yield _broken("two_active", f"session {row.session_id} is started while {active} is active", row)
            active = row.session_id
    for known in exam.sessions.sessions:
        transcript = exam.sessions.transcripts.get(known.id)
        if transcript is None or transcript.form in ("tombstone", "link"):
            continue
        if transcript.damage is not None:
            yield Finding(
                f"{_WELL_FORMED}.turns", Severity.ERROR,
                f"the turns of session {known.id} are whole only up to {transcript.turns}: {transcript.damage}",
                known.path, known.seq,
            )  # fmt: skip
        elif known.ended and known.ended.turns_count != transcript.turns:
            yield Finding(
                f"{_WELL_FORMED}.turns_count", Severity.ERROR,
                f"session {known.id} ended with {known.ended.turns_count} turns, and {transcript.turns} are there",
                known.path, known.ended.seq,
            )  # fmt: skip


def check_classification(exam: Examination) -> Iterator[Finding]:
    """Yields sessions whose classification is not permitted, or is not kept."""
    if not exam.follows:
        return
    for known in exam.sessions.sessions:
        if known.classification not in terms.CLASSIFICATIONS:
            yield Finding(
                f"{_CLASSIFIED}.unknown", Severity.ERROR,
                f"session {known.id} is {known.classification!r:.100}, and not {' or '.join(terms.CLASSIFICATIONS)}",
                known.path, known.seq,
            )  # fmt: skip
        transcript = exam.sessions.transcripts.get(known.id)
        if (
            transcript is not None
            and transcript.clear
            and (known.classification == terms.RESTRICTED or known.encrypted)
        ):
            how = "restricted" if known.classification == terms.RESTRICTED else "encrypted"
            yield Finding(
                f"{_CLASSIFIED}.in_the_clear", Severity.ERROR,
                f"session {known.id} is {how}, and {transcript.clear} of its turns are not encrypted",
                known.path, known.seq,
            )  # fmt: skip


def _broken(what: str, said: str, row: Row) -> Finding:
    return Finding(f"{_WELL_FORMED}.{what}", Severity.ERROR, said, seq=row.seq)


FAMILY: Final = Family(_WELL_FORMED, check_order)
CLASSIFICATION: Final = Family(_CLASSIFIED, check_classification)
