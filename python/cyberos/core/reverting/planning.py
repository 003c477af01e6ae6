"""What brings memories back to what they were before a unit changed them, and which ones cannot be brought back."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cyberos.core import edits, paths
from cyberos.core.bodies import Bodies
from cyberos.core.changes import Change, Delete, Move, Put
from cyberos.core.reader import AuditChainReader
from cyberos.core.reverting.tracing import Traced, Unit
from cyberos.errors import PathRefused

# Why a memory stays as it is: somebody else changed it since, in a row or by hand; another memory is where it was;
# its version was purged, is damaged, or was never kept.
CHANGED: Final = "changed_since"
EDITED: Final = "edited_by_hand"
TAKEN: Final = "path_taken"


class Reversion(NamedTuple):
    """A memory that is brought back. `path` is where it is, or was last; `to` where it was before the unit.

    `to` is null where the unit created it: then it is deleted. `restored_from_seq` is the row that wrote its version.
    `changes` are the kinds of rows that this takes.
    """

    path: str
    to: str | None
    restored_from_seq: int | None
    changes: tuple[str, ...]


class Skipped(NamedTuple):
    """A memory that stays as it is, and why; `seq` and `actor` say who changed it since."""

    path: str
    reason: str
    seq: int | None = None
    actor: str | None = None


class Plan(NamedTuple):
    """What there is to do, as changes for one commit, and what is left as it is."""

    reversions: list[Reversion]
    skipped: list[Skipped]
    unchanged: list[str]
    changes: list[Change]


def plan(reader: AuditChainReader, traced: list[Traced], unit: Unit) -> Plan:
    """Returns what undoes a unit. The changes fail as one where a memory is changed before they are carried out."""
    return _Planner(reader, traced, unit).plan()


class _Planner:
    def __init__(self, reader: AuditChainReader, traced: list[Traced], unit: Unit) -> None:
        self._reader, self._traced = reader, traced
        self._bodies = Bodies(reader)
        self._extra: dict[str, Any] = {"invocation": "revert", unit.undone_key: unit.id}

    def plan(self) -> Plan:
        unchanged = [memory.last_path for memory in self._traced if memory.is_as_before]
        skipped: dict[int, Skipped] = {}
        undone: list[Traced] = []
        for memory in self._traced:
            if memory.is_as_before:
                continue
            if why := self._obstacle(memory):
                skipped[memory.first] = why
            else:
                undone.append(memory)
        while taken := next(self._taken(undone), None):
            undone.remove(taken)
            skipped[taken.first] = Skipped(taken.last_path, TAKEN)
        return Plan(
            [_reversion(memory) for memory in undone],
            [skipped[first] for first in sorted(skipped)],
            unchanged,
            list(self._changes(undone)),
        )

    def _obstacle(self, memory: Traced) -> Skipped | None:
        """Returns why a memory cannot be brought back, whatever becomes of the others."""
        if memory.other is not None:
            return Skipped(memory.last_path, CHANGED, memory.other.seq, memory.other.actor)
        if memory.path is not None and self._is_edited(memory.path):
            return Skipped(memory.path, EDITED)
        before = memory.before
        if before is not None and (memory.path is None or memory.sha256 != before.content_sha256):
            body = self._bodies.get(before.content_sha256, before.path)
            if isinstance(body, str):
                return Skipped(memory.last_path, body)
        return None

    def _taken(self, undone: list[Traced]) -> Iterator[Traced]:
        """Yields the memories that cannot go back where they were, because something is there and stays."""
        leaving = {memory.path for memory in undone if memory.before is None or memory.before.path != memory.path}
        claimed: set[str] = set()
        on_disk = paths.OnDisk(self._reader.store_path)
        for memory in undone:
            if memory.before is None:
                continue
            path = memory.before.path
            free = path == memory.path or (
                (path in leaving or not self._is_occupied(path)) and _is_possible(on_disk, path)
            )
            if path in claimed or not free:
                yield memory
            claimed.add(path)

    def _is_occupied(self, path: str) -> bool:
        return self._reader.native.version_at(path) is not None or self._is_edited(path)

    def _is_edited(self, path: str) -> bool:
        found = edits.working(self._reader, path)
        return found is not None and found.edited

    def _changes(self, undone: list[Traced]) -> Iterator[Change]:
        for memory in undone:
            if memory.path is not None:
                yield from self._unless_changed(memory.path, memory.sha256)
        for memory in undone:
            if memory.path is not None and memory.before is None:
                yield Delete(memory.path, extra=self._extra)
        yield from self._moves(
            {
                memory.path: memory.before.path
                for memory in undone
                if memory.path is not None and memory.before is not None and memory.before.path != memory.path
            }
        )
        for memory in undone:
            before = memory.before
            if before is None or (memory.path is not None and memory.sha256 == before.content_sha256):
                continue
            body = self._bodies.get(before.content_sha256, before.path)
            expected = "" if memory.path is None else memory.sha256 or None
            extra = self._extra | {"restored_from_seq": before.seq}
            yield Put(before.path, body, expected=expected, extra=extra)

    def _unless_changed(self, path: str, sha256: str) -> Iterator[Change]:
        """Yields a put of what is there, which writes no row, and fails where something else is there by then."""
        body = self._bodies.get(sha256, path)
        if isinstance(body, bytes):
            yield Put(path, body, expected=sha256)

    def _moves(self, ways: dict[str, str]) -> Iterator[Change]:
        """Yields moves in an order in which each finds its path free; where they go round, one goes by another path."""
        number = 0
        while ways:
            source = next((source for source, target in ways.items() if target not in ways), None)
            if source is None:
                source, target = next(iter(ways.items()))
                folder, slash, name = target.rpartition("/")
                aside = target
                while aside in ways or self._is_occupied(aside):
                    number += 1
                    aside = f"{folder}{slash}reverting-{number}{name[name.rindex('.') :]}"
                ways[aside] = ways.pop(source)
                yield Move(source, aside, extra=self._extra)
            else:
                yield Move(source, ways.pop(source), extra=self._extra)


def _is_possible(on_disk: paths.OnDisk, path: str) -> bool:
    """Whether the writer takes a path: not beside a name that differs by case only, nor where a folder is."""
    try:
        on_disk.check(path)
    except PathRefused:
        return False
    return True


def _reversion(memory: Traced) -> Reversion:
    before = memory.before
    if before is None:
        return Reversion(memory.last_path, None, None, ("delete",))
    moved = memory.path is not None and memory.path != before.path
    written = memory.path is None or memory.sha256 != before.content_sha256
    changes = (("move",) if moved else ()) + (("put",) if written else ())
    return Reversion(memory.last_path, before.path, before.seq, changes)
