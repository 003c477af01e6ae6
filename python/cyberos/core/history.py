"""What happened to a memory: who changed it, when, how, and under which names.

Entries are newest first. An entry's diff is against the next older version of the same memory, also across moves; it is
computed when it is asked for. The first version has none.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from cyberos import _native, clock
from cyberos.core import paths
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import (
    BadArgument,
    BodyPurged,
    BodyRefused,
    BodyUnavailable,
    CorruptLog,
    IoFailure,
    MemoryNotFound,
    PathRefused,
    UnknownFilter,
    VersionNotFound,
)

FILTERS: Final = ("actor", "kind", "session_id", "dream_id")
_FIELDS: Final = ("seq", "ts", "kind", "actor", "body_hash", "frontmatter_diff", "body_diff", "extra")
# Versions that are kept at hand: two for each entry of a page.
_KEPT: Final = 32
_KEPT_BYTES: Final = 4 << 20
# Why a version has no bytes; of two reasons the earlier is told.
_MISSING: Final = ("purged", "damaged", "unavailable")
# The longest working file that is read: no memory is longer.
_LONGEST: Final = 16 << 20
# A diff that nobody has asked for yet.
_UNSET: Final = object()


class HistoryEntry:
    """One row of a memory's history.

    `frontmatter_diff` is `{"added": {…}, "removed": {…}, "changed": {field: {"old": …, "new": …}}}` or `None`, or where
    the frontmatter cannot be read `{"unparseable": why, "diff": unified diff of it}`. `body_diff` is a unified diff,
    empty where only the frontmatter changed, or `None`, and `body_diff_reason` says why: `no_content` (the row writes
    none), `first` (there is no older version), `purged`, `damaged`, `unavailable`, `binary`, `too_large`.

    `path` is the row's own; `name` is the memory's, under which the row was found.
    """

    __slots__ = (
        "_body_diff", "_frontmatter_diff", "_reason", "_source", "actor", "body_hash", "extra", "kind", "name", "path",
        "seq", "ts", "ts_ns",
    )  # fmt: skip
    __match_args__ = _FIELDS

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
    ) -> None:
        self.seq, self.ts, self.kind, self.actor, self.body_hash = seq, ts, kind, actor, body_hash
        self.extra = {} if extra is None else extra
        self.path = self.name = ""
        self.ts_ns = clock.from_datetime(ts)
        self._source: tuple[_native.Entry, Bodies] | None = None
        self._frontmatter_diff: Any = frontmatter_diff
        self._body_diff: Any = body_diff
        self._reason: str | None = None

    @classmethod
    def of(cls, entry: _native.Entry, bodies: "Bodies") -> "HistoryEntry":
        """Makes an entry whose diffs are computed from stored versions when they are asked for."""
        moment = clock.to_datetime(entry.ts_ns)
        made = cls(entry.seq, moment, entry.kind, entry.actor, entry.content_sha256, extra=entry.extra)
        made.path, made.name, made.ts_ns = entry.path, entry.name, entry.ts_ns
        made._source = entry, bodies
        made._frontmatter_diff = made._body_diff = _UNSET
        return made

    @property
    def frontmatter_diff(self) -> dict[str, Any] | None:
        """What changed in the frontmatter since the next older version; `None` where nothing can be compared."""
        if self._frontmatter_diff is _UNSET:
            comparison, _ = self._compare()
            self._frontmatter_diff = comparison.frontmatter() if comparison else None
        diff: dict[str, Any] | None = self._frontmatter_diff
        return diff

    @frontmatter_diff.setter
    def frontmatter_diff(self, diff: dict[str, Any] | None) -> None:
        self._frontmatter_diff = diff

    @property
    def body_diff(self) -> str | None:
        """The unified diff of the body against the next older version."""
        if self._body_diff is _UNSET:
            comparison, self._reason = self._compare()
            self._body_diff = comparison.unified() if comparison else None
            if comparison and self._body_diff is None:
                self._reason = comparison.incomparable
        diff: str | None = self._body_diff
        return diff

    @body_diff.setter
    def body_diff(self, diff: str | None) -> None:
        self._body_diff, self._reason = diff, None

    @property
    def body_diff_reason(self) -> str | None:
        """Why there is no body diff; `None` where there is one."""
        return self._reason if self.body_diff is None else None

    def body_lines(self) -> tuple[dict[str, list[str]] | None, str | None]:
        """Returns the body diff's lines by kind (`added`, `removed`, `context`), or `None` and why there is none."""
        comparison, reason = self._compare()
        if comparison is None:
            return None, reason
        lines = comparison.lines()
        return lines, comparison.incomparable if lines is None else None

    def no_older_version(self) -> str | None:
        """Returns why there are no two versions to compare; `None` where there are."""
        return self._compare()[1]

    def _compare(self) -> tuple[_native.Comparison | None, str | None]:
        """Loads the two versions, or says why that cannot be done. They are not kept: a long history has many."""
        if self._source is None:
            return None, None
        entry, bodies = self._source
        if not entry.writes or entry.content_sha256 is None:
            purge = self.kind == "delete" and self.extra.get("mode") == "purge"
            return None, "purged" if purge else "no_content"
        if entry.older is None:
            return None, "first"
        sha256, path = entry.older
        old, new = bodies.get(sha256), bodies.get(entry.content_sha256)
        if isinstance(old, bytes) and isinstance(new, bytes):
            return _native.Comparison(old, new, path, entry.name), None
        return None, next(reason for reason in _MISSING if reason in (old, new))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HistoryEntry):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"HistoryEntry({', '.join(f'{name}={getattr(self, name)!r}' for name in _FIELDS)})"


class Bodies:
    """The stored versions of one store, the last few of them kept at hand: neighbours in a history share one."""

    def __init__(self, reader: _native.Reader) -> None:
        self._reader = reader
        self._kept: dict[str, bytes | str] = {}
        self._size = 0

    def get(self, sha256: str) -> bytes | str:
        """Returns a version's bytes, or why there are none: `purged`, `damaged`, `unavailable`."""
        found = self._kept.get(sha256)
        if found is None:
            found = self._read(sha256)
            if self._size > _KEPT_BYTES or len(self._kept) > _KEPT:
                self._kept.clear()
                self._size = 0
            self._kept[sha256] = found
            self._size += len(found)
        return found

    def _read(self, sha256: str) -> bytes | str:
        try:
            body, purged = self._reader.body(sha256)
        except CorruptLog:  # one version less is no reason to show no history
            return "damaged"
        return body if body is not None else "purged" if purged else "unavailable"


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


def version(reader: AuditChainReader, path: str, at: clock.At | None, *, follow_moves: bool = True) -> _native.Version:
    """Returns the version of a memory at a point in the past (`None`: now).

    `path` is the memory's name now and it may have had another one then, or, where there was no such memory, its name
    then; without `follow_moves` it is its name then. Raises `MemoryNotFound` or `VersionNotFound`.
    """
    paths.check_lookup(path)
    seq, ts_ns = (at.seq, at.ts_ns) if at else (None, None)
    for follow in (True, False) if follow_moves else (False,):
        found = reader.native.version_at(path, seq=seq, ts_ns=ts_ns, follow_moves=follow)
        if found is not None:
            return found
    hint = f"cyberos history {path} lists its versions"
    if at is None:
        raise MemoryNotFound(f"there is no memory at {path}", path=path, hint=hint)
    when = f"at row {seq}" if seq is not None else f"at {clock.iso_exact(ts_ns or 0)}"
    raise VersionNotFound(f"{path} had no version {when}", path=path, seq=seq, hint=hint)


def content(reader: AuditChainReader, found: _native.Version) -> bytes:
    """Returns a version's bytes; raises `BodyPurged` or `BodyUnavailable` where there are none."""
    sha256 = found.content_sha256
    body, purged = reader.native.body(sha256) if sha256 else (None, False)
    if body is None and sha256 and not purged:
        # Upstream keeps no versions, but the newest one lies in its working file.
        body = working_file(reader.store_path, found.path)
        if body is not None and _sha256(body) != sha256:
            body = None
    if body is None:
        why = "was purged" if purged else "was never kept: the log holds only its hash"
        error = BodyPurged if purged else BodyUnavailable
        raise error(f"the content of {found.path} at row {found.seq} {why}", path=found.path, seq=found.seq)
    return body


def show(
    store_path: str | os.PathLike[str], path: str, at: clock.At | None = None, *, reader: AuditChainReader | None = None
) -> tuple[_native.Version, bytes]:
    """Returns a version of a memory with its bytes; `path` is its name now, see `version`."""
    reader = reader or AuditChainReader(store_path)
    found = version(reader, path, at)
    return found, content(reader, found)


def working_file(store_path: str | os.PathLike[str], path: str) -> bytes | None:
    """Returns the bytes of a memory's working file; `None` where there is no plain file. Follows no symbolic link."""
    folder = os.fspath(store_path)
    *parents, name = path.split("/")
    try:
        for parent in parents:
            folder = os.path.join(folder, parent)
            if stat.S_ISLNK(os.lstat(folder).st_mode):
                raise PathRefused(f"cannot read {path}: {folder} is a symbolic link", path=path)
        file = os.path.join(folder, name)
        mode = os.lstat(file).st_mode
        if stat.S_ISLNK(mode):
            raise PathRefused(f"cannot read {path}: it is a symbolic link", path=path)
        if not stat.S_ISREG(mode):
            return None
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            body = handle.read(_LONGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error
    if len(body) > _LONGEST:
        raise BodyRefused(f"the file of {path} is longer than {_LONGEST} bytes: no memory is", path=path)
    return body


def _sha256(body: bytes) -> str:
    import hashlib  # only where a working file is read

    return hashlib.sha256(body).hexdigest()


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
) -> tuple[_native.Version, list[tuple[bytes, _native.Entry | None]]]:
    """Returns a version's lines, each with the row that wrote it; `None` where the versions to tell are not kept."""
    reader = AuditChainReader(store_path)
    newest, body = show(store_path, path, at, reader=reader)
    lines = _lines(body)
    # The walk begins at the version's own name, and rows that came later do not count.
    entries, _ = reader.native.history(newest.path, below=newest.seq + 1)
    lineage: list[_native.Entry] = []
    for entry in entries:
        if entry.writes:
            lineage.append(entry)
            if entry.older is None:
                break
    if not lineage or lineage[0].content_sha256 != newest.content_sha256:
        return newest, [(line, None) for line in lines]  # the row that wrote it is damaged
    work = _native.Blame(body)
    reached, known = 0, lineage[-1].older is None
    for entry in lineage[1:]:
        older = reader.native.body(entry.content_sha256)[0] if entry.content_sha256 else None
        if older is None:
            known = False
            break
        reached += 1
        if not work.step(older):
            known = True
            break
    # What stands in the oldest version that is kept may be older still.
    rows = [lineage[age] if known or age < reached else None for age in work.ages()]
    return newest, list(zip(lines, rows, strict=True))


def _lines(body: bytes) -> list[bytes]:
    """Returns the lines as the diff counts them: only line feeds end one."""
    *whole, rest = body.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])
