"""The compiled part of cyberos. Only `cyberos.core` imports it."""

from typing import Final

__version__: Final[str]
is_debug: Final[bool]
