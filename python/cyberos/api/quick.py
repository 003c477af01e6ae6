"""Histories, as most ask for them: answered before the framework reads the request, in the event loop.

What is asked here is asked of the route for histories just as well, and the answers are the same. Taken are only the
questions whose answer takes a fraction of a millisecond, whatever the size of the log; the route gets all others.
"""

import re
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from cyberos.api.answers import encode
from cyberos.api.parameters import HISTORY_LIMIT, decoded
from cyberos.api.served import Served
from cyberos.core import history

_BEGIN: Final = "/memories/"
_END: Final = "/history"
_QUERY: Final = re.compile(rb"(?:limit=([1-9][0-9]{0,2}))?")


class QuickHistories:
    """Answers what is plain, and hands everything else on."""

    def __init__(self, app: ASGIApp, served: Served, prefix: str) -> None:
        self._app, self._served, self._begin = app, served, prefix + _BEGIN

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        content = self._content(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if content is None:
            await self._app(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(content)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _content(self, scope: Scope) -> bytes | None:
        url: str = scope["path"]
        if not (url.startswith(self._begin) and url.endswith(_END)) or len(url) < len(self._begin) + len(_END):
            return None
        asked = _QUERY.fullmatch(scope["query_string"])
        if asked is None:
            return None
        path = decoded(url[len(self._begin) : -len(_END)])
        self._served.require()
        page = history.page(self._served.quick, path, int(asked[1] or HISTORY_LIMIT))
        return None if page is None else b'{"path":' + encode(path) + b',"entries":' + page + b"}"
