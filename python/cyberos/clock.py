"""Time: what it is, how it is written, and how people name it.

A point in time is an `int`, nanoseconds since 1970 in UTC. Code asks `clock.now_ns()` through the module, not a
function that it imported, so that a test can put its own in place.
"""

import re
import time
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from cyberos.errors import BadArgument

NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MAX_NS = 2**63 - 1
_MAX_SEQ_DIGITS = 19
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
# Compiled when first used: most commands name no time.
_DURATION = r"([0-9]{1,9})([smhdw])"
_INSTANT = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,](?P<fraction>[0-9]{1,9}))?)?)"
    r"(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_HINT = "write 30m, 24h, 7d, 2w, or a time such as 2026-05-19 or 2026-05-19T08:00:42Z"

_HINT_AT = f"give the number of a row in `cyberos history`, or {_HINT}"


def now_ns() -> int:
    """Returns the time in nanoseconds since 1970."""
    return time.time_ns()


class At(NamedTuple):
    """A point in a store's past: just after a row, given by its number or by a time. Exactly one of them is set.

    A time, in nanoseconds, stands for the last row that is not later. Older rows count even if they are later than it:
    clocks step back, and the order of the rows is what happened.
    """

    seq: int | None = None
    ts_ns: int | None = None


def parse_time(text: str) -> int:
    """Returns the time that `text` means: an age (`24h` is a day ago) or an ISO date or time, UTC by default."""
    text = text.strip()
    if match := re.fullmatch(_DURATION, text):
        return max(0, now_ns() - int(match[1]) * _UNITS[match[2]] * NS)
    match = re.fullmatch(_INSTANT, text)
    if match is None:
        raise BadArgument(f"not a time: {text!r}", hint=_HINT)
    zone = (match["zone"] or "Z").upper()
    whole = (match["time"] or "00:00").partition(".")[0].partition(",")[0]
    try:
        moment = datetime.fromisoformat(f"{match['date']}T{whole}{zone.replace('Z', '+00:00')}")
    except ValueError as error:
        why = "its offset is a day or more" if "timedelta" in str(error) else error
        raise BadArgument(f"not a time: {text!r}: {why}", hint=_HINT) from None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    ns = seconds * NS + int((match["fraction"] or "").ljust(9, "0"))
    if not 0 <= ns <= _MAX_NS:
        raise BadArgument(f"a time before 1970 or after 2262: {text!r}", hint=_HINT)
    return ns


def parse_at(text: str) -> At:
    """Returns the point in the past that `text` means: digits alone are a sequence number, anything else is a time."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        if len(text) > _MAX_SEQ_DIGITS or int(text) == 0:
            raise BadArgument(f"not a sequence number: {text}", hint="rows are numbered from 1")
        return At(seq=int(text))
    try:
        return At(ts_ns=parse_time(text))
    except BadArgument as error:
        raise BadArgument(
            error.message.replace("not a time", "neither a row's number nor a time"), hint=_HINT_AT
        ) from None


def iso_seconds(ns: int) -> str:
    """Returns `2026-05-19T08:00:42Z`; the fraction is cut off."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ns // NS))


def iso_exact(ns: int) -> str:
    """Returns `2026-05-19T08:00:42.123456789Z`; no fraction where it is zero."""
    seconds = iso_seconds(ns)
    fraction = ns % NS
    return f"{seconds[:-1]}.{fraction:09d}".rstrip("0") + "Z" if fraction else seconds


def to_datetime(ns: int) -> datetime:
    """Returns an aware UTC datetime; what is finer than a microsecond is cut off."""
    return _EPOCH + timedelta(microseconds=ns // 1_000)


def from_datetime(moment: datetime) -> int:
    """Returns nanoseconds since 1970; a datetime without a zone is taken as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
    return (aware - _EPOCH) // timedelta(microseconds=1) * 1_000
