"""What a word is, in any script, and what a query asks for.

Texts and queries are folded alike: case, accents and compatibility forms do not count. A token is a run of letters,
digits and the marks that belong to them. Scripts that put no spaces between words (Han, kana, Thai, Lao, Khmer,
Burmese), and symbols, have one token for each character, so that a word of such a script is found wherever its
characters stand side by side.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from cyberos.errors import BadArgument

# Stands between texts that no phrase may span; no folded text has it.
BREAK: Final = "\ue000"
# In a folded text: what is not a token's is a space or an ASCII sign.
_TOKEN: Final = re.compile("[0-9a-z\u0080-\U0010ffff]+")
_PART: Final = re.compile(r'"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+)')
# Marks by their combining class: points and accents can be left out in writing; vowel signs, viramas and tones cannot.
_ACCENTS: Final = frozenset({*range(10, 37), *range(200, 241)})
_UNSPACED: Final = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF)),
)


class Term(NamedTuple):
    """Tokens that stand side by side; with `prefix` the last of them may go on."""

    tokens: tuple[str, ...]
    prefix: bool = False


def fold(text: str) -> str:
    """Returns a text in which tokens that mean the same are the same, with spaces or ASCII signs between them."""
    if text.isascii():
        return text.lower()
    from unicodedata import normalize

    plain = normalize("NFKD", normalize("NFKD", text).casefold()).translate(_without_accents)
    return normalize("NFC", plain).translate(_with_spaces)


def tokens(text: str) -> list[str]:
    """Returns the tokens of a text."""
    return _TOKEN.findall(fold(text))


def parse(query: str) -> tuple[Term, ...]:
    """Returns what a memory has to have: words, `"phrases"`, and `begin*`; all else is text like any other.

    A word that is several tokens (`e-mail`) is a phrase of them. Raises `BadArgument` where there is no word at all.
    """
    terms: dict[Term, None] = {}
    for part in _PART.finditer(query):
        word = part["word"]
        found = tuple(tokens(part["phrase"] if word is None else word))
        if found:
            terms[Term(found, prefix=word is not None and word.endswith("*"))] = None
    if not terms:
        raise BadArgument(
            f"there is no word in the query {query!r}",
            argument="QUERY",
            hint='give words, which must all be there, a "phrase" in quotes, or the beginning of a word: deploy*',
        )
    return tuple(terms)


class _Table(dict[int, str | None]):
    """What becomes of each character; asked once for each that occurs."""

    def __init__(self, make: Callable[[int], str | None]) -> None:
        self._make = make

    def __missing__(self, code: int) -> str | None:
        made = self[code] = self._make(code)
        return made


def _without_accent(code: int) -> str | None:
    from unicodedata import combining

    return None if combining(chr(code)) in _ACCENTS else chr(code)


def _with_space(code: int) -> str:
    from unicodedata import category

    char = chr(code)
    kind = category(char)
    if kind == "So" or (kind[0] in "LMN" and any(first <= code <= last for first, last in _UNSPACED)):
        return f" {char} "
    return char if code < 0x80 or kind[0] in "LMN" else " "  # noqa: PLR2004, the end of ASCII


_without_accents: Final = _Table(_without_accent)
_with_spaces: Final = _Table(_with_space)
