"""A log and its version bodies on their way out of a store, byte for byte the same however they lie in it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from cyberos import _native

_PIECE: Final = 1 << 20
_Item = TypeVar("_Item")


class Versions(NamedTuple):
    """How many versions the log wrote, and how many of those are purged or were never kept."""

    written: int
    missing: int


class Outgoing:
    """The rows up to one, the versions that they wrote, and the memories there are then.

    First `log` is to be read to its end, then the rest.
    """

    def __init__(self, store: str, last_seq: int) -> None:
        """Raises `CorruptLog` where rows are missing."""
        self._export = _native.Export(store, last_seq)

    def log(self) -> Iterator[bytes]:
        """Yields all frames, as one segment; raises `CorruptLog` at a row that is damaged."""
        yield from _pieces(self._export.log)

    def bodies(self) -> Iterator[bytes]:
        """Yields each version once, uncompressed, as one pack in the order of the rows that first wrote them."""
        yield from _pieces(self._export.bodies)

    def memories(self) -> list[_native.Version]:
        """Returns the memories there are after the last row, ordered by name."""
        return self._export.memories()

    def contents(self, memories: Sequence[_native.Version]) -> Iterator[bytes | None]:
        """Yields the content of each of the memories, which are all; `None` for what is purged, damaged or not kept."""

        def groups() -> Iterator[list[bytes | None]]:
            done = 0
            while done < len(memories):
                group = self._export.contents(memories[done].path, _PIECE)
                done += len(group)
                yield group

        for group in _ahead(groups()):
            yield from group

    def versions(self) -> Versions:
        """Returns what there was to be taken out."""
        return Versions(*self._export.versions())


def _pieces(read: Callable[[int], bytes]) -> Iterator[bytes]:
    return _ahead(iter(lambda: read(_PIECE), b""))


def _ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yields the items, the next one being made while the last one is used."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as helper:
        ahead = helper.submit(next, items, None)
        while (item := ahead.result()) is not None:
            ahead = helper.submit(next, items, None)
            yield item
