"""Versions of a memory: one, two side by side, and who wrote each line."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos import clock
from cyberos.answers import to_dict
from cyberos.api import models
from cyberos.api.answers import answer, list_answer
from cyberos.api.parameters import AtQuery, DiffQuery, MemoryPath, ShowQuery
from cyberos.api.served import served
from cyberos.operations import versions as operations

router = APIRouter(tags=["versions"])


@router.get("/memories/{path:path}/show", response_model=models.Shown)
def show(request: Request, path: MemoryPath, query: Annotated[ShowQuery, Query()]) -> Response:
    """A memory as it was at a row or time; the path is its name now, and it may have had another one then."""
    return answer(operations.show(served(request).store, path, query.moment()))


@router.get("/memories/{path:path}/diff", response_model=models.Difference)
def diff(request: Request, path: MemoryPath, query: Annotated[DiffQuery, Query()]) -> Response:
    """What changed in a memory between two rows or times."""
    old = clock.parse_at(query.old)
    new = None if query.new is None else clock.parse_at(query.new)
    return answer(operations.diff(served(request).store, path, old, new))


@router.get("/memories/{path:path}/blame", response_model=models.BlameAnswer)
def blame(request: Request, path: MemoryPath, query: Annotated[AtQuery, Query()]) -> Response:
    """Who wrote each line of a memory, now or at a row or time."""
    blamed = operations.blame(served(request).store, path, query.moment())
    return list_answer({"path": path}, "lines", map(to_dict, blamed.lines), lambda: blamed.warnings)
