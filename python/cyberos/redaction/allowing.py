"""What may stay though it looks like a secret or personal data."""

import re
from collections.abc import Iterable
from typing import Final, Self

from cyberos.config import Redaction
from cyberos.errors import BadArgument

LONGEST: Final = 1_000
# An expression that matches all of these says nothing about what it is meant for.
_UNLIKE: Final = ("AKIA" + "Q3EGZ7R2W5T8Y1U4", "4111 1111 1111 1111", "ann@example.com")


class Allow:
    """An allow-list: texts that may stay as they are, and expressions for such texts.

    An expression (`re`'s language) must match all of what was found, not a part.
    """

    __slots__ = ("exact", "patterns")

    exact: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def __init__(self, exact: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        """Takes both lists; raises `BadArgument` for an entry that cannot be meant."""
        self.exact = frozenset(_checked(text) for text in exact)
        self.patterns = tuple(_compiled(_checked(pattern)) for pattern in patterns)

    @classmethod
    def of(cls, settings: Redaction, exact: Iterable[str] = (), patterns: Iterable[str] = ()) -> Self:
        """Returns what a store's settings allow, and more."""
        return cls((*settings.allow, *exact), (*settings.allow_patterns, *patterns))

    def allows(self, *spellings: str) -> bool:
        """Whether what was found may stay; `spellings` is how it stands there and how it reads."""
        return not self.exact.isdisjoint(spellings) or any(
            pattern.fullmatch(text) for pattern in self.patterns for text in spellings
        )


def _checked(entry: str) -> str:
    if not entry.strip():
        raise BadArgument("an entry of the allow-list is empty", argument="allow")
    if len(entry) > LONGEST:
        raise BadArgument(
            f"an entry of the allow-list is longer than {LONGEST:,} characters: {entry[:40]}…", argument="allow"
        )
    return entry


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadArgument(f"{pattern!r} is no regular expression: {error}", argument="allow") from None
    if all(compiled.fullmatch(text) for text in _UNLIKE):
        raise BadArgument(
            f"{pattern!r} would allow everything", argument="allow", hint="say what the texts it is meant for look like"
        )
    return compiled
