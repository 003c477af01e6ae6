"""Stores to write to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cyberos.core import store as stores
from cyberos.core.writer import Writer


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stores.init(tmp_path / "store")


@pytest.fixture
def writer(store: Path) -> Iterator[Writer]:
    with Writer(store, actor="ann") as writer:
        yield writer
