"""Searching the memories there are."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos.answers import to_dict
from cyberos.api import models
from cyberos.api.answers import list_answer
from cyberos.api.parameters import SearchQuery
from cyberos.api.served import served
from cyberos.operations import search as operations

router = APIRouter(tags=["search"])


@router.get("/search", response_model=models.SearchAnswer)
def search(request: Request, query: Annotated[SearchQuery, Query()]) -> Response:
    """The memories that have all of the words, the best match first. Brings the index in the store up to date."""
    found = operations.search(
        served(request).store,
        query.q,
        limit=query.limit,
        kind=query.kind,
        tags=query.tag,
        actor=query.actor,
        since=query.since,
        until=query.until,
    )
    return list_answer({}, "hits", map(to_dict, found.hits), lambda: found.warnings)
