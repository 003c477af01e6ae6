"""Searching the memories there are: the shape that the command line, REST and MCP share."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cyberos import clock
from cyberos.core import search as core

Progress = Callable[[int, int], object]


class Hit(NamedTuple):
    """A memory that was found, as `cyberos.core.search.Hit` describes it; `ts` is when its content was written."""

    path: str
    seq: int
    ts: str
    actor: str
    kind: str | None
    title: str | None
    tags: tuple[str, ...]
    body_hash: str
    score: float
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    edited: bool


class Found(NamedTuple):
    """The memories that were found, the best first, and what their reader should know."""

    hits: list[Hit]
    warnings: tuple[str, ...]


def search(
    store: str,
    query: str,
    *,
    limit: int = 10,
    kind: str | None = None,
    tags: Sequence[str] = (),
    actor: str | None = None,
    since: str | None = None,
    until: str | None = None,
    progress: Progress | None = None,
) -> Found:
    """Returns the memories that have every word of a query and meet every condition."""
    found = core.search(
        store,
        query,
        limit=limit,
        kind=kind,
        tags=tags,
        actor=actor,
        since_ns=clock.parse_time(since) if since is not None else None,
        until_ns=clock.parse_time(until) if until is not None else None,
        progress=progress,
    )
    return Found([_shown(hit) for hit in found.hits], found.warnings)


def _shown(hit: core.Hit) -> Hit:
    path, seq, ts_ns, *rest = hit
    return Hit._make((path, seq, clock.iso_exact(ts_ns), *rest))
