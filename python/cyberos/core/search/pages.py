"""Files of SQLite whose pages have checksums: what was not written is never read.

Each page keeps eight bytes free at its end; a CRC-32 of the rest lies there. A page that does not have it is an error
of reading, so that damage shows itself and no answer comes from it.
"""

import zlib
from typing import Final

import apsw

PAGE: Final = 4_096
RESERVED: Final = 8
_HEADER: Final = 100
_HOLE: Final = bytes(PAGE)
NAME: Final = "cyberos-pages"


class _File(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._has_pages = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802, SQLite's name
        data = super().xRead(amount, offset)
        # Before it knows how large pages are, it looks into the header, and then reads the page.
        if not self._has_pages or amount <= _HEADER:
            return data
        if not data and not offset:  # a file that is new
            return data
        # A page that SQLite took and freed again is a hole of zeros, which no page that is in use can be.
        if len(data) != PAGE or (data[-RESERVED:] != _checksum(data) and data != _HOLE):
            raise apsw.IOError(f"the page at byte {offset} is not as it was written")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._has_pages and len(data) == PAGE:
            data = bytes(data[:-RESERVED]) + _checksum(data)
        super().xWrite(data, offset)


class _Pages(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(NAME, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # noqa: N802
        return _File(name, flags)


def _checksum(page: bytes) -> bytes:
    return zlib.crc32(page[:-RESERVED]).to_bytes(RESERVED, "little")


_registered: Final = _Pages()
