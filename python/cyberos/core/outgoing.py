"""A log and its version bodies on their way out of a store, byte for byte the same however they lie in it."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from cyberos import _native

_PIECE: Final = 1 << 20


class Versions(NamedTuple):
    """How many versions the log wrote, and how many of those are purged or were never kept."""

    written: int
    missing: int


class Outgoing:
    """The rows up to one, and the versions that they wrote. First `log` is to be read to its end, then `bodies`."""

    def __init__(self, store: str, last_seq: int) -> None:
        """Raises `CorruptLog` where rows are missing."""
        self._export = _native.Export(store, last_seq)

    def log(self) -> Iterator[bytes]:
        """Yields all frames, as one segment; raises `CorruptLog` at a row that is damaged."""
        yield from _pieces(self._export.log)

    def bodies(self) -> Iterator[bytes]:
        """Yields each version once, uncompressed, as one pack in the order of the rows that first wrote them."""
        yield from _pieces(self._export.bodies)

    def versions(self) -> Versions:
        """Returns what there was to be taken out."""
        return Versions(*self._export.versions())


def _pieces(read: Callable[[int], bytes]) -> Iterator[bytes]:
    from concurrent.futures import ThreadPoolExecutor

    # The next piece is read while the last one is written.
    with ThreadPoolExecutor(1) as helper:
        ahead = helper.submit(read, _PIECE)
        while piece := ahead.result():
            ahead = helper.submit(read, _PIECE)
            yield piece
