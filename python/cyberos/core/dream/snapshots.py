"""The memories as they were behind a row of the log."""

from collections.abc import Iterator, Mapping
from typing import Final

from cyberos import _native
from cyberos.core import history
from cyberos.core.following import Cursor
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.errors import MemoryNotFound


class Snapshot(Mapping[str, _native.Version]):
    """The memories there were, by path: which row wrote each, when, and the SHA-256 of its content.

    Contents are read when they are asked for. `damages` may hide memories, or older versions of them.
    """

    def __init__(self, reader: AuditChainReader, cursor: Cursor) -> None:
        self.cursor: Final = cursor
        self._reader = reader
        found, damages = reader.native.memories_at(seq=cursor.seq)
        self._versions = {version.path: version for version in found}
        self.damages: Final[list[Damage]] = damages

    def __getitem__(self, path: str) -> _native.Version:
        return self._versions[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def body(self, path: str) -> bytes:
        """Returns what a memory held; raises `MemoryNotFound`, `BodyPurged`, `BodyUnavailable` or `CorruptLog`."""
        version = self._versions.get(path)
        if version is None:
            raise MemoryNotFound(f"there was no memory at {path} behind row {self.cursor.seq}", path=path)
        return history.content(self._reader, version, path)
