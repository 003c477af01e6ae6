"""Keys: made safely, and refused where others could have read or changed them."""

import os
import stat
import sys

import pytest

from cyberos.crypto.keys import Keys, parse
from cyberos.errors import AlreadyExists, BadArgument, ExtraMissing, KeyMissing, KeyRefused
from tests.trust.conftest import key_text


def file_of(held):
    return os.path.join(held.folder, "keys", "default.key")


def test_a_new_key_is_its_owners_alone_and_never_replaced(held):
    assert stat.S_IMODE(os.stat(file_of(held)).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(file_of(held))).st_mode) == 0o700
    key = held.get("default")
    assert len(key) == 32
    with pytest.raises(AlreadyExists):
        held.create("file:default")
    assert held.get("file:default") == key
    assert held.create("file:other") != key
    assert held.list() == ["file:default", "file:other"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o601])
def test_a_key_that_others_can_open_is_refused(held, mode):
    os.chmod(file_of(held), mode)
    with pytest.raises(KeyRefused, match=f"mode {mode:04o}") as caught:
        held.get("default")
    assert "chmod 600" in caught.value.hints[0]


def test_a_key_in_a_folder_that_others_can_change_is_refused(held):
    os.chmod(os.path.dirname(file_of(held)), 0o777)
    with pytest.raises(KeyRefused, match="folder"):
        held.get("default")


def test_a_link_and_a_folder_are_no_keys(held, tmp_path):
    os.rename(file_of(held), tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", file_of(held))
    with pytest.raises(KeyRefused, match="symbolic link"):
        held.get("default")
    os.mkfifo(os.path.join(held.folder, "keys", "pipe.key"), 0o600)
    with pytest.raises(KeyRefused, match="no plain file"):
        held.get("pipe")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_somebody_elses_key_is_refused(held):
    os.chown(file_of(held), 12345, 12345)
    with pytest.raises(KeyRefused, match="another user"):
        held.get("default")


@pytest.mark.parametrize("text", ["short", key_text(1)[:-4], key_text(1) + "AAAA", "ü" * 44, "\0" * 100])
def test_what_is_no_key_is_refused(held, text):
    with open(file_of(held), "w", encoding="utf-8") as handle:
        handle.write(text)
    with pytest.raises(KeyRefused, match="32 bytes"):
        held.get("default")


def test_a_variable_may_hold_one(tmp_path):
    held = Keys(str(tmp_path), {"K": key_text(7)})
    assert held.get("env:K") == bytes([7]) * 32
    with pytest.raises(KeyMissing, match="env:L"):
        held.get("env:L")
    with pytest.raises(BadArgument):
        held.create("env:K")


@pytest.mark.parametrize("reference", ["", "a b", "x:y", "file:", "file:../up", "file:.hidden", "env:a/b", "file:a\n"])
def test_what_is_no_reference_is_told(reference):
    with pytest.raises(BadArgument, match="not a key's reference"):
        parse(reference)


def test_a_keyring_is_asked_only_where_it_is_meant(tmp_path, keyring):
    held = Keys(str(tmp_path), {})
    with pytest.raises(KeyMissing, match="keyring:a"):
        held.get("keyring:a")
    key = held.create("keyring:a")
    assert held.get("keyring:a") == key
    with pytest.raises(AlreadyExists):
        held.create("keyring:a")
    assert os.listdir(tmp_path) == []

    def fail(*_):
        raise RuntimeError("no backend")

    keyring.get_password = fail
    with pytest.raises(KeyMissing, match="no backend") as caught:
        held.get("keyring:a")
    assert "file" in caught.value.hints[0]


def test_packages_that_are_missing_are_named(held, monkeypatch, cli, store):
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ExtraMissing, match="keyring"):
        held.get("keyring:a")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    run = cli("--store", store, "checkpoint", "create")
    assert run.code == 9
    assert "pip install 'cyberos[crypto]'" in run.err
    run = cli("key", "create", "another")
    assert run.code == 9
    assert held.list() == ["file:default"], "no key is made that cannot be used"


def test_the_commands_make_list_and_show_keys(cli, store, held, tmp_path, monkeypatch):
    run = cli("--store", store, "key", "create", "second")
    assert run.code == 0
    assert cli("--store", store, "key", "show", "second").out.strip() == run.out.split()[1]
    listed = cli("--store", store, "key", "list").out.splitlines()
    assert [line.split()[0] for line in listed] == ["file:default", "file:second"]
    os.chmod(file_of(held), 0o644)
    assert "not safe to use" in cli("--store", store, "key", "list").out
    monkeypatch.setenv("CYBEROS_KEY", "file:none")
    run = cli("--store", store, "checkpoint", "create")
    assert run.code == 8
    assert "cyberos key create none" in run.err
    monkeypatch.chdir(tmp_path)
    assert cli("key", "show", "second").code == 3, "a public key carries the id of a store"
