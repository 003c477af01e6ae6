"""Listening, serving, and the token that is demanded."""

import errno
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors.multiprocess import SIGNALS, Multiprocess

from cyberos.errors import AddressInUse, BadArgument, BadConfig, CyberosError, IoFailure, command

_BACKLOG: Final = 512
# Seconds that open requests have to end after the first signal.
_GRACE: Final = 5
# Seconds after which a thread that computes lets others go on.
_SWITCH_S: Final = 0.001
_MIN_TOKEN, _MAX_TOKEN = 16, 1_024


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens; port 0 is any free one. Raises `AddressInUse`, `BadArgument` or `IoFailure`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise BadArgument(f"cannot find the host {host!r}: {error}", argument="--host") from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A port that only waits for old connections to end is free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(
                f"another program listens at {host} port {port}",
                host=host,
                port=port,
                hint="choose another with --port; 0 takes any that is free",
            ) from None
        if error.errno in (errno.EADDRNOTAVAIL, errno.EACCES):
            raise BadArgument(f"cannot listen at {host} port {port}: {error.strerror}", argument="--host") from None
        raise IoFailure(f"cannot listen at {host} port {port}: {error.strerror}", errno=error.errno) from error
    return listener


def url_of(listener: socket.socket) -> str:
    """Returns the URL of a listening socket."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


class Server(uvicorn.Server):
    """A server in which those who compute do not keep those waiting who answer."""

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers what comes to the sockets until it is told to end."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            super().run(sockets)
        finally:
            sys.setswitchinterval(before)


class Processes(Multiprocess):
    """Processes that answer at one address, and the signal that ended them."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        self._before = {number: signal.getsignal(number) for number in SIGNALS}
        self._ended_by: signal.Signals | None = None
        super().__init__(config, sockets)

    def handle_int(self) -> None:
        """Ends them after Ctrl-C."""
        self._ended_by = signal.SIGINT
        super().handle_int()

    def handle_term(self) -> None:
        """Ends them."""
        self._ended_by = signal.SIGTERM
        super().handle_term()

    def run(self) -> None:
        """Answers until a signal comes, which then takes its usual effect."""
        super().run()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._ended_by is None:
            raise CyberosError("the processes that answer do not start", hint="standard error says why")
        signal.raise_signal(self._ended_by)


def config_of(make: Callable[[], ASGIApp], workers: int = 1) -> uvicorn.Config:
    """Returns how an application is served; `make` makes it, in each process once."""
    return uvicorn.Config(
        make,
        factory=True,
        workers=workers,
        lifespan="off",
        ws="none",
        log_config=None,  # only what goes wrong, on standard error
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )


def run(config: uvicorn.Config, listener: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM comes, which then takes its usual effect."""
    if config.workers > 1:
        Processes(config, [listener]).run()
    else:
        Server(config).run([listener])


def read_token(file: str) -> str:
    """Returns the token in a file that only its owner can read; raises `BadConfig` or `IoFailure`."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            facts = os.fstat(handle.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise BadConfig(f"{file} is not a plain file", file=file)
            if facts.st_uid != os.geteuid():
                raise BadConfig(f"{file} belongs to another user", file=file, hint="make a file of your own")
            if facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                mode = stat.S_IMODE(facts.st_mode)
                raise BadConfig(
                    f"others may use {file}: its mode is {mode:04o}", file=file, hint=command("chmod", "600", file)
                )
            raw = handle.read(_MAX_TOKEN + 2)
    except OSError as error:
        raise IoFailure(f"cannot read {file}: {error.strerror}", file=file, errno=error.errno) from error
    return check_token(raw.decode("latin-1").strip(), file)


def check_token(token: str, source: str) -> str:
    """Returns a token that can be sent in a header and is not guessed; raises `BadConfig` that names its `source`."""
    hint = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))' makes one"
    if not _MIN_TOKEN <= len(token) <= _MAX_TOKEN:
        raise BadConfig(
            f"the token in {source} has not {_MIN_TOKEN} to {_MAX_TOKEN} characters", file=source, hint=hint
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise BadConfig(f"the token in {source} has characters that no header can carry", file=source, hint=hint)
    return token
