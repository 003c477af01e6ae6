"""What every test gets: an environment of its own, a clock that can be set, and ways to run the program."""

import gc
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

from cyberos import clock
from cyberos.cli.main import main
from cyberos.core import store as stores
from cyberos.core.writer import Writer
from tests.blocks import servers

# One seed, so that a run can be repeated; HYPOTHESIS_PROFILE=search looks further.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("search", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

_CLEARED = ("CYBEROS_", "_CYBEROS_", "PYTHON", "NO_COLOR", "COLUMNS")


class Run(NamedTuple):
    """What one run of the program did."""

    code: int
    out: str
    err: str


class MockTime:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, text: str) -> None:
        self.ns = 0
        self.set(text)

    def __call__(self) -> int:
        return self.ns

    def set(self, text: str) -> None:
        self.ns = clock.parse_time(text)


def pytest_collection_finish() -> None:
    """What is there before the first test need not be looked at after each file of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_open() -> Iterator[None]:
    """What a test forgot to close is told with the tests of its file, and not with those that run when it is freed."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def _sealed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(_CLEARED):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("CYBEROS_CONFIG", "/nonexistent/cyberos")  # nobody's keys


@pytest.fixture
def mock_time(monkeypatch: pytest.MonkeyPatch) -> MockTime:
    mock = MockTime("2026-05-19T08:00:42Z")
    monkeypatch.setattr(clock, "now_ns", mock)
    return mock


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Runs a command line in this process."""

    def run(*args: str | Path) -> Run:
        code = main([str(arg) for arg in args])
        return Run(code, *capfd.readouterr())

    return run


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Run]:
    """Runs the program as users do, in an empty folder and with hardly any environment."""
    folder = tmp_path / "cwd"
    folder.mkdir()

    def run(*args: str | Path, stdin: bytes = b"", cwd: Path = folder, **env: str) -> Run:
        sealed = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "100", **env}
        done = subprocess.run(
            [sys.executable, "-W", "ignore:this is a debug build", "-m", "cyberos", *map(str, args)],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=sealed,
            check=False,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """Stands in for the package of this name; what it keeps is `kept`, by service and name."""
    kept: dict[tuple[str, str], str] = {}
    ring = types.SimpleNamespace(
        errors=types.SimpleNamespace(KeyringError=RuntimeError),
        get_password=lambda service, name: kept.get((service, name)),
        set_password=lambda service, name, text: kept.update({(service, name): text}),
        delete_password=lambda service, name: kept.pop((service, name)),
        kept=kept,
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)
    return ring


@pytest.fixture
def bare_store(tmp_path: Path) -> Path:
    """The least that counts as a store: a folder with a manifest."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "manifest.json").write_text("{}")
    return store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stores.init(tmp_path / "store")


@pytest.fixture
def writer(store: Path) -> Iterator[Writer]:
    with Writer(store, actor="ann") as writer:
        yield writer


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder whose files need not be synced to a disk, where the system has that."""
    with servers.memory_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres() -> Iterator["servers.Server"]:
    """A PostgreSQL, the same one for the whole run."""
    with servers.running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """The database that a test of block memory is run on."""
    return str(request.param)
