"""What a memory's row says of the session it was written in."""

from typing import Any

from cyberos.core.reader import AuditChainReader
from cyberos.core.sessions import desk
from cyberos.core.sessions.book import Book


def of(reader: AuditChainReader, named: str | None) -> dict[str, Any]:
    """Returns `session_id` and, once it has a turn, `session_turn`: of the session that is named, or the active one.

    A pointer to a session that the log does not call active counts for nothing. Of a named session that is not the
    active one no turn is known.
    """
    store, pointer = reader.store_path, desk.active(reader.store_path)
    if named is not None and named != pointer:
        return {"session_id": named}
    known = Book(reader).find(pointer) if pointer else None
    if known is None or known.state != "active":
        return {"session_id": named} if named else {}
    lease = desk.lease(store)
    turns = lease.turns if lease and lease.session_id == pointer else 0
    return {"session_id": pointer, **({"session_turn": turns - 1} if turns else {})}
