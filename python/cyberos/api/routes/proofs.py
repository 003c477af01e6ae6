"""What makes a rewritten log show: signed heads, and proofs for those who have no store. Nothing is signed here."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from cyberos.api import models
from cyberos.api.answers import answer
from cyberos.api.parameters import ConsistencyQuery, MemoryPath, ProofQuery
from cyberos.api.served import served
from cyberos.operations import checkpoints
from cyberos.operations import proofs as operations

router = APIRouter(tags=["proofs"])


@router.get("/checkpoints", response_model=models.HeadsAnswer)
def list_checkpoints(request: Request) -> Response:
    """The signed heads of the log."""
    return answer(checkpoints.list_heads(served(request).store))


@router.get("/consistency", response_model=models.Consistency)
def consistency(request: Request, query: Annotated[ConsistencyQuery, Query()]) -> Response:
    """Proves that the log continues what it was with fewer rows."""
    store, reader, *_ = served(request)
    return answer(operations.consistency(store, query.old, query.new, reader=reader))


@router.get("/memories/{path:path}/proof", response_model=models.Proof)
def prove(request: Request, path: MemoryPath, query: Annotated[ProofQuery, Query()]) -> Response:
    """Proves the row that wrote a version of a memory, under a signed head that is there."""
    return answer(operations.prove(served(request).store, path, query.moment(), None, with_body=query.body))
