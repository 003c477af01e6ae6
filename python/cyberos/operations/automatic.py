"""Signing the log's head without being asked: when enough rows have come, or a segment was sealed."""

import os

from cyberos import config, layout
from cyberos.core.reader import AuditChainReader
from cyberos.crypto.keys import Keys
from cyberos.errors import CyberosError

_SIZE_DIGITS = 20


def sign_if_due(store: str, held: Keys, reference: str) -> list[str]:
    """Signs the head of a store's log where that is due; returns warnings. What was written before stays written.

    It is due when `checkpoints.every_rows` of manifest.json have come since the newest signed head, and when a segment
    was sealed since. Without that setting, whoever has no key has not asked for it, and nothing is done.
    """
    try:
        every = config.load(store).checkpoints.every_rows
        asked = every > 0 or held.has(reference) or reference.startswith("keyring:")
        if not asked or not is_due(store, every):
            return []
        from cyberos.operations import checkpoints

        return checkpoints.create(store, held, reference).warnings
    except CyberosError as error:
        return [f"the log's head is not signed: {error.message}"]


def is_due(store: str, every: int) -> bool:
    """Whether the head should be signed now."""
    sealed = any(_is_sealed(name) for name in _names(os.path.join(store, layout.AUDIT)))
    if not every and not sealed:
        return False
    sizes = [name[:_SIZE_DIGITS] for name in _names(os.path.join(store, layout.CHECKPOINTS))]
    signed = max((int(size) for size in sizes if size.isascii() and size.isdigit()), default=0)
    reader = AuditChainReader(store)
    last = reader.last_seq()
    if every and last - signed >= every:
        return True
    segments, _ = reader.native.layout()
    active = [first for file, first in segments if file == layout.ACTIVE_SEGMENT]
    return sealed and (active[0] - 1 if active else last) > signed


def _is_sealed(name: str) -> bool:
    return name.endswith((".binlog", ".binlog.zst")) and name != os.path.basename(layout.ACTIVE_SEGMENT)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
