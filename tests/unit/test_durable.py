import os

import pytest

from cyberos import durable
from cyberos.errors import DiskFull


def test_a_file_is_synced_before_it_gets_its_name_and_its_name_after(tmp_path, monkeypatch):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no way to tell what a descriptor is of")
    done = []
    fsync, rename = os.fsync, os.replace

    def told_fsync(descriptor):
        done.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def told_rename(old, new):
        done.append("rename")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", told_fsync)
    monkeypatch.setattr(os, "replace", told_rename)
    file = tmp_path / "file"
    durable.replace(file, b"one")
    assert done == [f"{file}.tmp", "rename", str(tmp_path)]
    assert file.read_bytes() == b"one"


def test_a_file_that_cannot_be_replaced_is_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "file"
    durable.replace(file, b"one")

    def fail(old, new):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(DiskFull, match=r"cannot write .*file: No space left on device"):
        durable.replace(file, b"two")
    assert os.listdir(tmp_path) == ["file"]
    assert file.read_bytes() == b"one"
    monkeypatch.undo()
    durable.replace(file, b"three")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"three", ["file"])


def test_the_longest_name_there_can_be_does(tmp_path):
    for name in ("x" * 255, "\u00fc" * 127 + "x"):
        for shared in (True, False):
            durable.replace(tmp_path / name, b"one", shared=shared)
        assert (tmp_path / name).read_bytes() == b"one"
        assert len(os.fsencode(os.path.basename(durable.beside(name, ".tmp")))) in (254, 255)
    assert len(os.listdir(tmp_path)) == 2


def test_what_is_there_is_not_created(tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        durable.create(tmp_path / "file", b"x")
    assert (tmp_path / "file").read_bytes() == b"mine"
