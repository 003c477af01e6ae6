"""Replaces what is found."""

import functools
from collections.abc import Callable
from typing import NamedTuple

from cyberos import _native
from cyberos.errors import BadArgument
from cyberos.redaction import validators
from cyberos.redaction.allowing import Allow

_SEVERITY = {tag: rank for rank, tag in enumerate(_native.redaction_tags())}


class Redacted(NamedTuple):
    """A text without what was found. What that was is not kept.

    `counts` says how often each tag was put in, by name; `allowed` how many candidates the allow-list let stand.
    """

    text: str
    counts: dict[str, int]
    allowed: int

    @property
    def total(self) -> int:
        """How often anything was replaced."""
        return sum(self.counts.values())


class _Span(NamedTuple):
    """A part of a text, in characters, that a tag takes the place of."""

    start: int
    end: int
    tag: str


def redact_text(text: str, allow: Allow | None = None) -> Redacted:
    """Returns `text` with `<TAG>` where secrets and personal data were; doing so again changes nothing.

    Raises `ExtraMissing` where the validators are not installed, and `BadArgument` where the text is not valid Unicode.
    """
    validators.require()
    _check(text)
    allow = allow or Allow()
    counts: dict[str, int] = {}
    # What was refused is proposed again in each round. No answer outlives the call, since that would keep the values.
    confirms = functools.cache(validators.confirms)
    spans, allowed = _spans(text, allow, confirms)
    # What stood beside a value may read as another one without it, so look again until there is none. Each round
    # replaces a character that is of no tag, and puts in only tags: it ends.
    while spans:
        for span in spans:
            counts[span.tag] = counts.get(span.tag, 0) + 1
        text = _replaced(text, spans)
        spans, allowed = _spans(text, allow, confirms)
    return Redacted(text, dict(sorted(counts.items())), allowed)


def _check(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadArgument(
            f"the text is not valid Unicode: a lone surrogate at character {error.start}", argument="text"
        ) from None


def _spans(text: str, allow: Allow, confirms: Callable[[str | None, str], bool]) -> tuple[list[_Span], int]:
    """Returns what to replace, in order and apart from each other, and how many candidates are allowed."""
    spans: list[_Span] = []
    allowed = set()
    for tag, check, start, end, value in _native.redaction_candidates(text):
        covered = spans and end <= spans[-1].end and _SEVERITY[spans[-1].tag] <= _SEVERITY[tag]
        if covered or not confirms(check, value):
            continue
        if allow.allows(text[start:end], value):
            allowed.add((start, end))
        elif spans and start < spans[-1].end:
            # Of two that overlap, neither may leave a rest: one tag takes the place of both, that of the more severe.
            last = spans.pop()
            severest = min(last.tag, tag, key=_SEVERITY.__getitem__)
            spans.append(_Span(last.start, max(last.end, end), severest))
        else:
            spans.append(_Span(start, end, tag))
    return spans, len(allowed)


def _replaced(text: str, spans: list[_Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], f"<{span.tag}>")
        at = span.end
    return "".join((*parts, text[at:]))
