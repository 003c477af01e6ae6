"""What happened, and who did it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos.api import models
from cyberos.api.answers import list_answer
from cyberos.api.parameters import AllHistoryQuery, HistoryQuery, MemoryPath
from cyberos.api.served import served
from cyberos.operations import history as operations

router = APIRouter(tags=["history"])


@router.get("/memories/{path:path}/history", response_model=models.HistoryAnswer)
def memory_history(request: Request, path: MemoryPath, query: Annotated[HistoryQuery, Query()]) -> Response:
    """What happened to a memory, also under former names, newest first. One that never existed has no entries."""
    return _answer(request, path, query, {"path": path})


@router.get("/history", response_model=models.AllHistoryAnswer)
def all_history(request: Request, query: Annotated[AllHistoryQuery, Query()]) -> Response:
    """What happened to any memory, newest first."""
    return _answer(request, None, query, {})


def _answer(request: Request, path: str | None, query: HistoryQuery, head: dict[str, object]) -> Response:
    store, reader, *_ = served(request)
    found = operations.history(
        store,
        path,
        limit=query.limit,
        chronological=query.chronological,
        follow_moves=query.follow_moves,
        since=query.since,
        filters=query.filters(),
        reader=reader,
    )
    entries = (operations.entry_json(entry, show_body=query.show_body) for entry in found.entries)
    return list_answer(head, "entries", entries, lambda: found.warnings)
