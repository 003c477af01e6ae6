"""Where a user's block memory is: the database, the project, and who asks."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cyberos import clock, config, layout
from cyberos.blocks import connector, enrolment, views
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import Engine, Rules
from cyberos.blocks.records import Target
from cyberos.blocks.schema import migrations
from cyberos.errors import BadArgument, BadConfig, NotEnrolled


class Place(NamedTuple):
    """What a surface knows: the store at hand, who acts, and what the user or the environment says instead of it.

    `url` wins over the store's settings; `token` is what a server demands; `project` is an id or a name.
    """

    store: str
    actor: str
    url: str | None = None
    token: str | None = None
    project: str | None = None


class At(NamedTuple):
    """A project, open."""

    engine: Engine
    caller: Caller
    project_id: str
    name: str


def settings_of(place: Place) -> config.Config:
    """Returns the store's settings; raises `UnsupportedStore` where its format is a newer one."""
    from cyberos.core.inspection import check_format

    check_format(place.store)
    return config.load(place.store)


def store_id(settings: config.Config, store: str) -> str:
    """Returns the id by which a project knows a store."""
    if settings.store_id is None:
        raise BadConfig(
            f"the store at {store} has no store_id in its manifest.json",
            file=layout.MANIFEST,
            key="store_id",
            hint='give it one that no other store has: "store_id": "store-…"',
        )
    return settings.store_id


def url_of(place: Place, settings: config.Config) -> str:
    """Returns where block memory lies."""
    return place.url or settings.blocks.url or layout.blocks_file(place.store)


def is_beside(place: Place) -> bool:
    """Whether block memory lies where it does unless somebody says otherwise: in the file beside the store."""
    return url_of(place, settings_of(place)) == layout.blocks_file(place.store)


@contextmanager
def database(place: Place, *, create: bool = False, checked: bool = True) -> Iterator[tuple[Engine, Caller]]:
    """Yields the database, open, and who asks. A file that is not there is made with `create`; tables are `checked`."""
    settings = settings_of(place)
    url = url_of(place, settings)
    if not create and connector.is_embedded(url) and not os.path.exists(connector.file_of(url)):
        raise NotEnrolled(
            f"{place.store} has no block memory: there is no {connector.file_of(url)}",
            store=place.store,
            hint="run `cyberos blocks enrol`",
        )
    rules = Rules(
        settings.blocks.keys_kept_hours * 3_600 * clock.NS, settings.blocks.dormant_after_hours * 3_600 * clock.NS
    )
    opened = connector.connect(url, create=create)
    try:
        if checked:
            migrations.check(opened)
        yield Engine(opened, rules), Caller(place.actor, place.token)
    finally:
        opened.close()


@contextmanager
def project(place: Place) -> Iterator[At]:
    """Yields the project that is meant: the one that is named, else the one that the store is enrolled in."""
    with database(place) as (to, caller):
        if place.project is not None:
            found = views.project(to, caller, place.project)
        else:
            found = _only(place, views.projects_of(to, caller, store_id(settings_of(place), place.store)))
        yield At(to, caller, found.project_id, found.name)


def _only(place: Place, found: list[enrolment.Named]) -> enrolment.Named:
    if not found:
        raise NotEnrolled(
            f"{place.store} is not enrolled in a project", store=place.store, hint="run `cyberos blocks enrol`"
        )
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise BadArgument(f"the store is enrolled in several projects: {names}", argument="--project", hint="name one")
    return found[0]


def target(text: str) -> Target:
    """Returns the session that a text means: a native reference has a colon, an id has none."""
    return Target(native_ref=text) if ":" in text else Target(session_id=text)
