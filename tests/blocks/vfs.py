"""A file system under SQLite that fails when it is told to: a disk that is full, or broken."""

from typing import Any

import apsw

from cyberos.blocks.connector.sqlite import Sqlite

NAME = "failing"


class Plan:
    """Which operation fails (counted from 1), how, and whether all after it fail, too."""

    def __init__(self) -> None:
        self.at, self.error, self.sticky, self.done = 0, apsw.SQLITE_IOERR, False, 0

    def set(self, at: int, error: int, *, sticky: bool) -> None:
        self.at, self.error, self.sticky, self.done = at, error, sticky, 0

    def heal(self) -> None:
        self.at = 0

    def count(self, what: int) -> None:
        if not self.at:
            return
        self.done += 1
        if self.done == self.at or (self.sticky and self.done > self.at):
            error = apsw.FullError if self.error == apsw.SQLITE_FULL else apsw.IOError
            raised: Any = error("told to fail")
            raised.extendedresult = self.error if self.error == apsw.SQLITE_FULL else what
            raise raised


PLAN = Plan()


class File(apsw.VFSFile):
    """A file whose writes, syncs and truncations may fail."""

    def __init__(self, inherited: str, name: Any, flags: list[int]) -> None:
        super().__init__(inherited, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802, SQLite's name
        PLAN.count(apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        PLAN.count(apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        PLAN.count(apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(size)


class Disk(apsw.VFS):
    """The system's own file system, with such files."""

    def __init__(self) -> None:
        super().__init__(NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802
        return File("", name, flags)


_disk: list[Disk] = []


def connect(file: str) -> Sqlite:
    """Opens a database on the file system that fails when it is told to."""
    if not _disk:
        _disk.append(Disk())
    return Sqlite(file, patience=5.0, vfs=NAME)
