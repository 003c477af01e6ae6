"""The application: the routes, and what becomes of errors."""

from http import HTTPStatus
from typing import Any, Final

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.responses import Response

from cyberos import __version__
from cyberos.api.answers import argument_error, error_answer
from cyberos.api.models import ErrorAnswer
from cyberos.api.quick import QuickHistories
from cyberos.api.routes import ROUTERS
from cyberos.api.security import Guard, Policy
from cyberos.api.served import Served
from cyberos.errors import BadArgument, CyberosError, EndpointNotFound, MethodRefused

PREFIX: Final = "/api/v2"
OPENAPI: Final = f"{PREFIX}/openapi.json"
# Checks of a whole log at a time: each keeps a processor busy.
_CHECKS: Final = 2
# Nothing is measured or sent anywhere, whatever the environment says.
_NO_TELEMETRY: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": ErrorAnswer, "description": "The request cannot be answered; docs/errors.md lists the codes"},
    "5XX": {"model": ErrorAnswer, "description": "The store or the machine is not as it must be"},
}


def create(store: str, rules: Policy) -> FastAPI:
    """Returns the application that serves a store; raises what opening the store raises."""
    app = FastAPI(
        title="cyberos",
        summary="The memory of AI agents that its owner can audit",
        version=__version__,
        openapi_url=OPENAPI,
        # These pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        responses=_ERRORS,
    )
    app.state.served = shared = Served.open(store)
    app.state.long_work = CapacityLimiter(_CHECKS)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.add_middleware(QuickHistories, served=shared, prefix=PREFIX)
    app.add_middleware(Guard, rules=rules)
    app.add_exception_handler(CyberosError, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(HTTPException, _told)
    return app


async def _told(request: Request, error: Exception) -> Response:
    return error_answer(_of_the_family(request, error))


def _of_the_family(request: Request, error: Exception) -> CyberosError:
    if isinstance(error, CyberosError):
        return error
    if isinstance(error, RequestValidationError):
        return argument_error(error.errors())
    url = request.scope["path"]
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        method = request.method
        return MethodRefused(f"{url} does not take {method}", method=method, hint="use GET")
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND:
        return EndpointNotFound(f"nothing is served at {url}", url=url, hint=f"{OPENAPI} lists what is")
    return BadArgument(str(error))
