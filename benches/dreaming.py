"""What is measured of reading a log on from a cursor, as a dream consumer does."""

from collections.abc import Callable, Iterator

import measure
from report import Case
from stores import Built

from cyberos.core.dream import START, Source

_RATE = 1_000_000


def cursors(built: Built, runs: int) -> Iterator[Case]:
    """All rows in batches: every row object made, then also the kind read of each, then those of one kind."""
    source = Source(built.folder)
    moves = sum(row.kind == "move" for stretch in source.rows() for row in stretch.rows)
    if not moves:
        raise AssertionError("a store without moves")

    def every() -> int:
        return sum(len(stretch.rows) for stretch in source.rows())

    def kinds() -> int:
        return sum(row.kind == "move" for stretch in source.rows() for row in stretch.rows)

    def selected() -> int:
        return sum(len(stretch.rows) for stretch in source.rows(START, kinds=["move"]))

    yield _case("cursor over all rows", built, runs, every, built.rows)
    yield _case("cursor over all rows, reading their kind", built, runs, kinds, moves)
    yield _case("cursor over all rows, keeping one kind", built, runs, selected, moves)


def _case(name: str, built: Built, runs: int, call: Callable[[], int], wanted: int) -> Case:
    if (found := call()) != wanted:
        raise AssertionError(f"{name}: {found}, not {wanted}")
    stats = measure.calls(call, runs)
    rate = built.rows / stats.median
    return Case(name, built.size, "ms", stats, f">= {_RATE:,} rows/s", f"{rate:,.0f} rows/s", rate >= _RATE)
