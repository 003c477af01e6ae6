"""How well a memory matches: BM25 over weighted fields.

FTS5 has a `bm25` of its own, which goes through every memory that has any of the words to know how rare each is: four
fifths of the time of a search, and without bound. Here a common word's rarity is judged by the memories that changed
last, so that a search takes bounded time.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import apsw

# Of path, title, fields, body and facets: a word in a title says more of a memory than one in its body.
_WEIGHTS: Final = (2.0, 4.0, 2.0, 1.0, 0.0)
_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
# What every memory has still counts a little, so that more of it is more.
_LEAST: Final = 1e-3
# As many memories as are ranked are looked at to judge how rare a word is.
SAMPLE: Final = 1_000
_SAMPLE: Final = (
    "SELECT count(*), min(id) FROM (SELECT rowid AS id FROM word WHERE word MATCH ? ORDER BY rowid DESC LIMIT ?)"
)

Score = Callable[..., float]


def score(connection: apsw.Connection, phrases: Sequence[str]) -> Score:
    """Returns the function that scores a row of `word` for phrases, which are the first that the query has."""
    last: Any = connection.execute("SELECT max(id) FROM memory").get
    # With a single phrase its rarity changes no order.
    rarities = [1.0] if len(phrases) == 1 else [_rarity(connection, phrase, last or 0) for phrase in phrases]
    average, base, slope = 0.0, _SATURATION * (1 - _LENGTH), _SATURATION * _LENGTH

    def of_row(api: apsw.FTS5ExtensionApi) -> float:
        nonlocal average
        average = average or max(1.0, api.column_total_size(-1) / max(1, api.row_count))
        shortness = base + slope * api.column_size(-1) / average
        total = 0.0
        for number, rarity in enumerate(rarities):
            often, column = 0.0, 0  # in plain loops: this is called a thousand times a search
            for places in api.phrase_locations(number):
                if places:
                    often += _WEIGHTS[column] * len(places)
                column += 1  # noqa: SIM113
            total += rarity * often * (_SATURATION + 1) / (often + shortness)
        return total

    return of_row


def _rarity(connection: apsw.Connection, phrase: str, last: int) -> float:
    """Returns the phrase's inverse document frequency; ids up to `last` stand for memories, the newest the greatest."""
    row: Any = connection.execute(_SAMPLE, (phrase, SAMPLE)).get
    count, lowest = row
    if not count:
        return _LEAST
    among = last if count < SAMPLE else last - lowest + 1
    return max(_LEAST, math.log((among - count + 0.5) / (count + 0.5) + 1))
