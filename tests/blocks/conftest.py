"""Tests of block memory run on both databases, and what they leave is checked against every invariant.

Criteria that a machine can check are tests named after them: criteria.txt lists them, docs/criteria.md says which tests
hold which.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cyberos import clock
from cyberos.blocks import connector
from tests.blocks import servers
from tests.blocks.home import Home


@pytest.fixture(scope="session")
def _shared_postgres(postgres: servers.Server) -> Iterator[tuple[Any, str]]:
    name = postgres.database()
    database = connector.connect(postgres.url(name, servers.APP))
    yield database, name
    database.close()


@pytest.fixture(scope="session")
def sqlite_template(memory: Path) -> Path:
    return servers.sqlite_template(memory)


@pytest.fixture
def new_home(request: pytest.FixtureRequest, memory: Path, tmp_path: Path) -> Iterator[Callable[..., Home]]:
    """Returns what makes a project of a new principal; with `alone`, in a database of its own."""
    homes: list[tuple[Home, bool, bool]] = []

    def make(kind: str, *, alone: bool = False, sound: bool = True, number: int | None = None, **rules: int) -> Home:
        if kind == "sqlite":
            folder = memory / f"{tmp_path.name}-{len(homes)}"
            folder.mkdir()
            file = folder / "blocks.db"
            shutil.copy(request.getfixturevalue("sqlite_template"), file)
            home = Home(connector.connect(str(file)), connector.connect(str(file)), str(file), rules, number)
        else:
            server: servers.Server = request.getfixturevalue("postgres")
            database, name = request.getfixturevalue("_shared_postgres")
            if alone:
                name = server.database()
                database = connector.connect(server.url(name, servers.APP))
            owner = connector.connect(server.url(name))
            home = Home(database, owner, server.url(name), rules, number)
        homes.append((home, sound, kind == "postgres" and not alone))
        return home

    yield make
    problems = [problem for home, sound, _ in homes if sound for problem in home.problems()]
    for home, _, shared in homes:
        home.close(shared=shared)
        if home.kind == "postgres" and not shared:
            request.getfixturevalue("postgres").drop(home.url.partition("?")[0].rpartition("/")[2])
    assert problems == []


@pytest.fixture
def home(kind: str, new_home: Callable[..., Home]) -> Home:
    """A project of a new principal; at the end every invariant must hold."""
    return new_home(kind)


@pytest.fixture
def neighbour(home: Home) -> Iterator[Home]:
    """A project of another principal, in the same database as `home`."""
    other = home.beside()
    yield other
    problems = other.problems()
    other.close(shared=True)
    assert problems == []


@pytest.fixture
def broken(kind: str, new_home: Callable[..., Home]) -> Home:
    """A project in a database of its own, in which anything may be broken."""
    return new_home(kind, alone=True, sound=False)


@pytest.fixture
def alone(kind: str, new_home: Callable[..., Home]) -> Home:
    """A project in a database of its own."""
    return new_home(kind, alone=True)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> "Time":
    moved = Time()
    monkeypatch.setattr(clock, "now_ns", moved)
    return moved


class Time:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.ns = 1_800_000_000 * clock.NS

    def __call__(self) -> int:
        return self.ns

    def pass_(self, seconds: float) -> None:
        self.ns += int(seconds * clock.NS)
