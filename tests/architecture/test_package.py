"""What is installed: one wheel for every Python from 3.11 on, typed, and frank about how it was built."""

import importlib
import importlib.metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import cyberos
from cyberos import _native


def test_the_compiled_module_keeps_to_the_stable_interface():
    assert Path(_native.__file__).name == "_native.abi3.so"
    assert ".abi3.so" in EXTENSION_SUFFIXES


def test_the_wheel_is_for_every_python_from_3_11_on():
    wheel = importlib.metadata.distribution("cyberos").read_text("WHEEL") or ""
    tags = [line.removeprefix("Tag: ") for line in wheel.splitlines() if line.startswith("Tag: ")]
    assert tags
    assert all(tag.startswith("cp311-abi3-") for tag in tags)


def test_types_are_shipped():
    folder = Path(cyberos.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "_native.pyi").is_file()


def test_importing_a_debug_build_warns(monkeypatch):
    monkeypatch.setattr(_native, "is_debug", True)
    with pytest.warns(RuntimeWarning, match="^this is a debug build of cyberos: it is many times slower$"):
        importlib.reload(cyberos)
    monkeypatch.setattr(_native, "is_debug", False)
    importlib.reload(cyberos)  # says nothing: warnings are errors here
