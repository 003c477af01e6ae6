"""The files of sessions: what is sealed, erased or being written, and what nothing in the log knows."""

import json
import os
from collections.abc import Iterator
from typing import Any, Final

from cyberos import layout
from cyberos.core.sessions import book
from cyberos.core.sessions.book import Known
from cyberos.core.sessions.inspection import Row, Transcript
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Severity
from cyberos.doctor.registry import Family

_OWN: Final = {layout.ACTIVE_SESSION, layout.SESSION_LEASE, f"{layout.SESSIONS}/{layout.ACL_FILE}"}
_AGAIN: Final = "`cyberos session recover` finishes the purge"
_RECOVER: Final = "the next command about sessions puts it right, or `cyberos session recover`"


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the files of sessions."""
    if not exam.follows:
        return
    for known in exam.sessions.sessions:
        transcript = exam.sessions.transcripts.get(known.id)
        if known.purged:
            yield from _purged(exam, known, transcript)
        elif transcript is None:
            on_record = known.ended is not None and not known.ended.binlog_hash
            severity = Severity.INFO if on_record else Severity.WARNING
            yield _found("missing", severity, known, "is gone, and no row says that it was purged")
        elif transcript.form == "link":
            yield _found("link", Severity.ERROR, known, "is no plain file")
        elif transcript.form == "tombstone":
            yield _found("half_purged", Severity.ERROR, known, f"is erased, and no row says so: {_AGAIN}")
        elif transcript.damage is None:
            yield from _sealed(known, transcript) if known.ended else _open(exam, known, transcript)
    yield from _pointer(exam)
    yield from _lease(exam)
    yield from _strays(exam)


def _found(what: str, severity: Severity, known: Known, said: str) -> Finding:
    return Finding(f"sessions.{what}", severity, f"the transcript of session {known.id} {said}", known.path, known.seq)


def _purged(exam: Examination, known: Known, transcript: Transcript | None) -> Iterator[Finding]:
    if transcript is None:
        yield _found("tombstone_missing", Severity.WARNING, known, "was purged, and its tombstone is gone")
    elif transcript.form != "tombstone":
        yield _found("not_erased", Severity.ERROR, known, f"was purged, and is still there: {_AGAIN}")
    else:
        rows = [row for row in exam.sessions.rows if (row.kind, row.session_id) == (book.PURGED, known.id)]
        if rows and (why := _misstated(transcript.content, rows[0])) is not None:
            yield _found("tombstone", Severity.ERROR, known, f"was purged, and its tombstone {why}")


def _misstated(content: bytes, row: Row) -> str | None:
    """Returns how a tombstone differs from the row of the purge."""
    try:
        says: Any = json.loads(content)
    except (ValueError, RecursionError):
        return "is no JSON"
    if not isinstance(says, dict) or not {"session_id", "purged_at"} <= says.keys():
        return "does not say whose it is and since when"
    wrong = [field for field, value in row.extra.items() if field in says and says[field] != value]
    return f"differs from row {row.seq}: {', '.join(wrong)}" if wrong else None


def _sealed(known: Known, transcript: Transcript) -> Iterator[Finding]:
    ended = known.ended
    if ended is None:
        return
    if transcript.form in ("open", "peer_open"):
        yield _found("unsealed", Severity.ERROR, known, "is not sealed, though the session has ended")
    elif transcript.sha256 != ended.binlog_hash:
        yield _found("hash", Severity.ERROR, known, f"has another SHA-256 than row {ended.seq} says")
    elif ended.chain_tip not in (None, transcript.chain):
        yield _found("chain", Severity.ERROR, known, f"ends with another turn than row {ended.seq} says")


def _open(exam: Examination, known: Known, transcript: Transcript) -> Iterator[Finding]:
    if known.state == "unfinished":
        yield _found("unfinished", Severity.WARNING, known, f"was not written to its end: {_RECOVER}")
    elif transcript.form in ("sealed", "peer_sealed"):
        yield _found("unfinished", Severity.WARNING, known, f"is sealed, and the session has not ended: {_RECOVER}")
    if transcript.torn:
        said = f"has {transcript.torn} bytes at its end of turns that were never acknowledged: {_RECOVER}"
        yield _found("torn", Severity.INFO, known, said)
    lease = exam.sessions.lease
    if lease and lease.session_id == known.id and lease.turns > transcript.turns:
        said = f"has {transcript.turns} turns, and {lease.turns} were acknowledged"
        yield _found("turns_lost", Severity.ERROR, known, said)


def _pointer(exam: Examination) -> Iterator[Finding]:
    active, pointer = exam.sessions.active, exam.sessions.pointer
    named = active.id if active and active.state == "active" else None
    if pointer == named:
        return
    if pointer is None:
        said = f"session {named} is active, and no file says so"
    else:
        is_active = f"session {named} is" if named else "none is"
        said = f"{f'session {pointer}' if pointer else 'no session'} is named as the active one, and {is_active}"
    yield Finding("sessions.active", Severity.WARNING, f"{said}: {_RECOVER}", layout.ACTIVE_SESSION)


def _lease(exam: Examination) -> Iterator[Finding]:
    file = os.path.join(exam.sessions.store, layout.SESSION_LEASE)
    lease = exam.sessions.lease
    if lease is None:
        if os.path.lexists(file) and os.path.getsize(file):
            said = "it is damaged, and does not say how many turns are acknowledged: the next append writes it anew"
            yield Finding("sessions.lease", Severity.WARNING, said, layout.SESSION_LEASE)
    elif lease.session_id not in {known.id for known in exam.sessions.sessions}:
        said = f"it is of session {lease.session_id}, which never started: the next start writes it anew"
        yield Finding("sessions.lease", Severity.INFO, said, layout.SESSION_LEASE)


def _strays(exam: Examination) -> Iterator[Finding]:
    expected = {known.path for known in exam.sessions.sessions}
    for file in exam.sessions.files():
        if file in expected or file in _OWN or os.path.basename(file) == layout.ACL_FILE:
            continue
        if file.endswith(".tmp"):
            yield Finding(
                "sessions.leftover", Severity.WARNING,
                "an interrupted command left this, and it may have turns in it: `cyberos session recover` removes it",
                file,
            )  # fmt: skip
        else:
            yield Finding("sessions.orphan", Severity.WARNING, "no session of the log has this file", file)


FAMILY: Final = Family("sessions", check)
