"""A server for each test, in a thread and on loopback, and a client that sends URLs exactly as they are written."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from cyberos.api import app, security, server
from cyberos.core import store as stores
from cyberos.core.writer import Writer


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, str]:
        return self.status, self.json["error"]["code"]


class Rest(NamedTuple):
    """A server that runs, and its store."""

    port: int
    store: Path

    def get(self, url: str, *, method: str = "GET", headers: dict[str, str] | None = None) -> Answer:
        """Asks for a URL below `/api/v2/`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, f"/api/v2/{url}", skip_host="Host" in (headers or {}))
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.endheaders()
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def memory(self, path: str, what: str = "", **query: object) -> Answer:
        """Asks about a memory."""
        pairs = "&".join(f"{name.removesuffix('_')}={quote(str(value))}" for name, value in query.items())
        return self.get(f"memories/{quote(path)}{what and '/' + what}{pairs and '?' + pairs}")


@contextmanager
def running(store: Path, rules: security.Policy | None = None, *, unforeseen: bool = False) -> Iterator[Rest]:
    """Serves a store."""
    listener = server.listen("127.0.0.1", 0)
    application = app.create(str(store), rules or security.policy("127.0.0.1", None))
    if unforeseen:
        application.add_api_route("/api/v2/unforeseen", _unforeseen)
    made = server.Server(server.config_of(lambda: application))
    thread = threading.Thread(target=made.run, args=([listener],))
    thread.start()
    try:
        while not made.started and thread.is_alive():
            time.sleep(0.001)
        yield Rest(listener.getsockname()[1], store)
    finally:
        made.should_exit = True
        thread.join(20)
        listener.close()


def _unforeseen() -> None:
    raise ZeroDivisionError("a secret of the server")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """A server for all tests of a file, for those that only read: `memories/facts/x.md` has two versions."""
    store = stores.init(tmp_path_factory.mktemp("shared") / "store")
    with Writer(store, actor="ann") as writer:
        writer.put("memories/facts/x.md", "one\n")
        writer.put("memories/facts/x.md", "two\n")
    with running(store) as rest:
        yield rest


@pytest.fixture
def serving() -> Callable[..., Any]:
    return running


@pytest.fixture
def rest(store: Path) -> Iterator[Rest]:
    with running(store) as rest:
        yield rest
