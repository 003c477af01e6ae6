"""Reading memories: as they are, and as they were."""

from typing import NamedTuple

from cyberos import clock, layout
from cyberos.core import bodies, paths
from cyberos.core import history as core
from cyberos.core.reader import AuditChainReader, describe


class Memory(NamedTuple):
    """A memory's content. `edited` says that the working file was changed by hand since row `seq`."""

    path: str
    seq: int | None
    ts: str | None
    body_hash: str
    edited: bool
    content: bytes


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
    known = reader.native.version_at(path) if at is None else None
    # A file that no row knows is a memory too if a memory could lie there: the next write to it records it.
    is_ours = known is not None or (at is None and path.startswith(_ROOTS) and path.endswith(paths.SUFFIXES))
    on_disk = bodies.working_file(store, path) if is_ours else None
    if on_disk is None:
        version = core.version(reader, path, at, follow_moves=False)
        content = core.content(reader, version, path)
        return Memory(path, version.seq, clock.iso_exact(version.ts_ns), version.content_sha256, False, content)
    sha256 = bodies.sha256_of(on_disk)
    edited = known is None or known.content_sha256 != sha256
    seq, ts = (known.seq, clock.iso_exact(known.ts_ns)) if known else (None, None)
    return Memory(path, seq, ts, sha256, edited, on_disk)


def list_memories(store: str, prefix: str = "", at: clock.At | None = None) -> Listing:
    """Returns the memories whose path begins with `prefix`, as they were at a point in the past or are now."""
    reader = AuditChainReader(store)
    seq, ts_ns = reader.moment(at)
    versions, damages = reader.native.memories_at(seq=seq, ts_ns=ts_ns)
    listed = [
        Listed(version.path, version.seq, clock.iso_exact(version.ts_ns), version.content_sha256)
        for version in versions
        if version.path.startswith(prefix) and not paths.is_acl(version.path)
    ]
    return Listing(listed, [describe(damage) for damage in damages])


_ROOTS = tuple(f"{root}/" for root in layout.MEMORY_ROOTS)
