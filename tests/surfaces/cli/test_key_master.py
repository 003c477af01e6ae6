"""`cyberos key init`, `rotate --kind master` and `status`."""

import base64
import json
import os

import pytest

from cyberos.crypto.keystore import Keystore


@pytest.fixture
def config(tmp_path, monkeypatch):
    folder = tmp_path / "config"
    monkeypatch.setenv("CYBEROS_CONFIG", str(folder))
    return folder


def test_a_master_key_is_made_shown_and_rotated(cli, config, store):
    assert "cyberos key init" in cli("key", "status").out
    assert cli("--store", store, "key", "init").code == 0
    status = json.loads(cli("key", "status", "--json").out)
    assert (status["sessions"], status["problem"]) == (0, None)
    keystore = Keystore.locate(str(config), {})
    keystore.create("a", "b")
    keystore.create("a", "c")
    keystore.erase("a", "b")
    assert "1 erased key: cyberos key rotate" in cli("key", "status").out
    assert cli("key", "list").out.split() == [status["key"], "master"]
    before = keystore.load()
    assert "would wrap the keys of 1 session" in cli("key", "rotate", "--kind", "master", "--dry-run").out
    assert keystore.load() == before
    run = cli("key", "rotate", "--kind", "master", "--yes")
    assert run.code == 0
    assert "wraps the keys of 1 session\n" in run.out
    assert "1 erased key out of reach" in run.out
    assert json.loads(cli("key", "list", "--json").out)["keys"] == [
        {"key": keystore.load().key, "public": None, "problem": None, "kind": "master"}
    ]


def test_nothing_is_rotated_without_asking(cli, config):
    assert cli("key", "rotate", "--kind", "master", "--yes").code == 8
    cli("key", "init")
    before = Keystore.locate(str(config), {}).load()
    assert cli("key", "rotate", "--kind", "master").code == 4
    assert Keystore.locate(str(config), {}).load() == before


def test_a_second_one_a_missing_one_and_one_in_a_store_are_refused(cli, config, store, monkeypatch):
    run = cli("key", "init", "--provider", "env")
    assert run.code == 8
    assert "set CYBEROS_MASTER_KEY" in run.err
    monkeypatch.setenv("CYBEROS_MASTER_KEY", base64.b64encode(os.urandom(32)).decode())
    assert cli("key", "init", "--provider", "env").code == 0
    assert cli("key", "init").code == 5
    monkeypatch.delenv("CYBEROS_MASTER_KEY")
    assert "problem" in cli("key", "status").out
    monkeypatch.setenv("CYBEROS_CONFIG", str(store / "meta"))
    run = cli("--store", store, "key", "init")
    assert (run.code, os.listdir(store / "meta") if (store / "meta").exists() else []) == (8, [])


def test_a_damaged_keystore_is_listed_and_told(cli, config):
    cli("key", "init")
    (config / "sessions" / "keystore").write_bytes(b"{}\n")
    assert "is damaged" in cli("key", "list").out
    assert cli("key", "status").code == 7
