"""Answering a search: from an index that takes in every row, with what the store says of each hit."""

import os
from collections.abc import Sequence

import apsw

from cyberos import layout
from cyberos.core import edits
from cyberos.core.bodies import Bodies
from cyberos.core.reader import AuditChainReader
from cyberos.core.search import Hit, Progress, Results, documents, pool, snippets, upkeep, words
from cyberos.core.search.database import Found
from cyberos.core.search.words import Term
from cyberos.errors import CyberosError


def search(
    reader: AuditChainReader,
    query: str,
    facets: Sequence[tuple[str, str]],
    since_ns: int | None,
    until_ns: int | None,
    limit: int,
    progress: Progress | None,
) -> Results:
    """Returns what `cyberos.core.search.search` does."""
    terms = words.parse(query)
    index = upkeep.current(reader, progress)
    try:
        found, missing = _asked(reader, index, terms, facets, since_ns, until_ns, limit)
    except apsw.Error:  # a page that only this search read is damaged
        index = upkeep.anew(reader, progress)
        found, missing = _asked(reader, index, terms, facets, since_ns, until_ns, limit)
    bodies = Bodies(reader)
    hits = [_hit(reader, bodies, each, terms) for each in found]
    return Results(hits, index.warnings + _told(missing))


def _told(missing: int) -> tuple[str, ...]:
    if not missing:
        return ()
    if missing == 1:
        return ("the content of 1 memory is not kept here: it is found by its path only",)
    return (f"the content of {missing} memories is not kept here: they are found by their paths only",)


def _asked(
    reader: AuditChainReader,
    index: upkeep.Index,
    terms: Sequence[Term],
    facets: Sequence[tuple[str, str]],
    since_ns: int | None,
    until_ns: int | None,
    limit: int,
) -> tuple[list[Found], int]:
    database = index.database
    try:
        found, missing = database.find(terms, facets, since_ns, until_ns, limit), database.count_missing()
    except BaseException:
        database.close()
        raise
    pool.give(os.path.join(reader.store_path, layout.SEARCH), database)
    return found, missing


def _hit(reader: AuditChainReader, bodies: Bodies, found: Found, terms: Sequence[Term]) -> Hit:
    content = bodies.get(found.sha256, found.path)
    text = documents.text_of(content) if isinstance(content, bytes) else None
    shown = snippets.snippet(text or "", terms)
    return Hit(
        path=found.path,
        seq=found.seq,
        ts_ns=found.ts_ns,
        actor=found.actor,
        kind=found.kind,
        title=found.title,
        tags=found.tags,
        body_hash=found.sha256,
        score=found.score,
        snippet=shown.text,
        highlights=shown.highlights,
        edited=_is_edited(reader, found),
    )


def _is_edited(reader: AuditChainReader, found: Found) -> bool:
    try:
        return edits.warning(reader, found.path, found.sha256) is not None
    except CyberosError:
        return False
