"""The part of a text that shows why it was found."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cyberos.core.search import words
from cyberos.core.search.words import Term

_LENGTH: Final = 160
# How much of a long line is shown before the first hit in it.
_LEAD: Final = 40
_RUN: Final = re.compile("[0-9A-Za-z\u0080-\U0010ffff]+")

Span = tuple[int, int]


class Snippet(NamedTuple):
    """A part of a text in one line, and where the words asked for stand in it: (begin, end) in characters."""

    text: str
    highlights: tuple[Span, ...]


def snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """Returns the part of `text` that has most of the terms, or its beginning."""
    # A phrase may span lines, or stand in the title: then its words alone are shown.
    singles = [Term((token,)) for term in terms for token in term.tokens]
    for wanted in (terms, singles):
        start = _best_start(text, wanted)
        if start is not None:
            return _cut(text, start, wanted)
    return _cut(text, 0, singles)


def _best_start(text: str, terms: Sequence[Term]) -> int | None:
    """Returns where to begin so that most of the terms are shown; `None` where there are none."""
    most, best, begin = 0, None, 0
    needles = {token for term in terms for token in term.tokens}
    for line in text.splitlines(keepends=True):
        folded = words.fold(line)
        if any(token in folded for token in needles):
            spans = _spans(line, terms)
            count = len(set(spans.values()))
            if count > most:
                first = min(spans)[0]
                most, best = count, begin + (first - _LEAD if first + _LEAD > _LENGTH else 0)
                if most == len(terms):
                    break
        begin += len(line)
    return best


def _cut(text: str, start: int, terms: Sequence[Term]) -> Snippet:
    end = start + _LENGTH
    part = text[start:end]
    if start and not text[start - 1].isspace():  # from the next word on, if there is one
        _, _, rest = part.partition(" ")
        part = rest or part
    shown = " ".join(part.split())
    shown = ("…" if text[:start].strip() else "") + shown + ("…" if text[end:].strip() else "")
    merged: list[Span] = []
    for begin, stop in sorted(_spans(shown, terms)):
        if merged and merged[-1][1] >= begin:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((begin, stop))
    return Snippet(shown, tuple(merged))


def _spans(line: str, terms: Sequence[Term]) -> dict[Span, Term]:
    """Returns where terms stand, token by token."""
    placed = list(_tokens(line))
    found: dict[Span, Term] = {}
    firsts = {term.tokens[0] for term in terms}
    begins = tuple(term.tokens[0] for term in terms if term.prefix and len(term.tokens) == 1)
    for place, (_, _, token) in enumerate(placed):
        if token not in firsts and not token.startswith(begins):
            continue
        for term in terms:
            there = placed[place : place + len(term.tokens)]
            if _is(term, [each for _, _, each in there]):
                found.update({(begin, end): term for begin, end, _ in there})
    return found


def _is(term: Term, tokens: list[str]) -> bool:
    if not term.prefix:
        return tuple(tokens) == term.tokens
    *whole, last = term.tokens
    return len(tokens) == len(term.tokens) and tokens[:-1] == whole and tokens[-1].startswith(last)


def _tokens(line: str) -> Iterator[tuple[int, int, str]]:
    if line.isascii():
        yield from ((run.start(), run.end(), run[0]) for run in _RUN.finditer(words.fold(line)))
        return
    for run in _RUN.finditer(line):
        for begin, end in _parts(run[0]):
            for token in words.tokens(run[0][begin:end]):
                yield run.start() + begin, run.start() + end, token


def _parts(run: str) -> Iterator[Span]:
    """Yields where a run has to be taken apart: at characters that are tokens of their own, and at signs."""
    begin = 0
    for place, char in enumerate(run):
        folded = words.fold(char)  # nothing where it is an accent
        if folded and _RUN.match(folded) is None:
            yield begin, place
            yield place, place + 1
            begin = place + 1
    yield begin, len(run)
