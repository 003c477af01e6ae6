"""A store whose owner has approved recording, with and without keys."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cyberos.core import protocol
from cyberos.core.writer import Writer
from cyberos.crypto import rotation
from cyberos.crypto.keystore import Keystore

PHRASE = "APPROVE protocol change P22 §18"


def approve(store: Path) -> None:
    """Makes the protocol text say that sessions may be recorded."""
    protocol.save(store, protocol.amended(protocol.load(store), protocol.amendment_for(PHRASE)))


@pytest.fixture
def approved(store: Path) -> Path:
    """A store where sessions may be recorded."""
    approve(store)
    return store


@pytest.fixture
def keystore(tmp_path: Path) -> Keystore:
    """Somebody's keys of sessions."""
    made = Keystore(str(tmp_path / "config"), {})
    rotation.init(made, "file")
    return made


@pytest.fixture
def memory(approved: Path) -> Iterator[Writer]:
    """A writer without keys."""
    with Writer(approved, actor="ann") as writer:
        yield writer


@pytest.fixture
def sealed(approved: Path, keystore: Keystore) -> Iterator[Writer]:
    """A writer with keys."""
    with Writer(approved, actor="ann", keystore=keystore) as writer:
        yield writer


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of the program."""
    folder = tmp_path / "config"
    monkeypatch.setenv("CYBEROS_CONFIG", str(folder))
    return folder


def plain(file: Path) -> bytes:
    """Returns what others' zstd makes of a file."""
    with file.open("rb") as source:
        return zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True).read()


def frames(file: Path) -> list[dict[str, Any]]:
    """Returns the payloads of a transcript, read by others' means and the log's frame."""
    content, found, at = plain(file), [], 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        found.append(json.loads(content[at + 24 : at + 24 + length]))
        at += 24 + length
    return found
