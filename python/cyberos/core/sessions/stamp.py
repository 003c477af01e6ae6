"""What a memory's row says of the session it was written in."""

from typing import Any

from cyberos.core.reader import AuditChainReader
from cyberos.core.sessions import desk
from cyberos.core.sessions.book import Book


def of(reader: AuditChainReader, named: str | None) -> dict[str, Any]:
    """Returns `session_id` and, once it has a turn, `session_turn`: of the session that is named, or the active one.

    Of a named session that is not the active one no turn is known.
    """
    active = _active(reader)
    if named is not None and named != active:
        return {"session_id": named}
    if active is None:
        return {}
    lease = desk.lease(reader.store_path)
    turns = lease.turns if lease and lease.session_id == active else 0
    return {"session_id": active, **({"session_turn": turns - 1} if turns else {})}


def _active(reader: AuditChainReader) -> str | None:
    """Returns the active session: the one that the pointer names, if the log agrees, else the log's."""
    pointer, sessions = desk.active(reader.store_path), Book(reader)
    known = sessions.find(pointer) if pointer else None
    if known is None or known.state != "active":
        known = sessions.active()
    return known.id if known and known.state == "active" else None
