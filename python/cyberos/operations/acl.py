"""Who may write where."""

from typing import NamedTuple

from cyberos import layout
from cyberos.core import access, paths
from cyberos.core.inspection import check_format


class Explained(NamedTuple):
    """What governs one actor's writes to one path."""

    path: str
    actor: str
    allowed: bool
    mode: str
    store_id: str | None
    yaml_path: str | None
    matched_entry: str | None
    warn_only: bool


def explain(store: str, path: str, *, actor: str) -> Explained:
    """Returns what the access lists say of `actor` writing `path`, and which line says it."""
    check_format(store)
    in_sessions = path.startswith(layout.SESSIONS + "/")
    decision = access.rules(store).decide(
        actor, paths.check_lookup(path) if in_sessions else paths.check_taken_away(path)
    )
    return Explained(
        path=path,
        actor=actor,
        allowed=decision.allowed,
        mode=decision.mode,
        store_id=decision.store_id,
        yaml_path=decision.yaml_path,
        matched_entry=decision.matched_entry,
        warn_only=decision.warn_only,
    )
