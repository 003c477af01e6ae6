"""The log, row by row."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos.api import models
from cyberos.api.answers import answer, list_answer
from cyberos.api.parameters import RowsQuery, Seq
from cyberos.api.served import served
from cyberos.operations import rows as operations

router = APIRouter(tags=["rows"])


@router.get("/rows", response_model=models.RowsAnswer)
def rows(request: Request, query: Annotated[RowsQuery, Query()]) -> Response:
    """The rows of the log, oldest first unless asked for the other way round."""
    store, reader, *_ = served(request)
    found = operations.rows(
        store,
        after=query.after,
        before=query.before,
        limit=query.limit,
        newest_first=query.newest_first,
        reader=reader,
    )
    return list_answer({"next": found.next}, "rows", (row._asdict() for row in found.rows), lambda: found.warnings)


@router.get("/rows/{seq}", response_model=models.Row)
def row(request: Request, seq: Seq) -> Response:
    """One row of the log."""
    store, reader, *_ = served(request)
    return answer(operations.row(store, seq, reader=reader))
