"""Full-text search over the memories there are now.

What is searched is each memory's newest version as the chain says it: path, title, texts in the frontmatter, body. An
edit made by hand is found once a row records it; a hit says where its working file is not that version any more.
"""

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cyberos.core.reader import AuditChainReader
from cyberos.errors import BadArgument

Progress = Callable[[int, int], object]


class Hit(NamedTuple):
    """A memory that was found.

    `seq`, `ts_ns` (nanoseconds since 1970) and `actor` are of the row that wrote its content. `score` is BM25, more is
    better, and says nothing across searches. `snippet` is the part of the body that has most of what was asked for, or
    its beginning, in one line; `highlights` has where that stands in it, as (begin, end) in characters. `edited` says
    that the working file is not this version any more.
    """

    path: str
    seq: int
    ts_ns: int
    actor: str
    kind: str | None
    title: str | None
    tags: tuple[str, ...]
    body_hash: str
    score: float
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    edited: bool


class Results(NamedTuple):
    """What was found, the best first, and what its reader should know."""

    hits: list[Hit]
    warnings: tuple[str, ...]


def search(
    store_path: str | os.PathLike[str],
    query: str,
    *,
    limit: int = 10,
    kind: str | None = None,
    tags: Iterable[str] = (),
    actor: str | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
    reader: AuditChainReader | None = None,
    progress: Progress | None = None,
) -> Results:
    """Returns the memories that have every word of `query` and meet every condition, the best match first.

    They are of `kind` and have all `tags`; `actor` wrote their content, between two times in nanoseconds since 1970.
    Where more than `limit` and more than a thousand match, those of them are ranked that changed last.

    A query has words, `"phrases"` and `begin*`. The index in the store is brought up to date first where it can be
    written; `progress` gets how many memories are indexed, and of how many, where it has to be made.
    """
    from cyberos.core.search import finding

    if limit < 1:
        raise BadArgument(f"a limit of {limit}: give 1 or more", argument="limit")
    facets = [("tag", tag) for tag in tags]
    facets += [(name, value) for name, value in (("kind", kind), ("actor", actor)) if value is not None]
    reader = reader or AuditChainReader(store_path)
    return finding.search(reader, query, facets, since_ns, until_ns, limit, progress)
