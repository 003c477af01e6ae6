"""A key that is replaced goes on counting, one that is destroyed does not, and nothing is done unasked."""

import json
import os
import stat

import pytest

from cyberos.crypto import retired
from cyberos.crypto.keys import Keys
from cyberos.errors import KeyRefused
from cyberos.operations import checkpoints, keys
from tests.trust.conftest import X


@pytest.fixture
def run(cli, store, held):
    def run(*args):
        return cli("--store", store, *args)

    return run


@pytest.fixture
def signed(run, grow, tmp_path):
    """A head that the first key signed, kept elsewhere."""
    grow(1, 3)
    assert run("checkpoint", "create").code == 0
    assert run("checkpoint", "export", "-o", tmp_path / "first.txt").code == 0
    return tmp_path / "first.txt"


def public(run, *key):
    return run("key", "show", *key).out.strip()


def test_what_a_replaced_key_signed_still_counts(run, held, signed, grow, tmp_path):
    old, secret = public(run), held.get("default")
    done = run("key", "rotate", "--kind", "signing", "--yes")
    new = public(run)
    assert (done.code, done.out) == (
        0,
        f"file:default  is a new key\nnew  {new}\nold  {old}  what it signed still counts\n",
    )
    assert held.get("default") != secret
    assert not [name for name in os.listdir(f"{held.folder}/keys") if name not in ("default.key", "retired.json")]
    assert run("verify", "--against", signed).code == 0
    grow(4, 5)
    assert run("checkpoint", "create").out.split()[5].endswith(new.split("+")[1])
    assert run("verify", "--against", "remembered", "--against", signed).code == 0
    assert run("prove", f"{X}@2", "-o", tmp_path / "x.proof").code == 0
    assert run("verify-proof", tmp_path / "x.proof", "--key", new).code == 0, "a proof is for who has the new key"
    assert run("verify-proof", tmp_path / "x.proof", "--key", old).code != 0


def test_a_rewritten_log_is_noticed_by_what_a_replaced_key_signed(run, signed, grow, copy, put_back, tmp_path):
    grow(4, 6)
    assert run("checkpoint", "create").code == 0
    assert run("checkpoint", "export", "-o", tmp_path / "second.txt").code == 0
    before = copy("before")
    assert run("key", "rotate", "--kind", "signing", "--yes").code == 0
    put_back(before)
    grow(7, 8)
    assert run("verify", "--against", tmp_path / "second.txt").code == 0
    other = tmp_path / "other"
    put_back(before)
    os.rename(tmp_path / "store", other)
    run("init")
    manifest = (other / "manifest.json").read_bytes()
    (tmp_path / "store/manifest.json").write_bytes(manifest)
    grow(1, 8, "forged")
    assert run("checkpoint", "create").code == 7, "the new key signs nothing that contradicts the old one"
    assert run("verify", "--against", tmp_path / "second.txt").code != 0


def test_what_a_destroyed_key_signed_counts_only_for_who_names_it(run, store, held, signed):
    first = public(run)
    assert run("key", "rotate", "--kind", "signing", "--yes").code == 0
    assert len(retired.of(held, "file:default")) == 1
    assert run("key", "delete", "default", "--dry-run").out == (
        "would destroy file:default, and what is known of 1 former key\n"
    )
    assert run("verify", "--against", signed).code == 0
    assert run("key", "delete", "default", "--yes").code == 0
    assert not held.has("file:default")
    assert run("verify", "--against", signed).code == 8
    assert run("key", "create").code == 0
    assert run("verify", "--against", signed).code == 1, "another key of that name is another key"
    assert run("verify", "--against", signed, "--key", first).code == 0
    assert len(checkpoints.list_heads(str(store)).checkpoints) == 1


@pytest.mark.parametrize("command", [("rotate", "--kind", "signing"), ("delete", "default")])
def test_nothing_is_done_unasked_or_in_a_dry_run(run, held, command):
    before = held.get("default")
    planned = run("key", *command, "--dry-run", "--json")
    assert (planned.code, json.loads(planned.out)["dry_run"]) == (0, True)
    assert run("key", *command).code == 4, "there is no terminal to ask on"
    assert held.get("default") == before
    assert os.listdir(f"{held.folder}/keys") == ["default.key"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("rotate", "none", "--kind", "signing"), 8),
        (("rotate", "env:K", "--kind", "signing"), 2),
        (("rotate", "--kind", "signing", "--provider", "file"), 2),
        (("rotate", "default", "--kind", "master"), 2),
        (("rotate",), 2),
        (("delete", "none"), 8),
        (("delete", "env:K"), 2),
        (("delete", "file:../x"), 2),
        (("delete",), 2),
    ],
)
def test_what_cannot_be_is_told(run, command, code):
    done = run("key", *command, "--yes")
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(("error[", "Usage:"))


def test_keys_in_the_keyring_change_too(tmp_path, keyring):
    held = Keys(str(tmp_path / "config"), {})
    old = held.create("keyring:a")
    keys.rotate(held, "keyring:a", store=None)
    assert held.get("keyring:a") != old
    assert retired.all_publics(held) == retired.of(held, "keyring:a") != []
    assert keys.delete(held, "keyring:a").retired == 1
    assert (keyring.kept, retired.all_publics(held)) == ({}, [])


def test_a_rotation_that_was_cut_short_is_done_again(held, monkeypatch):
    def fail(*_):
        raise OSError(28, "full")

    with monkeypatch.context() as patched:
        patched.setattr(Keys, "replace", fail)
        with pytest.raises(OSError, match="full"):
            keys.rotate(held, "default", store=None)
    before = held.get("default")
    assert len(retired.all_publics(held)) == 1, "the key is its own predecessor, and counts once"
    keys.rotate(held, "default", store=None)
    assert held.get("default") != before
    assert (len(retired.of(held, "file:default")), len(retired.all_publics(held))) == (1, 2)


@pytest.mark.parametrize("text", ["", "[]", '{"file:default": ["AAAA"]}', '{"file:default": 1}', "{", '{"a": [1]}'])
def test_a_list_of_former_keys_that_is_none_or_that_others_could_change_is_refused(held, text):
    keys.rotate(held, "default", store=None)
    path = f"{held.folder}/keys/retired.json"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    with pytest.raises(KeyRefused, match="no list of public keys"):
        retired.all_publics(held)
    os.chmod(path, 0o666)
    with pytest.raises(KeyRefused, match="other users"):
        keys.rotate(held, "default", store=None)
