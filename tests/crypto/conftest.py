import base64
import os
from pathlib import Path

import pytest

from cyberos.crypto import rotation
from cyberos.crypto.keystore import Keystore

STORE, SESSION = "store-1", "session-1"


def new_text():
    return base64.b64encode(os.urandom(32)).decode()


@pytest.fixture
def variables():
    """The environment's variables; a test may change them."""
    return {"CYBEROS_MASTER_KEY": new_text()}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def keystore(config, variables) -> Keystore:
    """A keystore whose master key lies in a file."""
    found = Keystore.locate(str(config), variables)
    rotation.init(found, "file")
    return found


def content_of(folder):
    """Every file in a folder, lock files aside."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock"}
