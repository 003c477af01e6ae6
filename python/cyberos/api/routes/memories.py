"""The memories themselves."""

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
    """The memories by path, now or at a row or time. The latter reads the whole log, as does the first question."""
    shared = served(request)
    page = reading.page_of_memories(
        shared.store,
        query.prefix,
        query.moment(),
        after=query.after,
        limit=query.limit,
        reader=shared.listing,
    )
    return list_answer(
        {"next": page.next}, "memories", (memory._asdict() for memory in page.memories), lambda: page.warnings
    )


@router.get("/memories/{path:path}", response_model=models.Memory)
def get_memory(request: Request, path: MemoryPath, query: Annotated[AtQuery, Query()]) -> Response:
    """A memory's content, now or at a row or time."""
    return answer(reading.get(served(request).store, path, query.moment()))
