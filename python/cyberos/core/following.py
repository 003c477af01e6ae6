"""Reading a log on from where it was left, row by row, in batches.

A `Cursor` is a plain value: keep it anywhere, as JSON too, and go on from it in another process. It says which row was
the last and what that row's hash was, so that a log that was rewritten, put back or exchanged is noticed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from cyberos import _native
from cyberos.core.history import checked_filters
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import BadArgument

Row = _native.Row

# Rows in a batch at most, and about how many bytes of them.
_ROWS: Final = 16_384
_BYTES: Final = 8 << 20
# No row has this number or a greater one.
_ROWS_EVER: Final = 1 << 56


class Cursor(NamedTuple):
    """The last row that was seen: its number and its chain, 64 hexadecimal digits. `START` is before the first row."""

    seq: int = 0
    chain: str = ""


START: Final = Cursor()


class Stretch(NamedTuple):
    """Rows in order, which may be none, and the place behind all that was looked at, also of rows of other kinds.

    Rows in the `damages` are missing. A row is read when its attributes are asked for; keeping one keeps its batch.
    """

    rows: list[Row]
    cursor: Cursor
    damages: list[Damage]


def follow(
    reader: AuditChainReader,
    after: Cursor = START,
    *,
    kinds: Iterable[str] = (),
    filters: Iterable[tuple[str, str]] = (),
    last: int | None = None,
    most: int = _ROWS,
) -> Iterator[Stretch]:
    """Yields the rows behind a cursor up to the end of the log, or row `last`, in batches of at most `most` rows.

    `kinds` keeps the rows of these kinds, `filters` those whose `actor`, `kind`, `session_id` or `dream_id` is the
    given value. There is always a batch, and the cursor of the last one is where to go on another time.

    Raises `LogRewritten` where the cursor's row is not in this log, and `CorruptLog` where damage hides whether it is.
    """
    if most < 1:
        raise BadArgument(f"a batch has 1 row or more, not {most}", argument="most")
    if last is not None and not 0 <= last < _ROWS_EVER:
        raise BadArgument(f"not the number of a row: {last!r}", argument="last")
    wanted, pairs = list(kinds), checked_filters(filters)
    if isinstance(kinds, str):
        raise BadArgument(f"kinds are a list, not {kinds!r}", argument="kinds")
    cursor = place(after)
    while True:
        rows, seq, chain, over, damages = reader.native.follow(
            cursor.seq, cursor.chain, kinds=wanted, filters=pairs, most=most, enough=_BYTES, last=last
        )
        cursor = Cursor(seq, chain)
        yield Stretch(rows, cursor, damages)
        if over:
            return


def place(cursor: Sequence[object]) -> Cursor:
    """Returns a cursor that was kept, also as the list that JSON makes of it; raises `BadArgument` for what is none."""
    match cursor:
        case [int(seq), str(chain)] if 0 <= seq < _ROWS_EVER:
            return Cursor(seq, chain)
    raise BadArgument(f"a cursor is the number of a row and its chain, not {cursor!r}", argument="cursor")


def at(reader: AuditChainReader, seq: int) -> Cursor:
    """Returns the cursor behind row `seq`; raises `VersionNotFound` or `CorruptLog`."""
    return START if seq == 0 else Cursor(seq, reader.row(seq)["chain"])


def head(reader: AuditChainReader) -> Cursor:
    """Returns the cursor behind the last row."""
    return at(reader, reader.last_seq())


def check(reader: AuditChainReader, cursor: Cursor) -> None:
    """Raises `LogRewritten` where a cursor's row is not in this log, `CorruptLog` where damage hides whether it is."""
    reader.native.follow(*cursor, kinds=(), filters=(), most=0, enough=0)
