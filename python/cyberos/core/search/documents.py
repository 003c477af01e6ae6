"""A memory as the search index sees it: its newest version as the chain says, and which row gave it that."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from cyberos import _native
from cyberos.core.bodies import Bodies
from cyberos.core.reader import AuditChainReader
from cyberos.core.search import words

# Rows that are asked for at once in looking for the one that wrote a content.
_STEP: Final = 4


class Document(NamedTuple):
    """What is kept of a memory. `missing` says why its content cannot be searched; empty where it can.

    `seq`, `ts_ns` and `actor` are of the row that wrote the content, whatever moved it since. What is searched is
    folded: the path, the title, the texts in the frontmatter, and the body.
    """

    path: str
    sha256: str
    seq: int
    ts_ns: int
    actor: str
    kind: str | None
    title: str | None
    tags: tuple[str, ...]
    missing: str
    searched: tuple[str, str, str, str]

    def facets(self) -> list[str]:
        """Returns what can be filtered by, as tokens that no text has."""
        tags = [facet("tag", tag) for tag in self.tags]
        kind = [facet("kind", self.kind)] if self.kind is not None else []
        return [facet("actor", self.actor), *kind, *tags]


@lru_cache(maxsize=1_024)
def facet(name: str, value: str) -> str:
    """Returns the token that stands for a value; kinds and tags mean the same whatever their case and accents."""
    folded = value if name == "actor" else " ".join(words.tokens(value)) or value
    return f"{words.BREAK}{name}{folded.encode('utf-8', 'surrogatepass').hex()}"


def read(reader: AuditChainReader, bodies: Bodies, version: _native.Version, at: int) -> Document:
    """Returns a memory as it was after row `at`, when `version` was its newest."""
    writing = _writing_row(reader, version, at)
    row = writing or version
    content = bodies.get(version.content_sha256, version.path)
    fields, body = _taken_apart(content) if isinstance(content, bytes) else ({}, None)
    missing = content if isinstance(content, str) else "binary" if body is None else ""
    title = _title(fields, body or "")
    kind = fields.get("kind")
    searched = (
        words.fold(version.path),
        words.fold(title or ""),
        f" {words.BREAK} ".join(words.fold(text) for text in _texts(fields)),
        words.fold(body or ""),
    )
    return Document(
        path=version.path,
        sha256=version.content_sha256,
        seq=row.seq,
        ts_ns=row.ts_ns,
        actor=writing.actor if writing else "",
        kind=kind if isinstance(kind, str) else None,
        title=title,
        tags=_tags(fields.get("tags")),
        missing=missing,
        searched=searched,
    )


def text_of(content: bytes) -> str | None:
    """Returns the text below a content's frontmatter; `None` where it is not UTF-8."""
    return _taken_apart(content)[1]


def _writing_row(reader: AuditChainReader, version: _native.Version, at: int) -> _native.Entry | None:
    """Returns the row that wrote a version, also under a former name; `None` where it is damaged."""
    below, limit = at + 1, 1
    while True:
        entries, _ = reader.native.history(version.path, below=below, limit=limit)
        for entry in entries:
            if entry.writes:
                return entry if entry.content_sha256 == version.content_sha256 else None
        if len(entries) < limit:
            return None
        limit *= _STEP


def _taken_apart(content: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        whole = content.decode()
    except UnicodeDecodeError:
        return {}, None
    fields, why, body = _native.split_memory(content)
    # Frontmatter that cannot be read is text like any other.
    return (fields or {}, body.decode()) if why is None else ({}, whole)


def _title(fields: dict[str, Any], body: str) -> str | None:
    title = fields.get("title")
    if isinstance(title, str) and title.strip():
        return " ".join(title.split())
    for line in body.splitlines():
        if line.startswith("# ") and line[2:].strip():
            return " ".join(line[2:].split())
        if line.strip():
            return None
    return None


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    texts = [tag.strip() if isinstance(tag, str) else json.dumps(tag) for tag in value if _is_scalar(tag)]
    return tuple(dict.fromkeys(text for text in texts if text))


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
