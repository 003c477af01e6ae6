"""Whether a store can be read."""

from typing import NamedTuple

from cyberos import __version__, config
from cyberos.core.reader import AuditChainReader


class Health(NamedTuple):
    """A store that can be read: `last_seq` is its last row."""

    status: str
    version: str
    store_id: str | None
    last_seq: int


def health(store: str, *, reader: AuditChainReader | None = None) -> Health:
    """Returns what is there; raises where the store cannot be read. `verify` is what checks it."""
    reader = reader or AuditChainReader(store)
    return Health("ok", __version__, config.load(store).store_id, reader.last_seq())
