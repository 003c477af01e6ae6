"""Ids, classifications, roles and contents: what may be recorded at all."""

import json
import re
from typing import Final, Literal, NamedTuple

from cyberos.errors import BadArgument, TurnRefused

Classification = Literal["confidential", "restricted"]
Role = Literal["user", "assistant", "system", "tool"]

CONFIDENTIAL: Final = "confidential"
RESTRICTED: Final = "restricted"
CLASSIFICATIONS: Final = (CONFIDENTIAL, RESTRICTED)
ROLES: Final = ("user", "assistant", "system", "tool")
MAX_CONTENT: Final = 8 << 20
MAX_RETENTION_DAYS: Final = 36_500
MAX_REASON: Final = 1_024

# A turn is less than 16 MiB as JSON; what it says beside its content takes far less than this.
_MAX_JSON: Final = (16 << 20) - (64 << 10)
_WIDEST_ESCAPE: Final = 6
_MAX_NS: Final = (1 << 63) - 1

_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_LONGEST_ID: Final = 64


class TurnInput(NamedTuple):
    """A turn to be recorded. `ts_ns` is when it was said; `None` for now.

    With `redactions_applied` true, secrets and personal data are replaced before anything is stored.
    """

    role: str
    content: str
    redactions_applied: bool | None = None
    ts_ns: int | None = None


def check_id(session_id: object, argument: str = "id") -> str:
    """Returns a session's id; raises `BadArgument`, which offers one that is possible."""
    if isinstance(session_id, str) and _ID.fullmatch(session_id):
        return session_id
    mapped = mapped_id(session_id) if isinstance(session_id, str) else None
    raise BadArgument(
        f"not a session id: {session_id!r:.100}", argument=argument,
        hint=("an id is a small letter and then up to 63 of a-z, 0-9, _ and -",)
        + ((f"for this one use {mapped}",) if mapped else ()),
    )  # fmt: skip


def mapped_id(text: str) -> str | None:
    """Returns the id that stands for another program's, such as a UUID; `None` where nothing is left of it."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", text.strip().lower()).strip("-")
    if not plain:
        return None
    return (plain if plain[0].isalpha() else f"s-{plain}")[:_LONGEST_ID]


def new_id() -> str:
    """Returns an id that nobody has used."""
    import uuid

    return f"s-{uuid.uuid4().hex}"


def check_classification(text: object) -> Classification:
    """Returns a classification; raises `BadArgument`."""
    if text == CONFIDENTIAL:
        return "confidential"
    if text == RESTRICTED:
        return "restricted"
    why = "not permitted on a session" if text in ("public", "internal") else "no classification"
    raise BadArgument(
        f"{text!r:.100} is {why}", argument="classification", hint=f"a session is {' or '.join(CLASSIFICATIONS)}"
    )


def check_retention(days: object) -> int:
    """Returns a number of days; raises `BadArgument`."""
    if isinstance(days, int) and not isinstance(days, bool) and 1 <= days <= MAX_RETENTION_DAYS:
        return days
    raise BadArgument(
        f"a transcript is kept from 1 to {MAX_RETENTION_DAYS} days, not {days!r:.100}", argument="retention_days"
    )


def check_reason(reason: object) -> str:
    """Returns why a session ends, as the log will say for ever; raises `BadArgument`."""
    if not isinstance(reason, str) or len(reason) > MAX_REASON or "\0" in reason:
        raise BadArgument(f"a reason is a text of at most {MAX_REASON} characters", argument="reason")
    try:
        reason.encode()
    except UnicodeEncodeError:
        raise BadArgument(f"a reason is text, which this is not: {reason!r:.100}", argument="reason") from None
    return reason


def check_turn(turn: TurnInput, session_id: str, number: int | None = None) -> TurnInput:
    """Returns a turn that can be recorded; raises `BadArgument` or `TurnRefused`. `number` is its place in a batch."""
    if turn.role not in ROLES:
        raise BadArgument(f"nobody speaks as {turn.role!r:.100}", argument="role", hint=f"one of {', '.join(ROLES)}")
    if turn.ts_ns is not None and (type(turn.ts_ns) is not int or not 0 <= turn.ts_ns <= _MAX_NS):
        raise BadArgument(f"not nanoseconds since 1970: {turn.ts_ns!r:.100}", argument="ts_ns")
    if not isinstance(turn.redactions_applied, bool | None):
        raise BadArgument(f"not true or false: {turn.redactions_applied!r:.100}", argument="redactions_applied")
    if why := _unfit(turn.content):
        raise TurnRefused(
            f"the content {f'of turn {number} of the batch ' if number is not None else ''}{why}",
            session_id=session_id, turn=number,
        )  # fmt: skip
    return turn


def _unfit(content: object) -> str | None:
    if not isinstance(content, str):
        return f"is no text but {type(content).__name__}"
    if not content:
        return "is empty"
    if "\0" in content:
        return "has a NUL character: it is binary, or damaged"
    if len(content) > MAX_CONTENT:
        return f"has more than {MAX_CONTENT >> 20} MiB"
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        return "has half of a surrogate pair, which is no character"
    if size > MAX_CONTENT:
        return f"has more than {MAX_CONTENT >> 20} MiB"
    if size * _WIDEST_ESCAPE > _MAX_JSON and len(json.dumps(content, ensure_ascii=False).encode()) > _MAX_JSON:
        return "takes 16 MiB or more as JSON: it is full of control characters"
    return None
