"""The life of a session, and of the project it is in; each change is told to the store's chain when it is done."""

import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from cyberos import layout
from cyberos.blocks import anchor, bootstrap, connector, enrolment, lifecycle, views
from cyberos.blocks.bootstrap import Bootstrap
from cyberos.blocks.facts import Fact
from cyberos.blocks.schema import migrations
from cyberos.errors import Absent, CyberosError
from cyberos.operations.blocks import place as places
from cyberos.operations.blocks.place import At, Place

# How many seconds to wait for a store that somebody else writes to.
PATIENCE: Final = 10.0


class Changed(NamedTuple):
    """What became of a change: the answer of `cyberos.blocks`, how many rows were added to the chain, and what is yet
    to be done although the change is durable.
    """

    result: Any
    anchored: int
    warnings: tuple[str, ...]


def enrol(place: Place, name: str | None = None) -> Changed:
    """Enrols the store in a project, by default named after the folder that the store is for. May be repeated."""
    settings = places.settings_of(place)
    embedded = connector.is_embedded(places.url_of(place, settings))
    store_id = places.store_id(settings, place.store)
    with places.database(place, create=embedded, checked=not embedded) as (to, caller):
        if embedded:
            migrations.migrate(to.database)
            enrolment.adopt(to)
        enrolled = enrolment.enrol(to, caller, store_id, name or _folder(place.store))
        return _told(place, At(to, caller, enrolled.project_id, enrolled.name), enrolled)


def start(place: Place, native_ref: str, *, transcript_id: str | None = None, key: str | None = None) -> Changed:
    """Starts a session, or returns the one that is open."""
    with places.project(place) as at:
        result = lifecycle.start(at.engine, at.caller, at.project_id, native_ref, transcript_id=transcript_id, key=key)
        return _told(place, at, result)


def append(place: Place, session: str, facts: Sequence[Fact], *, key: str | None = None) -> Changed:
    """Adds facts to a session; by a native reference, it is started where it is not open."""
    with places.project(place) as at:
        result = lifecycle.append(at.engine, at.caller, at.project_id, places.target(session), facts, key=key)
        return _told(place, at, result, quiet=not result.started)


def resolve(place: Place, conflict_id: str, session: str, text: str, *, key: str | None = None) -> Changed:
    """Adds a fact that settles a conflict, on the conflict's topic."""
    with places.project(place) as at:
        known = views.conflicts(at.engine, at.caller, at.project_id, settled=True)
        conflict = next((each for each in known if each.conflict_id == conflict_id), None)
        if conflict is None:
            raise Absent
        fact = Fact(text, conflict.topic, resolves=(conflict_id,))
        result = lifecycle.append(at.engine, at.caller, at.project_id, places.target(session), [fact], key=key)
        return _told(place, at, result, quiet=not result.started)


def resume(place: Place, session: str, *, key: str | None = None) -> Changed:
    """Goes on with an open session."""
    with places.project(place) as at:
        result = lifecycle.resume(at.engine, at.caller, at.project_id, places.target(session), key=key)
        return _told(place, at, result)


def end(place: Place, session: str, *, summary: str | None = None, key: str | None = None) -> Changed:
    """Ends a session: its branch becomes part of the project's history."""
    with places.project(place) as at:
        target = places.target(session)
        result = lifecycle.end(at.engine, at.caller, at.project_id, target, summary=summary, key=key)
        return _told(place, at, result)


def abandon(place: Place, session: str, *, reason: str | None = None, key: str | None = None) -> Changed:
    """Ends a session whose branch never becomes part of the project's history."""
    with places.project(place) as at:
        target = places.target(session)
        result = lifecycle.abandon(at.engine, at.caller, at.project_id, target, reason=reason, key=key)
        return _told(place, at, result)


def hand_out(place: Place, session: str | None = None, *, budget: int = bootstrap.BUDGET) -> Bootstrap:
    """Returns what a session is told; without one, what a session would be told that started now."""
    with places.project(place) as at:
        if session is None:
            return bootstrap.for_project(at.engine, at.caller, at.project_id, budget=budget)
        target = places.target(session)
        return bootstrap.for_session(at.engine, at.caller, at.project_id, target, budget=budget)


def _told(place: Place, at: At, result: Any, *, quiet: bool = False) -> Changed:
    """Tells the chain; what fails of that is a warning, since the change is durable and the next one catches up."""
    if quiet:
        return Changed(result, 0, ())
    try:
        anchored = anchor.catch_up(at.engine, at.caller, place.store, at.project_id, patience=PATIENCE)
    except CyberosError as error:
        return Changed(result, 0, (f"the store's log has not been told yet: {error.message}",))
    return Changed(result, anchored.rows, ())


def _folder(store: str) -> str:
    """Returns the name of the folder that a store is for."""
    store = os.path.abspath(store)
    return os.path.basename(store.removesuffix(os.sep + layout.IN_PROJECT)) or "project"
