"""What the routes serve."""

from typing import NamedTuple

from fastapi import Request

from cyberos import layout
from cyberos.core.reader import AuditChainReader
from cyberos.errors import StoreNotFound


class Served(NamedTuple):
    """A store, and readers that are open for all requests: threads share them, and they see what is appended.

    A reader answers one question at a time, so there is one for each kind: `reader` for those that look rows up,
    `listing` for lists of the memories there are, `quick` for histories that nothing may keep waiting. A question that
    reads the whole log every time opens one of its own.
    """

    store: str
    reader: AuditChainReader
    listing: AuditChainReader
    quick: AuditChainReader

    @classmethod
    def open(cls, store: str) -> "Served":
        """Opens the readers; raises what opening a store raises."""
        return cls(store, AuditChainReader(store), AuditChainReader(store), AuditChainReader(store))

    def require(self) -> None:
        """Raises `StoreNotFound` where the store has gone since."""
        if not layout.is_store(self.store):
            raise StoreNotFound(f"the store at {self.store} is gone", store=self.store)


def served(request: Request) -> Served:
    """Returns what the application of this request serves; raises `StoreNotFound` where the store has gone since."""
    found: Served = request.app.state.served
    found.require()
    return found
