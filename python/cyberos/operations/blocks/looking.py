"""Looking at a project of block memory."""

from typing import NamedTuple

from cyberos.blocks import graph, views
from cyberos.blocks.graph import Graph
from cyberos.blocks.views import BlockView, ConflictView, ReceiptView, SessionView
from cyberos.operations.blocks import place as places
from cyberos.operations.blocks.place import Place


class Sessions(NamedTuple):
    """The sessions of a project that started last."""

    project_id: str
    project: str
    sessions: list[SessionView]


class Shown(NamedTuple):
    """A session with its blocks, or one block (`session` is null then)."""

    session: SessionView | None
    blocks: list[BlockView]


class Conflicts(NamedTuple):
    """Branches that said something of the same topic without having seen each other."""

    project_id: str
    project: str
    conflicts: list[ConflictView]


class Receipts(NamedTuple):
    """What was handed to a session, the first time first."""

    session_id: str
    receipts: list[ReceiptView]


def list_sessions(place: Place, *, status: str | None = None, limit: int = 100) -> Sessions:
    """Returns sessions, the newest first."""
    with places.project(place) as at:
        found = views.sessions(at.engine, at.caller, at.project_id, status=status, limit=limit)
        return Sessions(at.project_id, at.name, found)


def show(place: Place, what: str) -> Shown:
    """Returns a session, by its id or native reference, or a block by its id."""
    with places.project(place) as at:
        if what.startswith("blk_"):
            return Shown(None, [views.block(at.engine, at.caller, at.project_id, what)])
        return Shown(*views.session(at.engine, at.caller, at.project_id, places.target(what)))


def log(place: Place, *, limit: int = 50, before: int | None = None) -> Graph:
    """Returns a window of the graph, newest first."""
    with places.project(place) as at:
        return graph.window(at.engine, at.caller, at.project_id, limit=limit, before=before)


def conflicts(place: Place, *, settled: bool = False) -> Conflicts:
    """Returns the conflicts that are not settled, or all."""
    with places.project(place) as at:
        found = views.conflicts(at.engine, at.caller, at.project_id, settled=settled)
        return Conflicts(at.project_id, at.name, found)


def receipts(place: Place, session: str) -> Receipts:
    """Returns what was handed to a session."""
    with places.project(place) as at:
        target = places.target(session)
        found = views.session(at.engine, at.caller, at.project_id, target)[0]
        return Receipts(found.session_id, views.receipts(at.engine, at.caller, at.project_id, target))
