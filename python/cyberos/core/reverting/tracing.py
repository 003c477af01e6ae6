"""What a unit did to memories: each as it was before the unit first changed it, and as it is now.

A memory keeps its identity when it is moved, and when it is deleted and then written again under the same name.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from cyberos import _native
from cyberos.core import following
from cyberos.core.following import Row
from cyberos.core.reader import AuditChainReader, Damage, damage_error
from cyberos.core.sessions.book import Book

# Rows that change memories.
CHANGES: Final = ("put", "move", "delete", "create", "str_replace", "insert", "rename")

Progress = Callable[[int, int], object]


class Unit(NamedTuple):
    """All rows whose `extra` has this key with this id."""

    key: Literal["session_id", "dream_id"]
    id: str

    @property
    def undone_key(self) -> str:
        """What a row that undoes one of the unit says in `extra`."""
        return f"reverted_{self.key}"

    def is_undone_by(self, row: Row) -> bool:
        """Whether a row undoes one of the unit."""
        return bool(row.extra.get(self.undone_key) == self.id)


class Other(NamedTuple):
    """A change of a memory by somebody else, after the unit had changed it."""

    seq: int
    actor: str


class Traced:
    """A memory that the unit changed: `path` is `None` while it is deleted, `sha256` empty where no row says."""

    __slots__ = ("before", "first", "last_path", "other", "path", "sha256")

    def __init__(self, path: str, before: _native.Version | None, first: int) -> None:
        self.before: Final = before
        # The unit's first row about it.
        self.first: Final = first
        self.path = None if before is None else path
        self.last_path = path
        self.sha256 = "" if before is None else before.content_sha256
        self.other: Other | None = None

    @property
    def is_as_before(self) -> bool:
        """Whether nothing has to be done."""
        if self.before is None or self.path is None:
            return self.before is None and self.path is None
        return (self.path, self.sha256) == (self.before.path, self.before.content_sha256)


def rows_of(reader: AuditChainReader, unit: Unit, progress: Progress) -> list[int]:
    """Returns the rows by which the unit changed memories, by number; raises `CorruptLog` where some may be hidden."""
    if unit.key == "session_id":
        # Found by its name, however long the log is.
        rows, damages = Book(reader).writes(unit.id)
        _require_whole(damages)
        return [row.seq for row in rows if row.kind in CHANGES]
    seqs: list[int] = []
    last = reader.last_seq()
    for stretch in following.follow(reader, kinds=CHANGES, filters=[unit]):
        _require_whole(stretch.damages)
        seqs += [row.seq for row in stretch.rows]
        progress(stretch.cursor.seq, last)
    return seqs


def trace(reader: AuditChainReader, unit: Unit, seqs: Iterable[int], progress: Progress) -> list[Traced]:
    """Returns the memories that the rows `seqs` of a unit changed, in that order, and what has become of them since."""
    ours = set(seqs)
    tracer = _Tracer(reader, unit)
    last, begin = reader.last_seq(), following.at(reader, min(ours) - 1)
    for stretch in following.follow(reader, begin, kinds=CHANGES):
        _require_whole(stretch.damages)
        for row in stretch.rows:
            tracer.take(row, ours=row.seq in ours)
        progress(stretch.cursor.seq, last)
    return tracer.memories


def _require_whole(damages: Sequence[Damage]) -> None:
    if damages:
        raise damage_error(damages[0])


class _Tracer:
    """Carries out rows on the memories that the unit changed, and on no others."""

    def __init__(self, reader: AuditChainReader, unit: Unit) -> None:
        self._reader, self._unit = reader, unit
        self.memories: list[Traced] = []
        self.at: dict[str, Traced] = {}

    def take(self, row: Row, *, ours: bool) -> None:
        changed = {touch: path for path, touch in row.touches() if touch != "annotation"}
        if not ours and not any(path in self.at for path in changed.values()):
            return
        if "write" in changed:
            path = changed["write"]
            if memory := self._changed(row, path, ours=ours):
                memory.path, memory.last_path, memory.sha256 = path, path, row.content_sha256 or ""
        elif "delete" in changed:
            if memory := self._changed(row, changed["delete"], ours=ours):
                memory.path = None
        elif "move_to" in changed:
            self._move(row, changed["move_from"], changed["move_to"], ours=ours)

    def _move(self, row: Row, source: str, target: str, *, ours: bool) -> None:
        moved = self._changed(row, source, ours=ours)
        if self._is_occupied(target, row.seq, ours=ours) and (over := self._changed(row, target, ours=ours)):
            over.path = None
        self.at.pop(source, None)
        self.at.pop(target, None)
        if moved is not None:
            self.at[target] = moved
            moved.path = moved.last_path = target
            moved.sha256 = row.content_sha256 or moved.sha256

    def _is_occupied(self, path: str, seq: int, *, ours: bool) -> bool:
        """Whether a memory is moved over another one, as another program may do; of those that count."""
        there = self.at.get(path)
        return (ours and self._version(path, seq) is not None) if there is None else there.path is not None

    def _changed(self, row: Row, path: str, *, ours: bool) -> Traced | None:
        """Returns the memory at a path, of which the row is noted; `None` for one that the unit did not change."""
        memory = self.at.get(path)
        if memory is None:
            if not ours:
                return None
            memory = Traced(path, self._version(path, row.seq), row.seq)
            self.at[path] = memory
            self.memories.append(memory)
        if not ours and memory.other is None and not self._unit.is_undone_by(row):
            memory.other = Other(row.seq, row.actor)
        return memory

    def _version(self, path: str, seq: int) -> _native.Version | None:
        """Returns what was at a path before row `seq`."""
        return self._reader.native.version_at(path, seq=seq - 1) if seq > 1 else None
