"""The one door to a store's log for reading."""

import os
from collections.abc import Iterator
from typing import Any, Final

from cyberos import _native, clock
from cyberos.errors import CorruptLog, VersionNotFound

Row = dict[str, Any]
Damage = _native.Damage

_BATCH: Final = 1_024


class AuditChainReader:
    """A store's log, open for reading. Takes no lock, never writes, and sees what is appended while it is open.

    A row is a dictionary with the names of both vocabularies: `seq`, `kind` (also `op`), `path`, `actor`, `payload`
    (also `extra`), `ts` (ISO text, UTC) and `ts_ns`, `content_sha256`, `chain`, `prev_chain`.
    """

    def __init__(self, store_path: str | os.PathLike[str]) -> None:
        """Opens the log of the store at `store_path`; raises `UnsupportedStore` where its format is a newer one."""
        self.store_path: Final = os.fspath(store_path)
        self.native: Final = _native.Reader(store_path)
        # What could not be read so far: rows in it are missing from what was returned.
        self.damages: list[Damage] = []

    def last_seq(self) -> int:
        """Returns the number of the last row; 0 for an empty log."""
        return self.native.last_seq()

    def row(self, seq: int) -> Row:
        """Returns one row; raises `VersionNotFound` or `CorruptLog`."""
        rows, damages = self.native.rows(seq, seq) if seq > 0 else ([], [])
        if rows:
            return _dated(rows[0])
        self._require(seq)
        raise damage_error(damages[0]) if damages else CorruptLog(f"row {seq} is missing", seq=seq)

    def moment(self, at: clock.At | None) -> tuple[int | None, int | None]:
        """Returns a point in the past as a row and a time; raises `VersionNotFound` for a row that is not written yet.

        A time that is still to come is now.
        """
        if at is None:
            return None, None
        if at.seq is not None:
            self._require(at.seq)
        return at.seq, at.ts_ns

    def _require(self, seq: int) -> None:
        last = self.last_seq()
        if not 1 <= seq <= last:
            end = f"the log ends with row {last}" if last else "the log is empty"
            raise VersionNotFound(f"there is no row {seq}; {end}", seq=seq)

    def recent(self, count: int) -> list[Row]:
        """Returns the last `count` rows, oldest first."""
        last = self.last_seq()
        return self._read(max(1, last - count + 1), last)

    def between(self, first: int, last: int) -> tuple[list[Row], list[Damage]]:
        """Returns the rows `first` to `last` that are there, oldest first, and the damage between them."""
        rows, damages = self.native.rows(first, last)
        return [_dated(row) for row in rows], damages

    def iter_rows(self, *, reverse: bool = False) -> Iterator[Row]:
        """Yields the rows that there are now, oldest or newest first; passes over damage and adds it to `damages`."""
        last = self.last_seq()
        starts = range(1, last + 1, _BATCH)
        for first in reversed(starts) if reverse else starts:
            rows = self._read(first, min(first + _BATCH - 1, last))
            yield from reversed(rows) if reverse else rows

    def _read(self, first: int, last: int) -> list[Row]:
        rows, damages = self.between(first, last)
        known = {(damage.file, damage.offset) for damage in self.damages}
        self.damages.extend(damage for damage in damages if (damage.file, damage.offset) not in known)
        return rows


def damage_error(damage: Damage) -> CorruptLog:
    """Returns a damage as the error that it is to whoever needs the rows in it."""
    return CorruptLog(describe(damage), file=damage.file, offset=damage.offset, seq=damage.seq)


def describe(damage: Damage) -> str:
    """Returns a damage in one line."""
    return f"{damage.file} is damaged at byte {damage.offset}: {damage.what}"


def _dated(row: Row) -> Row:
    row["ts"] = clock.iso_exact(row["ts_ns"])
    return row
