"""What was said in a session, turn by turn, in bounded memory. Reading takes no lock and changes nothing."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from cyberos import _native
from cyberos.core.sessions import book, desk, terms
from cyberos.core.sessions.book import Book, Known
from cyberos.crypto import envelope
from cyberos.crypto.envelope import SessionCipher
from cyberos.errors import CorruptLog, SessionNotFound, TranscriptPurged

PLACEHOLDER: Final = "[encrypted content; --decrypt to read]"
FOREIGN: Final = "[encrypted content; sealed by another program]"

_TURNS: Final = 1_000
_BYTES: Final = 4 << 20


class Turn(NamedTuple):
    """A turn of a session. `content` is a placeholder where it is encrypted and not to be shown."""

    turn_seq: int
    ts: str
    role: str
    content: str
    encrypted: bool = False
    redactions_applied: bool | None = None


class Reading(NamedTuple):
    """A transcript that is being read: the `warnings` are complete when all turns are read.

    Where it is damaged the turns before the damage come, then `CorruptLog`, unless the damage is on record.
    """

    session: Known
    turns: Iterator[Turn]
    warnings: list[str]


def find(sessions: Book, session_id: str) -> Known:
    """Returns a session; raises `SessionNotFound`, or `BadArgument` for what is no id, with one that is possible."""
    known = sessions.find(session_id)
    if known is None:
        terms.check_id(session_id)
        raise SessionNotFound(
            f"there is no session {session_id}", session_id=session_id, hint="cyberos session list --since all"
        )
    return known


def transcript(sessions: Book, known: Known) -> _native.Turns:
    """Opens a transcript; raises `TranscriptPurged` or `TranscriptMissing`."""
    purged = TranscriptPurged(
        f"the transcript of session {known.id} was erased", session_id=known.id,
        hint=f"cyberos session show --id {known.id} tells what is left",
    )  # fmt: skip
    if known.purged:
        raise purged
    try:
        turns = _native.Turns(known.file(sessions.reader.store_path), known.id, sessions.first_chain(known))
    except FileNotFoundError:
        raise book.missing(known) from None
    if turns.form == "tombstone":
        raise purged
    return turns


def read(sessions: Book, known: Known, cipher: SessionCipher | None, *, start: int = 0) -> Reading:
    """Reads a session's turns from `start` on; without the cipher, those that are encrypted have a placeholder."""
    # Asked first: turns that are acknowledged after this may be in the transcript, or not.
    lease = None if known.ended else desk.lease(sessions.reader.store_path)
    acknowledged = lease.turns if lease and lease.session_id == known.id else 0
    turns = transcript(sessions, known)
    warnings: list[str] = []
    return Reading(known, _turns(turns, known, cipher, warnings, start, acknowledged), warnings)


def needs_decrypt(known: Known) -> bool:
    """Whether the content is shown only when that is asked for."""
    return known.classification == terms.RESTRICTED


def _turns(
    turns: _native.Turns, known: Known, cipher: SessionCipher | None, warnings: list[str], start: int, acknowledged: int
) -> Iterator[Turn]:
    while found := turns.next(_TURNS, _BYTES):
        for turn_seq, ts_ns, ts, role, content, sealed, redacted in found:
            if turn_seq >= start:
                shown = content if sealed is None else _opened(cipher, role, turn_seq, ts_ns, sealed)
                yield Turn(turn_seq, ts, role, shown or "", sealed is not None, redacted)
    damage = turns.damage
    if damage is None and turns.turns < acknowledged:
        damage = f"{acknowledged} turns were acknowledged"
    elif damage is None and known.ended:
        damage = _difference(turns, known.ended)
    if damage is not None:
        what = f"only its {turns.turns} first turns are whole: {damage}" if turns.damage else damage
        # Of upstream's that is open nobody can tell an unfinished append from damage; only sealed it is called .zst.
        upstreams = turns.form == "peer_open" and not known.path.endswith(".zst")
        if not (known.ended.damaged if known.ended else upstreams):
            raise book.damaged(known, what)
        warnings.append(f"{known.path} is damaged: {what}")
    elif turns.torn:
        warnings.append(
            f"{known.path} is truncated to the last whole turn: {turns.torn} bytes behind it were never acknowledged"
        )


def _difference(turns: _native.Turns, ended: book.Ended) -> str | None:
    """Returns how a transcript whose turns are whole differs from the one that the session ended with."""
    # Only of upstream's: its turns have neither checksum nor chain.
    frames = turns.frames_sha256()
    if turns.turns != ended.turns_count:
        return f"it has {turns.turns} turns, and there were {ended.turns_count} when the session ended"
    if (ended.chain_tip is not None and turns.chain != ended.chain_tip) or frames not in (None, ended.binlog_hash):
        return "it is not the transcript that the session ended with"
    return None


def _opened(cipher: SessionCipher | None, role: str, turn_seq: int, ts_ns: int, sealed: dict[str, object]) -> str:
    if envelope.foreign(sealed) is not None:
        return FOREIGN
    if cipher is None:
        return PLACEHOLDER
    try:
        return cipher.open(role, turn_seq, ts_ns, sealed).decode()
    except UnicodeDecodeError:
        raise CorruptLog(f"turn {turn_seq} is sealed and no text") from None
