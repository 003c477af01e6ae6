"""One spelling of JSON, whose bytes are hashed: keys sorted, no white space, UTF-8.

Numbers are whole and fit into a double: others are read as something else somewhere. Times are written as texts.
"""

import hashlib
from typing import Any, Final

from cyberos.errors import FactRefused

_EXACT: Final = 1 << 53
_DEPTH: Final = 32


def encode(value: Any) -> bytes:
    """Returns the canonical bytes; raises `FactRefused` for what has none."""
    import json

    _check(value, _DEPTH)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise FactRefused(f"this is not valid Unicode: {error.reason}") from None


def digest(value: Any) -> bytes:
    """Returns the SHA-256 of the canonical bytes."""
    return hashlib.sha256(encode(value)).digest()


def _check(value: Any, depth: int) -> None:
    if depth == 0:
        raise FactRefused(f"JSON is nested more than {_DEPTH} deep")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise FactRefused(f"a key that is no text: {key!r}")
            _check(item, depth - 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, int):
        if not -_EXACT < value < _EXACT:
            raise FactRefused(f"a number that not every reader can hold: {value}", hint="write it as a text")
    elif value is not None and not isinstance(value, str):
        raise FactRefused(f"a value that is not exact in JSON: {value!r}", hint="write it as a text")
