"""What a block says, and the bytes that are kept of it."""

import hashlib
import unicodedata
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cyberos.blocks import canonical
from cyberos.errors import BadArgument, FactRefused

MAX_FACTS: Final = 1_000
MAX_TEXT_BYTES: Final = 64 << 10
MAX_PAYLOAD_BYTES: Final = 256 << 10
_MAX_TOPIC: Final = 200
_MAX_KEY: Final = 200
_SUMMARY: Final = 120

# How tokens are estimated; counted up when that changes, since estimates are stored.
ESTIMATOR: Final = "v1"
_BYTES_PER_TOKEN: Final = 4
_TOKENS_AROUND: Final = 8


class Fact(NamedTuple):
    """One thing worth knowing.

    `topic` is what it is about: two branches that say something of the same topic are told to disagree. `key` is the
    fact's identity within its session: appended again, it is the same block. `resolves` names conflicts that it
    settles. `data` is any JSON beside the text. `occurred_ns` is when it came to be known, by default now.
    """

    text: str
    topic: str | None = None
    key: str | None = None
    resolves: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    occurred_ns: int | None = None


class Content(NamedTuple):
    """A block's body, ready to be kept."""

    payload: bytes
    sha256: bytes
    summary: str
    topic: str | None
    tokens: int


def content_of(fact: Fact, place: int = 0) -> Content:
    """Returns what is kept of a fact; raises `FactRefused`. `place` is the fact's, from 0, in its request."""
    if not fact.text.strip():
        raise FactRefused("a fact needs a text", place=place)
    payload: dict[str, Any] = {"text": fact.text}
    if fact.topic is not None:
        payload["topic"] = name("topic", fact.topic, _MAX_TOPIC)
    if fact.key is not None:
        name("key", fact.key, _MAX_KEY)
    if fact.data is not None:
        payload["data"] = dict(fact.data)
    if fact.resolves:
        payload["resolves"] = sorted(set(fact.resolves))
    try:
        return _content(payload, payload.get("topic"))
    except FactRefused as error:
        raise FactRefused(error.message, place=place, hint=error.hints) from None


def evidence(text: str | None, **facts: Any) -> Content:
    """Returns the body of a block that says how a session began or ended."""
    payload = {name: value for name, value in facts.items() if value is not None}
    if text is not None:
        payload["text"] = text
    return _content(payload, None)


def _content(payload: dict[str, Any], topic: str | None) -> Content:
    raw = canonical.encode(payload)
    text = payload.get("text", "")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise FactRefused(f"a text of {size} bytes; a block takes {MAX_TEXT_BYTES}", hint="split it")
    if len(raw) > MAX_PAYLOAD_BYTES:
        raise FactRefused(f"a fact of {len(raw)} bytes; a block takes {MAX_PAYLOAD_BYTES}", hint="split it")
    return Content(raw, hashlib.sha256(raw).digest(), _summary(text), topic, tokens_of(text) if text else 0)


def tokens_of(text: str) -> int:
    """Returns about how many tokens a text takes, with what stands around it."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN) + _TOKENS_AROUND


def name(what: str, text: str, most: int) -> str:
    """Returns a name in one spelling; raises `BadArgument` where it cannot be one."""
    spelled = " ".join(unicodedata.normalize("NFC", text).split())
    if not 0 < len(spelled) <= most or any(unicodedata.category(char)[0] == "C" for char in spelled):
        raise BadArgument(f"a {what} has 1 to {most} characters that can be shown, not {text[:most]!r}", argument=what)
    return spelled


def _summary(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "").strip()
    line = "".join(" " if unicodedata.category(char) == "Cc" else char for char in line)
    return line if len(line) <= _SUMMARY else line[: _SUMMARY - 1] + "…"
