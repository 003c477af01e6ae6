"""Starting, appending, ending and recording: each one step that a crash leaves undone, done, or to be finished.

The order of writing decides which. Start: `.active`, the transcript without turns, the row: without the row nothing
has started. Append: the transcript. End: the sealed transcript, the row, `.active`: with the row it has ended. Record:
the row that starts it, the sealed transcript, the row that ends it.
"""

import glob
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from cyberos import _native, clock, layout
from cyberos.core.changes import Record
from cyberos.core.sessions import book, desk, gate, terms
from cyberos.core.sessions.book import Book, Ended, Known
from cyberos.core.sessions.desk import Desk
from cyberos.core.sessions.terms import TurnInput
from cyberos.core.writer import Writer
from cyberos.crypto.envelope import SessionCipher
from cyberos.errors import (
    AlreadyExists,
    CyberosError,
    SessionNotFound,
    SessionStateRefused,
)

EXPLICIT: Final = "explicit"


class Closed(NamedTuple):
    """A session that has just ended."""

    session: Known
    ended: Ended


def start(
    writer: Writer,
    session_id: str,
    *,
    classification: str,
    retention_days: int | None,
    actor: str,
    correlates_with: str | None,
) -> Known:
    """Starts a session and makes it the active one."""
    terms.check_classification(classification)
    days = _retention(writer, retention_days)
    if correlates_with is not None:
        terms.check_id(correlates_with, "correlates_with")
    gate.enter(writer, session_id, book.START, actor)
    writer._require_protocol_amendment_p22()  # noqa: SLF001, the document's name
    with _at_work(writer, actor) as at:
        if active := settle(at, Book(writer.reader())):
            raise _already_active(active, session_id)
        _require_new(writer, session_id)
        known = _known(session_id, classification, days, actor, correlates_with)
        _require_room(known, at.store)
        cipher = gate.new_cipher(writer, session_id, classification)
        known = known._replace(encrypted=cipher is not None)
        at.acknowledge(session_id, 0)
        at.set_active(session_id)
        try:
            _create(known, at.store)
            seq = emit(writer, known, book.START, _start_payload(known))
        except BaseException:
            _undo_start(writer, at, known)
            raise
    return known._replace(seq=seq)


def _undo_start(writer: Writer, at: Desk, known: Known) -> None:
    """Leaves nothing that looks like a session that did not start, unless the log says that it did."""
    with suppress(OSError, CyberosError):
        if Book(writer.reader()).find(known.id) is not None:
            return
        # A key stays: it may be older than this start, and the session of a copy of this store.
        _discard_unused(known.file(at.store))
        at.clear_active()


def append(writer: Writer, session_id: str, turns: Sequence[TurnInput]) -> range:
    """Appends turns to the active session, all or none; returns their numbers."""
    gate.enter(writer, session_id, "session.turn")
    for place, turn in enumerate(turns):
        terms.check_turn(turn, session_id, place if len(turns) > 1 else None)
    turns = _redacted(turns)
    with _at_work(writer, writer.actor) as at:
        sessions = Book(writer.reader())
        known = require_active(at, sessions, session_id)
        gate.permit_owner(writer, known, "session.turn")
        transcript = _transcript(at, sessions, known)
        before = transcript.turns()
        after = transcript.append(_drafts(turns, gate.cipher(writer, known), before))
        at.acknowledge(session_id, after)
    return range(before, after)


def end(writer: Writer, session_id: str, reason: str) -> Closed:
    """Ends the active session: its transcript is sealed."""
    reason = _cleared(terms.check_reason(reason))
    gate.enter(writer, session_id, book.END)
    with _at_work(writer, writer.actor) as at:
        sessions = Book(writer.reader())
        known = require_active(at, sessions, session_id)
        gate.permit_owner(writer, known, book.END)
        return finish(writer, at, sessions, known, reason)


def record(
    writer: Writer,
    session_id: str,
    turns: Sequence[TurnInput],
    *,
    classification: str,
    retention_days: int | None,
    actor: str,
    correlates_with: str | None,
    reason: str,
) -> Closed:
    """Records a session that is over, whole. The active session, if any, stays what it is.

    What an interrupted call left of the same session is done again.
    """
    terms.check_classification(classification)
    days = _retention(writer, retention_days)
    if correlates_with is not None:
        terms.check_id(correlates_with, "correlates_with")
    reason = _cleared(terms.check_reason(reason))
    gate.enter(writer, session_id, book.START, actor)
    writer._require_protocol_amendment_p22()  # noqa: SLF001, the document's name
    for place, turn in enumerate(turns):
        terms.check_turn(turn, session_id, place)
    turns = _redacted(turns)
    with _at_work(writer, actor) as at:
        sessions = Book(writer.reader())
        known = sessions.find(session_id)
        # What was promised of it at first is what is kept: another promise makes it another session.
        again = known and (known.state, known.actor, known.classification) == ("unfinished", actor, classification)
        if known is None or not again:
            _require_new(writer, session_id)
            known = _known(session_id, classification, days, actor, correlates_with)
            _require_room(known, at.store)
            cipher = gate.new_cipher(writer, session_id, classification)
            known = known._replace(encrypted=cipher is not None, recorded=True)
            known = known._replace(seq=emit(writer, known, book.START, _start_payload(known)))
        else:
            cipher = gate.cipher(writer, known)
        file = known.file(at.store)
        _discard(file)
        _create(known, at.store)
        transcript = _native.Transcript(file, session_id, sessions.first_chain(known), 0)
        transcript.append(_drafts(turns, cipher, 0))
        return finish(writer, at, sessions, known, reason, acknowledged=len(turns))


def finish(
    writer: Writer, at: Desk, sessions: Book, known: Known, reason: str, *, acknowledged: int | None = None
) -> Closed:
    """Seals a session's transcript and records that it has ended."""
    if not os.path.lexists(known.file(at.store)):
        raise book.missing(known)
    if acknowledged is None:
        acknowledged = at.acknowledged(known.id)
    with book.telling_what_helps(known):
        sha256, turns, chain, _ = _native.seal_transcript(
            known.file(at.store), known.id, sessions.first_chain(known), acknowledged
        )
    return close(writer, at, known, reason=reason, turns=turns, sha256=sha256, chain=chain)


def close(writer: Writer, at: Desk, known: Known, *, reason: str, turns: int, sha256: str, chain: str | None) -> Closed:
    """Records that a session has ended."""
    ended_at = clock.iso_exact(clock.now_ns())
    payload = {
        "session_id": known.id,
        "ended_at": ended_at,
        "ended_reason": reason,
        "turns_count": turns,
        "binlog_hash": sha256,
        **({"chain_tip": chain} if chain else {}),
    }
    seq = emit(writer, known, book.END, payload)
    if at.active() == known.id:
        at.clear_active()
    ended = Ended(seq, ended_at, reason, turns, sha256, chain)
    return Closed(known._replace(ended=ended), ended)


def settle(at: Desk, sessions: Book) -> Known | None:
    """Brings `.active` in line with the log after a crash; returns the active session, if there is one."""
    named = at.active()
    known = sessions.find(named) if named else None
    if known and known.state == "active":
        return known
    if known is None and named and terms.mapped_id(named) == named:
        # A start that did not come to its row.
        for file in glob.glob(f"{at.store}/{layout.SESSIONS}/*/{named}.binlog.zst"):
            _discard_unused(file)
    active = sessions.active()
    if active is None or active.state != "active":
        at.clear_active()
        return None
    at.set_active(active.id)
    return active


def require_active(at: Desk, sessions: Book, session_id: str) -> Known:
    """Returns the session, which is the active one; raises `SessionStateRefused` or `SessionNotFound`."""
    known = sessions.find(session_id)
    if known is None:
        active = settle(at, sessions)
        if active is None:
            raise SessionNotFound(
                f"no active session: {session_id} was never started", session_id=session_id,
                hint=f"cyberos session start --id {session_id}",
            )  # fmt: skip
        raise SessionNotFound(
            f"session {session_id} was never started; the active session is {active.id}", session_id=session_id,
            hint=f"cyberos session end --id {active.id}",
        )  # fmt: skip
    if known.state == "active":
        if at.active() != session_id:
            settle(at, sessions)
        return known
    active_id = at.active()
    tell = {
        "ended": (f"session {session_id} has ended", f"cyberos session read --id {session_id}"),
        "purged": (f"session {session_id} has ended and was purged", f"cyberos session show --id {session_id}"),
        "unfinished": (f"recording session {session_id} was interrupted", f"cyberos session recover --id {session_id}"),
    }
    message, hint = tell[known.state]
    raise SessionStateRefused(message, session_id=session_id, state=known.state, active=active_id, hint=hint)


def _already_active(active: Known, session_id: str) -> SessionStateRefused:
    return SessionStateRefused(
        f"session {active.id} is already active; end it before starting {session_id}",
        session_id=session_id, state="absent", active=active.id, hint=f"cyberos session end --id {active.id}",
    )  # fmt: skip


def _require_new(writer: Writer, session_id: str) -> None:
    if known := Book(writer.reader()).find(session_id):
        interrupted = known.state == "unfinished"
        raise AlreadyExists(
            f"there is a session {session_id} already: it started at {known.started_at}", path=known.path,
            hint=f"cyberos session recover --id {session_id}" if interrupted else "choose another id, or --id auto",
        )  # fmt: skip


def _require_room(known: Known, store: str) -> None:
    file = known.file(store)
    if os.path.lexists(file) and _native.count_turns(file) != 0:
        raise AlreadyExists(
            f"{known.path} is there, and no session of the log has it", path=known.path,
            hint="move it out of the store if it is worth keeping, or choose another id",
        )  # fmt: skip


def _at_work(writer: Writer, actor: str) -> Any:
    return desk.held(writer.store_path, actor, writer.patience)


def _retention(writer: Writer, days: int | None) -> int:
    return writer.config().sessions.retention_days if days is None else terms.check_retention(days)


def _known(session_id: str, classification: str, days: int, actor: str, correlates_with: str | None) -> Known:
    now = clock.now_ns()
    at = clock.iso_exact(now)
    path = f"{layout.SESSIONS}/{at[:10]}/{session_id}.binlog.zst"
    return Known(session_id, 0, at, now, classification, days, actor, path, correlates_with)


def _start_payload(known: Known) -> dict[str, Any]:
    return {
        "session_id": known.id,
        "started_at": known.started_at,
        "classification": known.classification,
        "retention_days": known.retention_days,
        "actor": known.actor,
        **({"correlates_with": known.correlates_with} if known.correlates_with else {}),
        **({"encrypted": True} if known.encrypted else {}),
        **({"recorded": True} if known.recorded else {}),
    }


def emit(writer: Writer, known: Known, kind: str, payload: dict[str, Any]) -> int:
    """Writes a row about a session; returns its number."""
    # What the first row says of the time is when the session started, to the nanosecond.
    when = known.started_ns if kind == book.START else clock.now_ns()
    record = Record(kind, payload, path=known.path)
    receipt = writer.apply([record], actor=known.actor, session_id="", times=[when])[0]
    return receipt.seq or 0  # a row that changes no memory is always written


def _create(known: Known, store: str) -> None:
    file = known.file(store)
    desk.make_folder(os.path.dirname(file))
    _discard_unused(file)
    _native.create_transcript(file)


def _discard(file: str) -> None:
    """Removes a transcript that no session has."""
    try:
        os.unlink(file)
    except FileNotFoundError:
        return


def _discard_unused(file: str) -> None:
    """Removes a transcript without turns; any other file stays."""
    if os.path.lexists(file) and _native.count_turns(file) == 0:
        _discard(file)


def _transcript(at: Desk, sessions: Book, known: Known) -> _native.Transcript:
    file = known.file(at.store)
    if not os.path.lexists(file):
        raise book.missing(known)
    if _native.count_turns(file) is None:
        raise _not_open(known, _native.Turns(file, known.id, sessions.first_chain(known)))
    with book.telling_what_helps(known):
        return _native.Transcript(file, known.id, sessions.first_chain(known), at.acknowledged(known.id))


def _not_open(known: Known, turns: _native.Turns) -> CyberosError:
    turns.skip()
    if turns.damage is not None or turns.form == "tombstone":
        return book.damaged(known, turns.damage or "it is erased")
    ours = turns.form == "sealed"
    why = "is being ended: its transcript is sealed" if ours else "is another program's: nothing can be added"
    return SessionStateRefused(
        f"session {known.id} {why}", session_id=known.id, state="active", active=known.id,
        hint=f"cyberos session end --id {known.id}",
    )  # fmt: skip


def _drafts(turns: Sequence[TurnInput], cipher: SessionCipher | None, first: int) -> list[Any]:
    now = clock.now_ns()
    drafts: list[Any] = []
    for number, turn in enumerate(turns, first):
        ts_ns = now if turn.ts_ns is None else turn.ts_ns
        if cipher is None:
            drafts.append((turn.role, ts_ns, turn.content, None, turn.redactions_applied))
        else:
            envelope = cipher.seal(turn.role, number, ts_ns, turn.content.encode())
            drafts.append((turn.role, ts_ns, None, envelope, turn.redactions_applied))
    return drafts


def _redacted(turns: Sequence[TurnInput]) -> Sequence[TurnInput]:
    """Returns the turns with secrets and personal data replaced, where that is asked for."""
    if not any(turn.redactions_applied for turn in turns):
        return turns
    from cyberos import redaction

    return [
        turn._replace(content=redaction.redact_text(turn.content).text) if turn.redactions_applied else turn
        for turn in turns
    ]


def _cleared(reason: str) -> str:
    """Returns the reason of an end without secrets and personal data: no purge reaches what the log says."""
    # Whether there may be any is known without the validators, which not everybody has.
    if reason == EXPLICIT or not _native.redaction_candidates(reason):
        return reason
    from cyberos import redaction

    return redaction.redact_text(reason).text
