"""What happened to a memory: who changed it, when, how, and under which names.

Entries are newest first. An entry's diff is against the next older version of the same memory, also across moves; it is
computed when it is asked for. The first version has none.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final

from cyberos import _native, clock
from cyberos.core import paths, sidecar
from cyberos.core.bodies import Bodies
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import (
    BadArgument,
    BodyPurged,
    BodyUnavailable,
    MemoryNotFound,
    UnknownFilter,
    VersionNotFound,
    command,
)

FILTERS: Final = ("actor", "kind", "session_id", "dream_id")
_FIELDS: Final = ("seq", "ts", "kind", "actor", "body_hash", "frontmatter_diff", "body_diff", "extra")
# Why a version has no bytes; of two reasons the earlier is told.
_MISSING: Final = ("purged", "damaged", "unavailable")
# Rows that are looked at together where all of a long history is wanted.
_WINDOW: Final = 1 << 14
# A diff that nobody has asked for yet.
_UNSET: Final = object()


class _DataclassFields:
    """What makes `dataclasses.fields`, `asdict` and `replace` take an entry; that module is slow to load."""

    def __get__(self, entry: object, of: type) -> dict[str, Any]:
        import dataclasses

        required, optional = _FIELDS[:4], _FIELDS[4:]
        defaults: Any = [dataclasses.field(default=None) for _ in optional[:-1]]
        defaults.append(dataclasses.field(default_factory=dict))
        fields: Any = [*required, *((name, Any, default) for name, default in zip(optional, defaults, strict=True))]
        made: Any = dataclasses.make_dataclass(of.__name__, fields)
        found: dict[str, Any] = made.__dataclass_fields__
        return found


class HistoryEntry:
    """One row of a memory's history.

    `frontmatter_diff` is `{"added": {…}, "removed": {…}, "changed": {field: {"old": …, "new": …}}}` or `None`, or where
    the frontmatter cannot be read `{"unparseable": why, "diff": unified diff of it}`. `body_diff` is a unified diff,
    empty where only the frontmatter changed, or `None`, and `body_diff_reason` says why: `no_content` (the row writes
    none), `first` (there is no older version), `purged`, `damaged`, `unavailable`, `binary`, `too_large`.

    `path` is the row's own; `name` is the memory's, under which the row was found. A pickle has the diffs computed, and
    no `body_lines`.
    """

    __slots__ = (
        "_body_diff", "_frontmatter_diff", "_reason", "_source", "actor", "body_hash", "extra", "kind", "name", "path",
        "seq", "ts", "ts_ns",
    )  # fmt: skip
    __match_args__ = _FIELDS
    __dataclass_fields__: ClassVar[dict[str, Any]] = _DataclassFields()  # type: ignore[assignment]  # a descriptor

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
    def of(cls, entry: _native.Entry, bodies: Bodies) -> "HistoryEntry":
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
        old, new = bodies.get(sha256, path), bodies.get(entry.content_sha256, entry.name)
        if isinstance(old, bytes) and isinstance(new, bytes):
            return _native.Comparison(old, new, path, entry.name), None
        return None, next(reason for reason in _MISSING if reason in (old, new))

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Computes the diffs: a copy in another process has no store to ask."""
        found = {"_frontmatter_diff": self.frontmatter_diff, "_body_diff": self.body_diff, "_reason": self._reason}
        return None, {**{name: getattr(self, name) for name in self.__slots__}, **found, "_source": None}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HistoryEntry):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"HistoryEntry({', '.join(f'{name}={getattr(self, name)!r}' for name in _FIELDS)})"


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
    check_limit(limit)
    reader = reader or AuditChainReader(store_path)
    entries, damages = reader.native.history(
        target_path,
        follow_moves=follow_moves,
        limit=limit,
        since_ns=None if since is None else clock.from_datetime(since),
        above=above,
        filters=checked_filters(filters),
    )
    bodies = Bodies(reader, target_path)
    walked = Walked(HistoryEntry.of(entry, bodies) for entry in entries)
    walked.damages = damages
    return walked


def page(reader: AuditChainReader, target_path: str, limit: int) -> bytes | None:
    """Returns the newest entries of a memory's history as a JSON array without body diffs: what `walk` says of them.

    `None` where that takes more than a fraction of a millisecond, or where there is something to tell besides.
    """
    return reader.native.history_page(paths.check_lookup(target_path), limit)


def every(
    reader: AuditChainReader,
    last: int,
    damages: list[Damage],
    *,
    since_ns: int | None = None,
    limit: int | None = None,
    filters: Iterable[tuple[str, str]] = (),
    oldest_first: bool = False,
) -> Iterator[HistoryEntry]:
    """Yields what happened to all memories up to row `last`, newest first, without holding more than a part of it.

    With `oldest_first` the other way round; of a history that `limit` cuts, the newest entries. Adds to `damages` what
    cannot be read.
    """
    if oldest_first and limit is not None:
        newest = list(every(reader, last, damages, since_ns=since_ns, limit=limit, filters=filters))
        yield from reversed(newest)
        return
    pairs, bodies = checked_filters(filters), Bodies(reader)
    starts = range(0, last, _WINDOW)
    for start in starts if oldest_first else reversed(starts):
        below = min(start + _WINDOW, last) + 1
        entries, met = reader.native.history(
            None, limit=limit, since_ns=since_ns, above=start, below=below, filters=pairs
        )
        known = {(damage.file, damage.offset) for damage in damages}
        damages.extend(damage for damage in met if (damage.file, damage.offset) not in known)
        if oldest_first:
            entries.reverse()
        for entry in entries:
            yield HistoryEntry.of(entry, bodies)
        if limit is not None:
            limit -= len(entries)
            if limit <= 0:
                return


def check_limit(limit: int | None) -> None:
    """Raises `BadArgument` for a limit that lets nothing through."""
    if limit is not None and limit < 1:
        raise BadArgument(f"a limit is 1 or more, not {limit}", argument="limit", hint="leave it out for all entries")


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
    paths.check_memory(path)
    seq, ts_ns = reader.moment(at)
    for follow in (True, False) if follow_moves else (False,):
        found = reader.native.version_at(path, seq=seq, ts_ns=ts_ns, follow_moves=follow)
        if found is not None:
            return found
    composed = paths.spelling(path)
    if composed is not None:
        hint = f"in Unicode form NFC it is {composed}"
    elif reader.native.history(path, limit=1)[0]:
        hint = f"{command('cyberos', 'history', path)} lists its versions"
    else:
        hint = "there never was one; cyberos list shows what there is"
    if at is None:
        raise MemoryNotFound(f"there is no memory at {path}", path=path, hint=hint)
    when = f"at row {seq}" if seq is not None else f"at {clock.iso_exact(ts_ns or 0)}"
    raise VersionNotFound(f"{path} had no version {when}", path=path, seq=seq, hint=hint)


def content(reader: AuditChainReader, found: _native.Version, path: str) -> bytes:
    """Returns the bytes of a version that was found under `path`; raises `BodyPurged` or `BodyUnavailable`."""
    body = Bodies(reader, path).get(found.content_sha256, found.path)
    if isinstance(body, bytes):
        return body
    where = f"the content of {found.path} at row {found.seq}"
    if body == "damaged":
        reader.native.body(found.content_sha256)  # says where
    if body == "purged":
        raise BodyPurged(f"{where} was purged", path=found.path, seq=found.seq)
    raise BodyUnavailable(f"{where} was never kept: the log holds only its hash", path=found.path, seq=found.seq)


def show(
    store_path: str | os.PathLike[str], path: str, at: clock.At | None = None, *, reader: AuditChainReader | None = None
) -> tuple[_native.Version, bytes]:
    """Returns a version of a memory with its bytes; `path` is its name now, see `version`."""
    reader = reader or AuditChainReader(store_path)
    found = version(reader, path, at)
    return found, content(reader, found, path)


def diff(
    store_path: str | os.PathLike[str], path: str, old: clock.At, new: clock.At | None
) -> tuple[_native.Version, _native.Version, _native.Comparison, str | None]:
    """Compares two versions of a memory; `new` is now where it is `None`.

    What a sidecar says of a version counts as its frontmatter; the last result has the sidecar's path where it does so
    for one of them only, since what it held for the other is not known.
    """
    reader = AuditChainReader(store_path)
    before, old_body = show(store_path, path, old, reader=reader)
    after, new_body = show(store_path, path, new, reader=reader)
    beside = [sidecar.read(store_path, path, version.content_sha256) for version in (before, after)]
    told = {found.path for found in beside if found is not None and found.reason is None}
    alone = told.pop() if told and before.content_sha256 != after.content_sha256 else None
    old_body, new_body = sidecar.merged(old_body, beside[0]), sidecar.merged(new_body, beside[1])
    return before, after, _native.Comparison(old_body, new_body, before.path, after.path), alone


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
    work, bodies = _native.Blame(body), Bodies(reader, path)
    reached, known = 0, lineage[-1].older is None
    for entry in lineage[1:]:
        older = bodies.get(entry.content_sha256 or "", entry.name)
        if not isinstance(older, bytes):
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
