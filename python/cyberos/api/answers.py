"""Answers: JSON in one piece where that is small, streamed where it is not."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import orjson
from starlette.responses import Response, StreamingResponse

from cyberos.answers import encode_json, to_dict
from cyberos.api.statuses import status_of
from cyberos.errors import BadArgument, CyberosError, MethodRefused, StoreLocked, TokenRefused

_JSON: Final = "application/json"
# What is put together before it is sent: answers up to this size have a length and cost one step.
_PIECE: Final = 256 * 1024


def encode(value: object) -> bytes:
    """Returns JSON in UTF-8."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a number beyond 64 bits, or what is not valid Unicode
        return encode_json(value).rstrip(b"\n")


def answer(result: object) -> Response:
    """Answers with a result of the operations."""
    return Response(encode(to_dict(result)), media_type=_JSON)


def list_answer(
    head: Mapping[str, object], name: str, items: Iterable[object], warnings: Callable[[], Iterable[str]]
) -> Response:
    """Answers with `head`, the list `name`, and `warnings` where there are any; items are encoded as they are sent.

    Warnings are asked for when all items are done.
    """
    pieces = _pieces(_list_text(head, name, items, warnings))
    first = next(pieces)
    second = next(pieces, None)
    if second is None:
        return Response(first, media_type=_JSON)
    return StreamingResponse(itertools.chain((first, second), pieces), media_type=_JSON)


def _list_text(
    head: Mapping[str, object], name: str, items: Iterable[object], warnings: Callable[[], Iterable[str]]
) -> Iterator[bytes]:
    start = encode(head)[:-1]
    yield start + (b"," if head else b"") + encode(name) + b":["
    comma = b""
    for item in items:
        yield comma + encode(item)
        comma = b","
    told = list(warnings())
    yield b'],"warnings":' + encode(told) + b"}" if told else b"]}"


def _pieces(texts: Iterator[bytes]) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size >= _PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def error_answer(error: CyberosError) -> Response:
    """Answers with an error: the status of the table, and what `--json` says of it."""
    headers = {}
    if isinstance(error, TokenRefused):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodRefused):
        headers["Allow"] = "GET"
    if isinstance(error, StoreLocked):
        headers["Retry-After"] = "1"
    content = encode({"error": error.as_dict()})
    return Response(content, status_of(type(error)), headers, media_type=_JSON)


def argument_error(problems: Iterable[Mapping[str, Any]]) -> BadArgument:
    """Returns what is wrong with a request's parameters as an error of the family; the first problem counts."""
    first = next(iter(problems), {})
    name = str(first.get("loc", ("",))[-1])
    if first.get("type") == "extra_forbidden":
        return BadArgument(
            f"there is no parameter {name!r}", argument=name, hint="the URL /api/v2/openapi.json lists them"
        )
    what = str(first.get("msg", "it cannot be read")).replace("Input should be", "it must be")
    return BadArgument(f"the parameter {name!r} cannot be used: {what}", argument=name)
