"""The compiled part of cyberos. Only `cyberos.core` imports it."""

from typing import Any, Final

__version__: Final[str]
is_debug: Final[bool]

def parse_json(text: bytes) -> Any:
    """Returns the object that JSON in UTF-8 says; `BadArgument` where it is not JSON, or repeats a key."""

def canonical_json(value: Any) -> bytes:
    """Returns the canonical JSON of an object: the one spelling that a row may have."""
