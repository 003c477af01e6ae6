"""Signing the log's head without being asked: when enough rows have come, a segment was sealed, or it is exported."""

import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from cyberos import config, layout
from cyberos.core.reader import AuditChainReader
from cyberos.crypto import keys
from cyberos.crypto.keys import Keys
from cyberos.errors import CyberosError

if TYPE_CHECKING:
    from cyberos.operations.checkpoints import Head

_SIZE_DIGITS = 20


class Signer:
    """Signs heads of one store's log with one key, wherever that is due. What was written before stays written.

    It is due when `checkpoints.every_rows` of manifest.json have come since the newest signed head, and when a segment
    was sealed since. Without that setting, whoever has no key has not asked for it, and nothing is done.

    Given to a `Writer`, it looks after each commit: `Writer(store, signer=Signer(store, held, tell=print))`. Threads
    may share it.
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        held: Keys,
        reference: str = keys.DEFAULT,
        *,
        tell: Callable[[str], object],
    ) -> None:
        """`tell` is called with each reason for which a head is not signed, or not copied."""
        self._store, self._held, self._reference, self._tell = os.fspath(store), held, reference, tell
        self._signing = threading.Lock()
        # When to look again: from this row on, or when there are other segments.
        self._next = 0.0
        self._segments: int | None = None

    def __call__(self, last_seq: int) -> None:
        """Signs the head where that is due, now that there is a row `last_seq`."""
        if not self._signing.acquire(blocking=False):
            return  # another thread is at it, and the next commit looks again
        try:
            segments = len(_sealed(self._store))
            if last_seq < self._next and segments == self._segments:
                return
            self._segments = segments
            every = self.sign_if_due()
            signed = _newest_size(self._store)
            # Where signing failed it is tried again so many rows later, and not at every row.
            self._next = max(signed, last_seq if last_seq - signed >= every else 0) + every if every else math.inf
        finally:
            self._signing.release()

    def sign_if_due(self) -> int:
        """Signs the head where that is due; returns `checkpoints.every_rows`."""
        every = 0
        try:
            every = config.load(self._store).checkpoints.every_rows
            if self._is_asked(every) and is_due(self._store, every):
                self.sign()
        except CyberosError as error:
            self._complain(error)
        return every

    def sign(self, size: int | None = None) -> "Head | None":
        """Signs the head, or that of `size` rows, where there is a key; `None` where it is not signed."""
        from cyberos.operations import checkpoints

        try:
            if not self._is_asked(config.load(self._store).checkpoints.every_rows):
                return None
            made = checkpoints.create(self._store, self._held, self._reference, size=size)
        except CyberosError as error:
            self._complain(error)
            return None
        for warning in made.warnings:
            self._tell(warning)
        return made.head

    def _is_asked(self, every: int) -> bool:
        return every > 0 or self._held.has(self._reference) or self._reference.startswith("keyring:")

    def _complain(self, error: CyberosError) -> None:
        self._tell(f"the log's head is not signed: {error.message}")


def is_due(store: str, every: int) -> bool:
    """Whether the head should be signed now."""
    sealed = _sealed(store)
    if not every and not sealed:
        return False
    signed = _newest_size(store)
    reader = AuditChainReader(store)
    last = reader.last_seq()
    if every and last - signed >= every:
        return True
    segments, _ = reader.native.layout()
    active = [first for file, first in segments if file == layout.ACTIVE_SEGMENT]
    return bool(sealed) and (active[0] - 1 if active else last) > signed


def _newest_size(store: str) -> int:
    sizes = [name[:_SIZE_DIGITS] for name in _names(os.path.join(store, layout.CHECKPOINTS))]
    return max((int(size) for size in sizes if size.isascii() and size.isdigit()), default=0)


def _sealed(store: str) -> list[str]:
    active = os.path.basename(layout.ACTIVE_SEGMENT)
    names = _names(os.path.join(store, layout.AUDIT))
    return [name for name in names if name.endswith((".binlog", ".binlog.zst")) and name != active]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
