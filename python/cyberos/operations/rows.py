"""The rows of the log, one after the other, whatever they are about."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cyberos.core.reader import AuditChainReader, describe
from cyberos.errors import BadArgument

# Rows that are read at a time: a row may be 16 MiB long.
_BATCH: Final = 64


class Row(NamedTuple):
    """A row of the log. `body_hash` is null where the row says nothing about content."""

    seq: int
    ts: str
    kind: str
    actor: str
    path: str
    body_hash: str | None
    extra: dict[str, Any]
    chain: str
    prev_chain: str


class Rows(NamedTuple):
    """Rows in order, read as they are asked for; the `warnings` are complete when all are read.

    `next` is the row behind which (before which, where the newest come first) there is more; `None` at the end.
    """

    rows: Iterator[Row]
    next: int | None
    warnings: list[str]


def rows(
    store: str,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 100,
    newest_first: bool = False,
    reader: AuditChainReader | None = None,
) -> Rows:
    """Returns the first `limit` rows between `after` and `before`, both left out; the last ones with `newest_first`."""
    if limit < 1:
        raise BadArgument(f"a limit is 1 or more, not {limit}", argument="limit")
    reader = reader or AuditChainReader(store)
    end = reader.last_seq() + 1
    low, high = max(after, 0), end if before is None else min(before, end)
    if newest_first:
        cut = max(low, high - 1 - limit)
        more = cut + 1 if cut > low else None
        low = cut
    else:
        cut = min(high, low + 1 + limit)
        more = cut - 1 if cut < high else None
        high = cut
    warnings: list[str] = []
    return Rows(_read(reader, low + 1, high - 1, warnings, newest_first=newest_first), more, warnings)


def row(store: str, seq: int, *, reader: AuditChainReader | None = None) -> Row:
    """Returns one row; raises `VersionNotFound` or `CorruptLog`."""
    return _row((reader or AuditChainReader(store)).row(seq))


def _read(reader: AuditChainReader, first: int, last: int, warnings: list[str], *, newest_first: bool) -> Iterator[Row]:
    starts = range(first, last + 1, _BATCH)
    for start in reversed(starts) if newest_first else starts:
        found, damages = reader.between(start, min(start + _BATCH - 1, last))
        # One damage may span several batches.
        warnings.extend(text for text in map(describe, damages) if text not in warnings)
        yield from map(_row, reversed(found) if newest_first else found)


def _row(found: dict[str, Any]) -> Row:
    return Row(
        seq=found["seq"],
        ts=found["ts"],
        kind=found["kind"],
        actor=found["actor"],
        path=found["path"],
        body_hash=found["content_sha256"] or None,
        extra=found["extra"],
        chain=found["chain"],
        prev_chain=found["prev_chain"],
    )
