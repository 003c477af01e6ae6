import base64
import shutil
from pathlib import Path

import pytest

from cyberos.core.writer import Writer
from cyberos.crypto.keys import Keys

X = "memories/facts/x.md"


@pytest.fixture
def held(tmp_path, monkeypatch):
    """The keys of somebody who has one."""
    folder = tmp_path / "config"
    monkeypatch.setenv("CYBEROS_CONFIG", str(folder))
    held = Keys(str(folder), {})
    held.create("file:default")
    return held


@pytest.fixture
def grow(store):
    """Appends rows `first` to `last`; of different kinds they differ."""

    def grow(first, last, kind="", into=store):
        with Writer(into, actor="ann") as writer, writer.batch() as batch:
            for number in range(first, last + 1):
                batch.put(X, f"{number}{kind}\n")

    return grow


@pytest.fixture
def copy(store, tmp_path):
    """Copies the store as it is now."""
    return lambda name: Path(shutil.copytree(store, tmp_path / name))


@pytest.fixture
def put_back(store):
    """Puts another folder in the store's place."""

    def put_back(other):
        shutil.rmtree(store)
        shutil.copytree(other, store)

    return put_back


def key_text(byte):
    return base64.b64encode(bytes([byte]) * 32).decode()
