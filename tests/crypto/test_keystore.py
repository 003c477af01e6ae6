"""The keys of sessions: each its own, kept wrapped, found again, erased for good, and told when anything is wrong."""

import json
import os
import stat
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos import durable
from cyberos.crypto import keystore as keystores
from cyberos.crypto import keystore_file, rotation
from cyberos.crypto.keystore import Keystore
from cyberos.crypto.keystore_file import Wrapped
from cyberos.errors import (
    BadConfig,
    CorruptKeystore,
    ExtraMissing,
    IoFailure,
    KeyErased,
    KeyMissing,
    KeyRefused,
    KeystoreLocked,
    WrongKey,
)
from tests.crypto.conftest import SESSION, STORE, content_of, new_text

PLACE = ("user", 0, 7)


def test_a_session_opens_what_it_sealed(keystore):
    envelope = keystore.create(STORE, SESSION).seal(*PLACE, b"hello")
    assert keystore.open(STORE, SESSION).open(*PLACE, envelope) == b"hello"


def test_sessions_and_stores_have_keys_of_their_own(keystore):
    ciphers = [keystore.create(store, session) for store in (STORE, "b") for session in (SESSION, "b")]
    assert len({cipher.key_ref for cipher in ciphers}) == 4
    envelope = ciphers[0].seal(*PLACE, b"hello")
    for other in ciphers[1:]:
        with pytest.raises(WrongKey):
            other.open(*PLACE, envelope)


def test_a_session_whose_start_was_interrupted_keeps_its_key(keystore):
    assert keystore.create(STORE, SESSION).key_ref == keystore.create(STORE, SESSION).key_ref


def test_without_a_keystore_nothing_is_made_and_what_to_run_is_said(config, variables):
    keystore = Keystore.locate(str(config), variables)
    assert not keystore.available()
    for call in (keystore.create, keystore.open):
        with pytest.raises(KeyMissing) as caught:
            call(STORE, SESSION)
        assert "cyberos key init" in caught.value.hints[0]
    assert keystore.erase(STORE, SESSION) == ((), None)
    assert not config.exists()


def test_without_the_package_nothing_is_made(config, variables, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(ExtraMissing):
        rotation.init(Keystore.locate(str(config), variables), "file")
    assert not config.exists()


def test_an_erased_key_is_gone_for_good(keystore, config):
    keystore.create(STORE, SESSION)
    kept = keystore.create(STORE, "kept").key_ref
    wrapped = keystore.load().keys.get(STORE, SESSION)
    assert any(wrapped.encode() in content for content in content_of(config).values())
    assert keystore.erase(STORE, SESSION) == ((keystore.path,), None)
    assert not any(wrapped.encode() in content for content in content_of(config).values())
    with pytest.raises(KeyErased) as caught:
        keystore.open(STORE, SESSION)
    assert caught.value.session_id == SESSION
    assert keystore.open(STORE, "kept").key_ref == kept
    before = content_of(config)
    assert keystore.erase(STORE, SESSION) == ((keystore.path,), None), "asked again it says the same"
    assert keystore.erase(STORE, "never") == ((), None)
    assert content_of(config) == before


def test_erasing_needs_no_master_key(config, variables):
    keystore = Keystore.locate(str(config), variables)
    rotation.init(keystore, "env")
    keystore.create(STORE, SESSION)
    del variables["CYBEROS_MASTER_KEY"]
    with pytest.raises(KeyMissing, match="the master key is not there") as caught:
        keystore.open(STORE, SESSION)
    assert "set CYBEROS_MASTER_KEY" in caught.value.hints[0]
    keystore.erase(STORE, SESSION)
    with pytest.raises(KeyMissing):
        keystore.create(STORE, "another")
    assert len(keystore.load().keys) == 0


def test_another_master_key_is_told(config, variables):
    keystore = Keystore.locate(str(config), variables)
    rotation.init(keystore, "env")
    keystore.create(STORE, SESSION)
    variables["CYBEROS_MASTER_KEY"] = new_text()
    for call in (keystore.open, keystore.create):
        with pytest.raises(WrongKey, match="not this keystore's"):
            call(STORE, SESSION)
    with pytest.raises(WrongKey):
        rotation.rotate(keystore, "file")


@pytest.mark.parametrize("text", ["", "short", new_text()[:-2], new_text() * 2, "zz" * 32, "00" * 31])
def test_a_variable_that_holds_no_key_is_refused(config, variables, text):
    variables["CYBEROS_MASTER_KEY"] = text
    with pytest.raises((KeyRefused, KeyMissing)):
        rotation.init(Keystore.locate(str(config), variables), "env")
    assert content_of(config) == {}


def test_a_variable_may_be_hexadecimal(config, variables):
    variables["CYBEROS_MASTER_KEY"] = os.urandom(32).hex() + "\n"
    keystore = Keystore.locate(str(config), variables)
    rotation.init(keystore, "env")
    assert keystore.create(STORE, SESSION).key_ref == keystore.open(STORE, SESSION).key_ref


def test_files_are_their_owners_alone(keystore, config):
    keystore.create(STORE, SESSION)
    for file in content_of(config):
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.dirname(file)).st_mode) == 0o700


def test_files_that_others_can_read_are_refused(keystore, config):
    keystore.create(STORE, SESSION)
    for file in content_of(config):
        os.chmod(file, 0o644)
        with pytest.raises(KeyRefused, match="mode 0644"):
            keystore.open(STORE, SESSION)
        os.chmod(file, 0o600)
        os.chmod(os.path.dirname(file), 0o777)
        with pytest.raises(KeyRefused, match="folder"):
            keystore.open(STORE, SESSION)
        os.chmod(os.path.dirname(file), 0o700)
    keystore.open(STORE, SESSION)


def test_beside_a_keystore_that_is_not_safe_no_lock_is_made(keystore):
    os.unlink(f"{keystore.path}.lock")
    os.chmod(os.path.dirname(keystore.path), 0o777)
    for call in (keystore.create, keystore.erase):
        with pytest.raises(KeyRefused, match="folder"):
            call(STORE, SESSION)
    assert not os.path.lexists(f"{keystore.path}.lock")


def test_keys_do_not_lie_in_a_store(tmp_path, store):
    for folder in (store, store / "sessions", tmp_path / "link"):
        if folder.name == "link":
            folder.symlink_to(store)
        with pytest.raises(KeyRefused, match="must not lie in a store"):
            Keystore.locate(str(folder), {}, store=store)
    Keystore.locate(str(store.parent / "store-config"), {}, store=store)


def test_every_flipped_bit_and_every_cut_of_the_keystore_is_told(keystore):
    keystore.create(STORE, SESSION)
    with open(keystore.path, "rb") as handle:
        whole = handle.read()
    damaged = [whole[:length] for length in range(len(whole))]
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        damaged.append(bytes(flipped))
    for content in damaged:
        with pytest.raises(CorruptKeystore):
            keystore_file.parse(content, "keystore")
    with open(keystore.path, "wb") as handle:
        handle.write(whole[:-10])
    for call in (keystore.open, keystore.create, keystore.erase):
        with pytest.raises(CorruptKeystore) as caught:
            call(STORE, SESSION)
        assert caught.value.file == keystore.path
    with open(keystore.path, "rb") as handle:
        assert handle.read() == whole[:-10], "what is damaged is not written over"


def test_a_wrapped_key_that_was_changed_or_moved_is_told(keystore):
    keystore.create(STORE, SESSION)
    keystore.create(STORE, "other")
    state = keystore.load()
    one, two = state.keys.get(STORE, SESSION), state.keys.get(STORE, "other")
    for wrapped in (two, one[:-1] + ("A" if one[-1] != "A" else "B"), "", one[:40], "é"):
        keystore.save(state.with_key(STORE, SESSION, wrapped))
        for call in (lambda: keystore.open(STORE, SESSION), lambda: rotation.rotate(keystore)):
            with pytest.raises(CorruptKeystore, match="session-1"):
                call()
    keystore.save(state._replace(keys=Wrapped.of([("another", SESSION, one)])))
    with pytest.raises(CorruptKeystore):
        keystore.open("another", SESSION)


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b"1", b'{"format":1}', b'{"format":1,"more":1}', b'{"format":2}', b"[" * 100_000]
)
def test_what_is_no_keystore_is_told(body):
    import hashlib

    with pytest.raises(CorruptKeystore):
        keystore_file.parse(body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n", "keystore")


def test_a_line_that_is_no_key_is_told_before_anything_is_rotated(keystore):
    keystore.create(STORE, SESSION)
    state = keystore.load()
    for line in (b"[]", b"1", b'["a","b"]', b"{", b'["\xff","b","c"]'):
        keystore.save(state._replace(keys=Wrapped(state.keys.lines + line + b"\n")))
        with pytest.raises(CorruptKeystore, match="no keystore"):
            rotation.rotate(keystore)
        assert keystore.open(STORE, SESSION)


# Ids that could be taken for others: ends and beginnings of each other, and what JSON escapes.
IDS = st.sampled_from(["a", "aa", "", '"', '","', "\\", "\n", "é", '["a","a"', "s-1", "s-11"]) | st.text(max_size=3)


@given(st.lists(st.tuples(IDS, IDS, st.sampled_from(["", "QUJD", "QQ==", None]))))
def test_of_each_session_there_is_the_last_key_and_no_other(changes):
    kept: dict[tuple[str, str], str] = {}
    keys = Wrapped()
    for store_id, session_id, wrapped in changes:
        keys = keys.replaced(store_id, session_id, wrapped)
        kept.pop((store_id, session_id), None)
        if wrapped is not None:
            kept[store_id, session_id] = wrapped
    assert [(*ids, wrapped) for ids, wrapped in kept.items()] == list(keys.all("keystore"))
    assert len(keys) == len(kept)
    assert keys == Wrapped.of(keys.all("keystore"))
    for store_id, session_id, _ in changes:
        assert keys.get(store_id, session_id) == kept.get((store_id, session_id))


def test_a_keystore_of_the_first_format_is_read_and_goes_on(keystore):
    import hashlib

    names = [keystore.create(STORE, session).key_ref for session in (SESSION, "b")]
    keystore.erase(STORE, "b")
    state = keystore.load()
    kept = {STORE: {SESSION: state.keys.get(STORE, SESSION)}}
    body = json.dumps({"format": 1, **state._replace(keys=kept)._asdict()}, sort_keys=True).encode()
    with open(keystore.path, "wb") as handle:
        handle.write(body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n")
    assert keystore.load() == state
    new = keystore.create(STORE, "c").key_ref
    with open(keystore.path, "rb") as handle:
        assert b'"format":2' in handle.readline()
    assert [keystore.open(STORE, session).key_ref for session in (SESSION, "c")] == [names[0], new]
    with pytest.raises(KeyErased):
        keystore.open(STORE, "b")


def test_a_newer_keystore_is_left_alone(keystore):
    import hashlib

    body = json.dumps({"format": 3}).encode()
    with open(keystore.path, "wb") as handle:
        handle.write(body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n")
    with pytest.raises(BadConfig, match="format 3"):
        keystore.create(STORE, SESSION)


def test_a_disk_that_takes_nothing_leaves_the_keystore_as_it_was(keystore, monkeypatch):
    keystore.create(STORE, SESSION)
    before = keystore.load()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        for call in (lambda: keystore.create(STORE, "b"), lambda: keystore.erase(STORE, SESSION)):
            with pytest.raises(IoFailure, match="No space"):
                call()
    assert keystore.load() == before


def test_what_a_crash_leaves_beside_the_keystore_goes_with_the_next_erasure(keystore, config, monkeypatch):
    """A temporary file holds all keys of that moment: it must not outlive one of them."""
    keystore.create(STORE, SESSION)
    wrapped = keystore.load().keys.get(STORE, SESSION).encode()

    class Killed(BaseException):
        pass

    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", kill)
        with pytest.raises(Killed):
            keystore.create(STORE, "b")
    assert sum(wrapped in content for content in content_of(config).values()) == 2
    keystore.erase(STORE, SESSION)
    assert sum(wrapped in content for content in content_of(config).values()) == 0


def test_sessions_that_start_at_once_all_keep_their_keys(keystore):
    made = {}

    def create(number):
        made[f"s{number}"] = keystore.create(STORE, f"s{number}").key_ref

    threads = [threading.Thread(target=create, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 24
    assert {session: keystore.open(STORE, session).key_ref for session in made} == made


def test_who_waits_in_vain_is_told(keystore, monkeypatch):
    monkeypatch.setattr(keystores, "_PATIENCE_S", 0.02)
    with keystore.locked(), pytest.raises(KeystoreLocked) as caught:
        keystore.create(STORE, SESSION)
    assert caught.value.file == keystore.path
    keystore.create(STORE, SESSION)


def test_no_key_and_nothing_sealed_lies_anywhere_in_the_clear(keystore, config, monkeypatch):
    planted = b"planted plaintext"
    keys, written = [], []
    random, create = os.urandom, durable.create

    def remembered(length):
        keys.append(random(length))
        return keys[-1]

    def told(path, content):
        written.append(content)
        create(path, content)

    monkeypatch.setattr(os, "urandom", remembered)
    monkeypatch.setattr(durable, "create", told)
    cipher = keystore.create(STORE, SESSION)
    envelope = json.dumps(cipher.seal(*PLACE, planted)).encode()
    monkeypatch.undo()
    secret = next(key for key in keys if len(key) == 32)
    import base64

    spellings = [secret, secret.hex().encode(), base64.b64encode(secret)]
    for content in [*content_of(config).values(), *written, envelope]:
        assert planted not in content
        assert not any(spelling in content for spelling in spellings)
