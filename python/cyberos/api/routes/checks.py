"""Whether all is as it must be."""

import threading
from typing import Annotated, Final

import anyio
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from cyberos.api import models
from cyberos.api.answers import answer, error_answer
from cyberos.api.parameters import VerifyQuery
from cyberos.api.served import served
from cyberos.errors import CyberosError
from cyberos.operations import health as healths
from cyberos.operations import verify as operations

router = APIRouter(tags=["checks"])


# Nobody gets this status; it is what some servers log.
_CLIENT_GONE: Final = 499


class _GoneError(Exception):
    """Nobody waits for the answer any more."""


@router.get("/health", response_model=models.Health)
def health(request: Request) -> Response:
    """Whether the store can be read."""
    store, reader, *_ = served(request)
    return answer(healths.health(store, reader=reader))


@router.get("/verify", response_model=models.Verified)
async def verify(request: Request, query: Annotated[VerifyQuery, Query()]) -> Response:
    """Checks the whole log; findings are an answer and no error. Ends when the client hangs up."""
    gone = threading.Event()

    def report(_what: str, _done: int, _total: int | None) -> None:
        if gone.is_set():
            raise _GoneError

    async def watch() -> None:
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        finally:  # also where the server is told to end
            gone.set()

    def check() -> operations.Verified:
        return operations.verify(served(request).store, deep=query.deep, progress=report)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            said = answer(await to_thread.run_sync(check, limiter=request.app.state.long_work))
        except _GoneError:
            said = Response(status_code=_CLIENT_GONE)
        except CyberosError as error:  # here: the group would wrap it
            said = error_answer(error)
        finally:
            group.cancel_scope.cancel()
    return said
