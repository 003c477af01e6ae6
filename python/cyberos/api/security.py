"""What every request has to pass, and what every answer says to browsers."""

import hashlib
import hmac
import ipaddress
from collections.abc import Collection
from typing import Final, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cyberos.api.answers import error_answer
from cyberos.errors import BadArgument, CyberosError, HostRefused, TokenRefused

# Nothing is run, framed, embedded by other origins, guessed to be of another type, or kept.
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


class Policy(NamedTuple):
    """Who is let in: `token` is demanded where it is set; `hosts` are the names to be called by, `None` for any."""

    token: str | None
    hosts: frozenset[str] | None


def policy(address: str, token: str | None, hosts: Collection[str] = ()) -> Policy:
    """Returns the policy for a server that listens at an IP address; `hosts` are names that it has besides.

    A web page can make a browser ask this machine for anything, under a name of the page's own that resolves to
    loopback; it cannot make it send the token. So without one only the machine's own names are answered to.
    """
    if token is None and not is_loopback(address):
        raise BadArgument(
            f"{address} can be reached from other machines, so a token is needed",
            argument="--host",
            hint=("put one into CYBEROS_TOKEN, or into a file of mode 0600 for --token-file", "or listen on 127.0.0.1"),
        )
    names = frozenset(name.lower() for name in (*_LOOPBACK_NAMES, address, *hosts))
    return Policy(token, names if is_loopback(address) or hosts else None)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an IP address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


class Guard:
    """Lets in only what the policy allows, adds the headers, and has routes see the URL as it was sent."""

    def __init__(self, app: ASGIApp, rules: Policy) -> None:
        self._app, self._hosts = app, rules.hosts
        self._token = None if rules.token is None else _digest(rules.token.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            self._check(scope["headers"])
            # Names are decoded once, by `parameters`: a slash in one is not a slash between two.
            scope["path"] = scope["raw_path"].decode("latin-1")
            await self._app(scope, receive, send_guarded)
        except CyberosError as error:
            await error_answer(error)(scope, receive, send_guarded)
        except Exception as error:
            if not started:
                unforeseen = CyberosError(f"{type(error).__name__}: the server's log says more")
                await error_answer(unforeseen)(scope, receive, send_guarded)
            raise

    def _check(self, headers: list[tuple[bytes, bytes]]) -> None:
        if self._hosts is not None:
            named = [value for name, value in headers if name == b"host"]
            host = _host_name(named[0].decode("latin-1")) if len(named) == 1 else ""
            if host not in self._hosts:
                raise HostRefused(
                    f"this server does not answer for the host {host!r}",
                    host=host,
                    hint="its owner may start it with --allow-host",
                )
        if self._token is not None:
            given = [value for name, value in headers if name == b"authorization"]
            scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
            # Digests have one length, so that not even the token's length can be timed.
            if scheme.lower() != b"bearer" or not hmac.compare_digest(_digest(token.strip()), self._token):
                raise TokenRefused(
                    "the token is not this server's" if token else "this server demands a token",
                    hint="send the header `Authorization: Bearer TOKEN`",
                )


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _host_name(value: str) -> str:
    """Returns the name in a Host header, without the port and without brackets."""
    if value.startswith("["):
        name, closed, _ = value[1:].partition("]")
        return name.lower() if closed else ""
    return value.partition(":")[0].rstrip(".").lower()
