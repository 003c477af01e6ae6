"""From what commits did to files to what is to be done to memories."""

from typing import Final, NamedTuple

from cyberos.errors import PathRefused
from cyberos.exchange.git import Blob, Commit, Delta
from cyberos.exchange.names import Names


class Planned(NamedTuple):
    """A change of a memory: `put` with content, `move` with a destination, or `delete`; and where it is from."""

    kind: str
    path: str
    to: str | None
    blob: Blob | None
    source: str
    commit: Commit


class Skipped(NamedTuple):
    """A version of a file that cannot be a memory's, and why."""

    source: str
    commit: str | None
    why: str


class Planner:
    """Turns git's records into changes, and keeps track of which memories there are."""

    def __init__(self, names: Names, limit: int) -> None:
        """`limit` is how many bytes a memory may have."""
        self.names = names
        self.skipped: list[Skipped] = []
        self._limit: Final = limit

    def plan(self, commit: Commit, delta: Delta, blob: Blob | None) -> list[Planned]:
        """Returns the changes for one record, in order; `blob` is the new content where the record has one.

        Only plain files are memories: links and submodules count as nothing, so that becoming one is a deletion.
        """
        if delta.status == "R" and delta.was_file and delta.is_file:
            return self._rename(commit, delta, blob)
        if delta.was_file and not delta.is_file:
            return self._delete(commit, delta.source)
        if blob is None:  # only its mode changed, or it is no file
            return []
        return self._put(commit, delta.path, blob, is_new=delta.status == "C" or not delta.was_file)

    def needs_content(self, delta: Delta) -> bool:
        """Whether a rename without new content needs it all the same: its memory is gone."""
        return delta.status == "R" and delta.is_file and self.names.find(delta.source) is None

    def _rename(self, commit: Commit, delta: Delta, blob: Blob | None) -> list[Planned]:
        old = self.names.find(delta.source)
        if old is None:
            return self._put(commit, delta.path, blob, is_new=True) if blob is not None else []
        new = self._claim(commit, delta.path, old)
        if new is None:
            return self._delete(commit, delta.source)
        changes = []
        if new != old:
            self.names.living.discard(old)
            self.names.living.add(new)
            changes.append(Planned("move", old, new, None, delta.path, commit))
        return changes + (self._put(commit, delta.path, blob) if blob is not None else [])

    def _put(self, commit: Commit, source: str, blob: Blob, *, is_new: bool = False) -> list[Planned]:
        if blob.size > self._limit:
            why = f"it has {blob.size:,} bytes; a memory has at most {self._limit:,}"
            self.skipped.append(Skipped(source, commit.id, why))
            return []
        path = self.names.find(source, is_new=is_new) or self._claim(commit, source, None)
        if path is None:
            return []
        self.names.living.add(path)
        return [Planned("put", path, None, blob, source, commit)]

    def _delete(self, commit: Commit, source: str) -> list[Planned]:
        path = self.names.find(source)
        if path is None:
            return []
        self.names.living.discard(path)
        return [Planned("delete", path, None, None, source, commit)]

    def _claim(self, commit: Commit, source: str, moving: str | None) -> str | None:
        try:
            return self.names.claim(source, moving)
        except PathRefused as error:
            self.skipped.append(Skipped(source, commit.id, error.message))
            return None
