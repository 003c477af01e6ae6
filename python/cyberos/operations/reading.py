"""Reading memories: as they are, and as they were."""

from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core import edits, paths, sidecar
from cyberos.core import history as core
from cyberos.core.reader import AuditChainReader, describe
from cyberos.errors import BadArgument


class Memory(NamedTuple):
    """A memory's content. `edited` says that the working file was changed by hand since row `seq`.

    `frontmatter` has its fields, also those of a sidecar; null where it has none, or with a reason where they cannot be
    read. `sidecar` is the file beside it that holds fields of this content.
    """

    path: str
    seq: int | None
    ts: str | None
    body_hash: str
    edited: bool
    content: bytes
    frontmatter: dict[str, Any] | None
    frontmatter_reason: str | None
    sidecar: str | None
    warnings: tuple[str, ...]


class Listed(NamedTuple):
    """A memory in a list: the row that gave it its content or name."""

    path: str
    seq: int
    ts: str
    body_hash: str


class Listing(NamedTuple):
    """Memories by name, and what could not be read."""

    memories: list[Listed]
    warnings: list[str]


def get(store: str, path: str, at: clock.At | None = None) -> Memory:
    """Returns a memory's content; with `at` the version that had this name then."""
    paths.check_memory(path)
    reader = AuditChainReader(store)
    found = edits.working(reader, path) if at is None else None
    if found is None:
        version = core.version(reader, path, at, follow_moves=False)
        content = core.content(reader, version, path)
        return _memory(store, path, version, version.content_sha256, content, None)
    return _memory(store, path, found.known, found.sha256, found.body, found.warning(path))


def _memory(store: str, path: str, row: Any, sha256: str, content: bytes, warning: str | None) -> Memory:
    beside = sidecar.read(store, path, sha256)
    fields, why = sidecar.frontmatter(content, beside)
    return Memory(
        path=path,
        seq=row.seq if row else None,
        ts=clock.iso_exact(row.ts_ns) if row else None,
        body_hash=sha256,
        edited=row is None or row.content_sha256 != sha256,
        content=content,
        frontmatter=fields,
        frontmatter_reason=why,
        sidecar=beside.path if beside and beside.reason is None else None,
        warnings=tuple(text for text in (warning, beside and beside.reason) if text),
    )


class Page(NamedTuple):
    """Memories by name, from a longer list: where `next` is not null, there are more behind that path."""

    memories: list[Listed]
    next: str | None
    warnings: list[str]


def list_memories(store: str, prefix: str = "", at: clock.At | None = None) -> Listing:
    """Returns the memories whose path begins with `prefix`, as they were at a point in the past or are now."""
    reader = AuditChainReader(store)
    seq, ts_ns = reader.moment(at)
    versions, damages = reader.native.memories_at(seq=seq, ts_ns=ts_ns)
    listed = [
        _listed(version) for version in versions if version.path.startswith(prefix) and not paths.is_acl(version.path)
    ]
    return Listing(listed, [describe(damage) for damage in damages])


def page_of_memories(
    store: str,
    prefix: str = "",
    at: clock.At | None = None,
    *,
    after: str = "",
    limit: int = 1_000,
    reader: AuditChainReader | None = None,
) -> Page:
    """Returns the first `limit` of those memories behind the path `after`.

    A `reader` that is kept for this reads only what was appended since it was asked last, unless `at` is given.
    """
    if limit < 1:
        raise BadArgument(f"a limit is 1 or more, not {limit}", argument="limit")
    if at is None:
        listed, warnings = _present(reader or AuditChainReader(store), prefix, after, limit + 1)
    else:
        whole, warnings = list_memories(store, prefix, at)
        listed = [memory for memory in whole if memory.path > after][: limit + 1]
    more = listed[limit - 1].path if len(listed) > limit else None
    return Page(listed[:limit], more, warnings)


def _present(reader: AuditChainReader, prefix: str, after: str, count: int) -> tuple[list[Listed], list[str]]:
    listed: list[Listed] = []
    while True:
        wanted = count - len(listed)
        versions, damages = reader.native.memories(prefix, after, wanted)
        listed += [_listed(version) for version in versions if not paths.is_acl(version.path)]
        if len(versions) < wanted or len(listed) == count:
            return listed, [describe(damage) for damage in damages]
        after = versions[-1].path


def _listed(version: Any) -> Listed:
    return Listed(version.path, version.seq, clock.iso_exact(version.ts_ns), version.content_sha256)
