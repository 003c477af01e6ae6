"""`cyberos serve`."""

import os
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import ExtraMissing

_PORT = 8710
_VARIABLE = "CYBEROS_TOKEN"


class Serving(NamedTuple):
    """What is served and where, and whether a token is demanded."""

    url: str
    store: str
    token: bool


@click.command(cls=Command)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Listen at this address [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), default=_PORT, metavar="N", help=f"… and port [{_PORT}]")
@click.option("--token-file", metavar="FILE", help="Demand the token in FILE, which only you may read [CYBEROS_TOKEN]")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Answer also under this host name")
@click.option("--workers", type=click.IntRange(1, 64), default=1, metavar="N", help="Answer with N processes [1]")
@pass_settings
def serve(
    settings: Settings, host: str, port: int, token_file: str | None, hosts: tuple[str, ...], workers: int
) -> None:
    """Serve the store over HTTP, for reading.

    Whoever can reach the address can read everything, unless a token is demanded: beyond this machine it has to be.
    Clients send it as `Authorization: Bearer TOKEN`. /api/v2/openapi.json says what can be asked. Ctrl-C ends it.
    """
    try:
        from cyberos.api import app, security, server
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"cyberos serve needs {error.name}, which is not installed",
            extra="serve",
            hint="pip install 'cyberos[serve]'",
        ) from None
    store = settings.store()
    token = server.read_token(token_file) if token_file is not None else os.environ.get(_VARIABLE) or None
    if token is not None:
        server.check_token(token, token_file or _VARIABLE)
    with server.listen(host, port) as listener:
        rules = security.policy(listener.getsockname()[0], token, hosts)
        make = partial(app.create, store, rules)
        make()  # what is wrong with the store is told before anything is served
        serving = Serving(server.url_of(listener), store, token is not None)
        output.emit(serving, _human, as_json=settings.json)
        output.flush()
        server.run(server.config_of(make, workers), listener)


def _human(serving: Serving) -> Iterator[str]:
    who = "whoever has the token" if serving.token else "whoever uses this machine"
    yield f"serving {output.printable(serving.store)} at {serving.url} to {who}"
