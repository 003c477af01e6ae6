"""The memories themselves."""

from bisect import bisect_right
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos.api import models
from cyberos.api.answers import answer, list_answer
from cyberos.api.parameters import AtQuery, ListQuery, MemoryPath
from cyberos.api.served import served
from cyberos.operations import reading

router = APIRouter(tags=["memories"])


@router.get("/memories", response_model=models.ListAnswer)
def list_memories(request: Request, query: Annotated[ListQuery, Query()]) -> Response:
    """The memories by path, now or at a row or time. Reads the whole log."""
    listing = reading.list_memories(served(request).store, query.prefix, query.moment())
    start = bisect_right(listing.memories, query.after, key=lambda memory: memory.path)
    page = listing.memories[start : start + query.limit]
    more = page[-1].path if start + query.limit < len(listing.memories) else None
    return list_answer({"next": more}, "memories", (memory._asdict() for memory in page), lambda: listing.warnings)


@router.get("/memories/{path:path}", response_model=models.Memory)
def get_memory(request: Request, path: MemoryPath, query: Annotated[AtQuery, Query()]) -> Response:
    """A memory's content, now or at a row or time."""
    return answer(reading.get(served(request).store, path, query.moment()))
