"""Ids: made here and never by clients, so that none says whether another's thing exists."""

import os
from typing import Final

from cyberos import clock

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS: Final = 80
_MS: Final = 1_000_000


def new(kind: str) -> str:
    """Returns `kind`, an underscore and 26 characters, of which the first ten are the time: newer ids sort behind."""
    number = (clock.now_ns() // _MS) << _RANDOM_BITS | int.from_bytes(os.urandom(_RANDOM_BITS // 8), "big")
    return f"{kind}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
