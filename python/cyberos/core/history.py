"""What happened to a memory: who changed it, when, how, and under which names.

Entries are newest first. An entry's diff is against the next older version of the same memory, also across moves; it is
computed when it is asked for. The first version has none.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from cyberos import _native, clock
from cyberos.core import paths
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import BadArgument, BodyPurged, BodyUnavailable, MemoryNotFound, UnknownFilter, VersionNotFound

FILTERS: Final = ("actor", "kind", "session_id", "dream_id")
# A diff that nobody has asked for yet.
_UNSET: Final = object()


class HistoryEntry:
    """One row of a memory's history.

    `frontmatter_diff` is `{"added": {…}, "removed": {…}, "changed": {field: {"old": …, "new": …}}}` or `None`;
    `body_diff` is a unified diff or `None`, and `body_diff_reason` says why there is none: `no_content` (the row writes
    none), `first` (there is no older version), `purged`, `unavailable`, `binary`, `too_large`.
    """

    __slots__ = (
        "_body_diff", "_compare", "_frontmatter_diff", "_reason", "actor", "body_hash", "extra", "kind", "path", "seq",
        "ts", "ts_ns",
    )  # fmt: skip

    def __init__(
        self,
        seq: int,
        ts: datetime,
        kind: str,
        actor: str,
        body_hash: str | None = None,
        frontmatter_diff: dict[str, Any] | None = None,
        body_diff: str | None = None,
        extra: dict[str, Any] | None = None,
        *,
        path: str = "",
        ts_ns: int | None = None,
    ) -> None:
        self.seq, self.ts, self.kind, self.actor, self.body_hash = seq, ts, kind, actor, body_hash
        self.extra = {} if extra is None else extra
        self.path = path
        self.ts_ns = clock.from_datetime(ts) if ts_ns is None else ts_ns
        self._frontmatter_diff: Any = frontmatter_diff
        self._body_diff: Any = body_diff
        self._reason: str | None = None
        self._compare: _Versions | None = None

    @classmethod
    def of(cls, entry: _native.Entry, bodies: "Bodies") -> "HistoryEntry":
        """Makes an entry whose diffs are computed from stored versions when they are asked for."""
        made = cls(
            entry.seq,
            clock.to_datetime(entry.ts_ns),
            entry.kind,
            entry.actor,
            entry.content_sha256,
            extra=entry.extra,
            path=entry.path,
            ts_ns=entry.ts_ns,
        )
        made._frontmatter_diff = made._body_diff = _UNSET
        made._compare = _Versions(entry, bodies)
        return made

    @property
    def frontmatter_diff(self) -> dict[str, Any] | None:
        """What changed in the frontmatter since the next older version; `None` where nothing can be compared."""
        if self._frontmatter_diff is _UNSET:
            comparison = self._comparison()
            self._frontmatter_diff = comparison.frontmatter() if comparison else None
        diff: dict[str, Any] | None = self._frontmatter_diff
        return diff

    @property
    def body_diff(self) -> str | None:
        """The unified diff of the body against the next older version."""
        if self._body_diff is _UNSET:
            comparison = self._comparison()
            self._body_diff = comparison.unified() if comparison else None
        diff: str | None = self._body_diff
        return diff

    @property
    def body_diff_reason(self) -> str | None:
        """Why there is no body diff; `None` where there is one."""
        comparison = self._comparison()
        return comparison.incomparable if comparison else self._reason

    def body_lines(self) -> dict[str, list[str]] | None:
        """Returns the lines of the body diff by kind: `added`, `removed`, `context`."""
        comparison = self._comparison()
        return comparison.lines() if comparison else None

    def _comparison(self) -> _native.Comparison | None:
        if self._compare is None:
            return None
        comparison, self._reason = self._compare.get()
        return comparison

    def _fields(self) -> tuple[Any, ...]:
        return (
            self.seq, self.ts, self.kind, self.actor, self.body_hash, self.frontmatter_diff, self.body_diff, self.extra,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, HistoryEntry) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ("seq", "ts", "kind", "actor", "body_hash", "frontmatter_diff", "body_diff", "extra")
        pairs = zip(names, self._fields(), strict=True)
        return f"HistoryEntry({', '.join(f'{name}={value!r}' for name, value in pairs)})"


class Bodies:
    """The stored versions of one store, the last few of them kept at hand."""

    def __init__(self, reader: _native.Reader) -> None:
        self._reader = reader
        self._kept: dict[str, tuple[bytes | None, bool]] = {}

    def get(self, sha256: str) -> tuple[bytes | None, bool]:
        """Returns a version's bytes (`None`: not there) and whether it was purged."""
        if sha256 not in self._kept:
            if len(self._kept) > 32:  # noqa: PLR2004, two versions an entry and a page of entries
                self._kept.clear()
            self._kept[sha256] = self._reader.body(sha256)
        return self._kept[sha256]


class _Versions:
    """The two versions that an entry's diff is about; loaded once."""

    __slots__ = ("_bodies", "_entry", "_result")

    def __init__(self, entry: _native.Entry, bodies: Bodies) -> None:
        self._entry, self._bodies = entry, bodies
        self._result: tuple[_native.Comparison | None, str | None] | None = None

    def get(self) -> tuple[_native.Comparison | None, str | None]:
        if self._result is None:
            self._result = self._load()
        return self._result

    def _load(self) -> tuple[_native.Comparison | None, str | None]:
        entry = self._entry
        if not entry.writes or entry.content_sha256 is None:
            return None, "no_content"
        if entry.older is None:
            return None, "first"
        sha256, path = entry.older
        pair = self._bodies.get(sha256), self._bodies.get(entry.content_sha256)
        if any(purged for body, purged in pair if body is None):
            return None, "purged"
        old, new = pair[0][0], pair[1][0]
        if old is None or new is None:
            return None, "unavailable"
        return _native.Comparison(old, new, path, entry.name), None


class Walked(list[HistoryEntry]):
    """Entries, and the damage in the log that may hide others."""

    damages: list[Damage]


def walk(
    store_path: str | os.PathLike[str],
    target_path: str | None,
    follow_moves: bool = True,  # noqa: FBT001, FBT002, the documented signature
    since: datetime | None = None,
    limit: int | None = None,
    show_body: bool = False,  # noqa: ARG001, FBT001, FBT002, bodies are compared when they are asked for
    *,
    filters: Iterable[tuple[str, str]] = (),
    reader: AuditChainReader | None = None,
    above: int = 0,
) -> Walked:
    """Returns what happened to a memory, newest first; with `target_path` `None` to all memories.

    `since` leaves out older rows, `limit` cuts the list, `filters` keep the rows whose `actor`, `kind`, `session_id` or
    `dream_id` is the given value. A path that never existed has an empty history.
    """
    if target_path is not None:
        paths.check_lookup(target_path)
    if limit is not None and limit < 1:
        raise BadArgument(f"a limit is 1 or more, not {limit}", argument="limit", hint="leave it out for all entries")
    reader = reader or AuditChainReader(store_path)
    entries, damages = reader.native.history(
        target_path,
        follow_moves=follow_moves,
        limit=limit,
        since_ns=None if since is None else clock.from_datetime(since),
        above=above,
        filters=checked_filters(filters),
    )
    bodies = Bodies(reader.native)
    walked = Walked(HistoryEntry.of(entry, bodies) for entry in entries)
    walked.damages = damages
    return walked


def checked_filters(filters: Iterable[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Returns the filters; raises `UnknownFilter` for a key that cannot be filtered by."""
    pairs = list(filters)
    for key, _ in pairs:
        if key not in FILTERS:
            raise UnknownFilter(f"cannot filter by {key!r}", argument=key, hint=f"filter by {', '.join(FILTERS)}")
    return pairs


def version(reader: AuditChainReader, path: str, at: clock.At | None) -> _native.Version:
    """Returns the version of a memory at a point in the past (`None`: now), `path` being its name now.

    Raises `MemoryNotFound` where there is none now, `VersionNotFound` where there was none then.
    """
    paths.check_lookup(path)
    seq, ts_ns = (at.seq, at.ts_ns) if at else (None, None)
    # A name that is used now may have belonged to the memory then; one that is not, did.
    found = reader.native.version_at(path, seq=seq, ts_ns=ts_ns, follow_moves=True)
    found = found or reader.native.version_at(path, seq=seq, ts_ns=ts_ns, follow_moves=False)
    if found is not None:
        return found
    if at is None:
        raise MemoryNotFound(
            f"there is no memory at {path}", path=path, hint=f"cyberos history {path} says whether there ever was"
        )
    when = f"at row {seq}" if seq is not None else f"at {clock.iso_exact(ts_ns or 0)}"
    raise VersionNotFound(
        f"{path} had no version {when}", path=path, seq=seq, hint=f"cyberos history {path} lists its versions"
    )


def show(
    store_path: str | os.PathLike[str], path: str, at: clock.At | None = None, *, reader: AuditChainReader | None = None
) -> tuple[_native.Version, bytes]:
    """Returns a version of a memory with its bytes; raises `BodyPurged` or `BodyUnavailable` where there are none."""
    reader = reader or AuditChainReader(store_path)
    found = version(reader, path, at)
    body, purged = Bodies(reader.native).get(found.content_sha256) if found.content_sha256 else (None, False)
    if body is None and not purged:
        # Upstream keeps no versions, but the newest one lies in its working file.
        body = working_file(store_path, found.path, found.content_sha256)
    if body is None:
        why = "was purged" if purged else "was never kept: the log holds only its hash"
        error = BodyPurged if purged else BodyUnavailable
        raise error(f"the content of {found.path} at row {found.seq} {why}", path=found.path, seq=found.seq)
    return found, body


def working_file(store_path: str | os.PathLike[str], path: str, sha256: str | None = None) -> bytes | None:
    """Returns the bytes of a memory's working file, if it is a plain file (and, where given, has that SHA-256)."""
    try:
        descriptor = os.open(os.path.join(store_path, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(descriptor, "rb") as handle:
        try:
            content = handle.read()
        except OSError:
            return None
    if sha256 is not None:
        import hashlib

        if hashlib.sha256(content).hexdigest() != sha256:
            return None
    return content


def diff(
    store_path: str | os.PathLike[str], path: str, old: clock.At, new: clock.At | None
) -> tuple[_native.Version, _native.Version, _native.Comparison]:
    """Compares two versions of a memory; `new` is now where it is `None`."""
    reader = AuditChainReader(store_path)
    before, old_body = show(store_path, path, old, reader=reader)
    after, new_body = show(store_path, path, new, reader=reader)
    return before, after, _native.Comparison(old_body, new_body, before.path, after.path)


def blame(
    store_path: str | os.PathLike[str], path: str, at: clock.At | None = None
) -> tuple[_native.Version, list[tuple[str, _native.Entry | None]]]:
    """Returns a version's lines, each with the row that wrote it; `None` where the versions to tell are not kept."""
    reader = AuditChainReader(store_path)
    newest, body = show(store_path, path, at, reader=reader)
    # The walk begins at the version's own name, and rows that came later do not count.
    entries, _ = reader.native.history(newest.path, below=newest.seq + 1)
    lineage = []
    for entry in entries:
        if entry.writes:
            lineage.append(entry)
            if entry.older is None:
                break
    work, bodies, oldest, complete = _native.Blame(body), Bodies(reader.native), 0, True
    for entry in lineage[1:]:
        older = bodies.get(entry.content_sha256 or "")[0]
        if older is None:
            complete = False
            break
        oldest += 1
        if not work.step(older):
            break
    # What stands in the oldest version that is kept may be older still.
    rows = [None if age == oldest and not complete else lineage[age] for age in work.ages()]
    return newest, list(zip(_lines(body.decode(errors="replace")), rows, strict=True))


def _lines(text: str) -> list[str]:
    """Returns the lines of a text as the diff counts them: only line feeds end one."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]
