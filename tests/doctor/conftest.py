"""A store of twenty rows of every kind, and what `doctor` says of stores."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cyberos import _native
from cyberos.core import store as stores
from cyberos.operations import doctor

_NOW = 1_800_000_000_000_000_000


def _fill(root: Path) -> None:
    writer = _native.Writer(root)

    def put(path, body):
        writer.submit([("put", "ann", _NOW, None, path, body.encode(), None)])

    for number in range(14):
        put(f"memories/f/{number % 6}.md", f"---\nkind: fact\n---\nversion {number}\n")
    writer.submit([("move", "ann", _NOW, None, "memories/f/1.md", "memories/g/1.md")])
    writer.submit([("delete", "ann", _NOW, None, "memories/f/2.md", "tombstone", "old")])
    writer.submit([("delete", "ann", _NOW, None, "memories/f/3.md", "purge", "secret")])
    scored = {"path": "memories/f/4.md", "score": 0.5}
    writer.submit([("aux", "ann", _NOW, scored, "memory.importance_scored", "memories/f/4.md")])
    put("memories/new.md", "new\n")
    put("memories/new.md", "newer\n")
    writer.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "store"
    stores.init(root)
    _fill(root)
    return root


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture
def ids() -> Callable[[Path], set[tuple[str, str | None]]]:
    """Returns the ids of what is found, each with the file it is about."""

    def found(root: Path) -> set[tuple[str, str | None]]:
        return {(finding.id, finding.file) for finding in doctor.examine(str(root)).findings}

    return found
