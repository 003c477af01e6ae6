"""How results are written as JSON: every surface that gives them to programs writes them so."""

import enum
import functools
from collections.abc import Callable
from typing import Any


def encode_json(value: object, indent: int | None = None) -> bytes:
    """Returns a result as JSON and a line feed."""
    text = _encoder(indent)(value)
    # What is not valid Unicode (a file name in another encoding) becomes an escape, which is valid JSON.
    return text.encode("utf-8", "backslashreplace") + b"\n"


@functools.cache
def _encoder(indent: int | None) -> Callable[[object], str]:
    """Returns what encodes; making it costs as much as a small result."""
    import json

    return json.JSONEncoder(indent=indent, ensure_ascii=False, default=_plain).encode


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_dict(value: Any) -> Any:
    """Returns a result with its named tuples as dictionaries and its bytes as JSON has them, all the way down."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: to_dict(item) for key, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [to_dict(item) for item in value]
    if isinstance(value, dict):
        return {key: to_dict(item) for key, item in value.items()}
    return _text_or_base64(value) if isinstance(value, bytes) else value


def _text_or_base64(content: bytes) -> str | dict[str, str]:
    """Returns content as text where it is UTF-8, else as `{"base64": …}`."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        import base64

        return {"base64": base64.b64encode(content).decode()}
