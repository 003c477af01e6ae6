"""What the routes serve."""

from typing import NamedTuple

from fastapi import Request

from cyberos import layout
from cyberos.core.reader import AuditChainReader
from cyberos.errors import StoreNotFound


class Served(NamedTuple):
    """A store, and the reader that is open for all requests: threads share it, and it sees what is appended.

    A question that reads the whole log opens a reader of its own, since a shared one answers one question at a time.
    """

    store: str
    reader: AuditChainReader


def served(request: Request) -> Served:
    """Returns what the application of this request serves; raises `StoreNotFound` where the store has gone since."""
    found: Served = request.app.state.served
    if not layout.is_store(found.store):
        raise StoreNotFound(f"the store at {found.store} is gone", store=found.store)
    return found
