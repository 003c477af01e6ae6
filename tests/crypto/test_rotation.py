"""Another master key: sessions stay readable whatever interrupts, and older copies of the keystore are of no use."""

import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest

from cyberos.crypto import master, rotation
from cyberos.crypto.keys import parse
from cyberos.crypto.keystore import Keystore
from cyberos.errors import AlreadyExists, BadArgument, CyberosError, IoFailure, KeyMissing, KeyRetired
from tests.crypto.conftest import SESSION, STORE, content_of, new_text

PLACE = ("user", 0, 7)


def master_file(keystore, reference=None):
    return keystore.masters._path(parse(reference or keystore.load().key)[1])


@pytest.fixture
def sealed(keystore):
    """What some sessions sealed."""
    return {name: keystore.create(STORE, name).seal(*PLACE, name.encode()) for name in (SESSION, "b", "c")}


def readable(keystore, sealed):
    return all(keystore.open(STORE, name).open(*PLACE, envelope) == name.encode() for name, envelope in sealed.items())


def test_sessions_stay_readable_and_the_old_key_is_gone(keystore, sealed, config):
    old = keystore.load()
    with open(master_file(keystore), "rb") as handle:
        text = handle.read().strip()
    done = rotation.rotate(keystore)
    assert (done.old_key, done.rewrapped, done.left) == (old.key, 3, [])
    assert done.key == f"file:{old.id}-2"
    assert readable(keystore, sealed)
    assert not any(text in content for content in content_of(config).values())
    new = keystore.load()
    wrapped = [key for state in (old, new) for _, _, key in state.keys.all("")]
    assert len(set(wrapped)) == 6
    with pytest.raises(KeyMissing):
        keystore.masters.get(old.key)


def test_an_older_copy_of_the_keystore_opens_nothing_any_more(keystore, sealed, tmp_path):
    copy = tmp_path / "copy"
    shutil.copy(keystore.path, copy)
    keystore.erase(STORE, SESSION)
    assert rotation.status(keystore).erased == 1
    done = rotation.rotate(keystore)
    assert done.unreachable == 1
    assert rotation.status(keystore).erased == 0
    shutil.copy(copy, keystore.path)
    with pytest.raises(KeyRetired, match="older copy"):
        keystore.open(STORE, SESSION)
    with pytest.raises(KeyRetired):
        rotation.rotate(keystore)
    assert sealed


def test_until_then_it_does(keystore, sealed, tmp_path):
    """What the receipt of a purge says: so long an older copy still opens what was erased."""
    copy = shutil.copy(keystore.path, tmp_path / "copy")
    assert keystore.erase(STORE, SESSION).until is None
    shutil.copy(copy, keystore.path)
    assert readable(keystore, sealed)


class Killed(BaseException):
    pass


CHANGING = ("open", "replace", "unlink", "fsync")


@contextmanager
def stopping(monkeypatch, stop=None, error=None):
    """Fails at one of the calls that change the disk; yields a list of one number, how many there were."""
    count = [0]

    def counting(call):
        def counted(*args, **kwargs):
            count[0] += 1
            if count[0] == stop:
                raise error
            return call(*args, **kwargs)

        return counted

    with monkeypatch.context() as patch:
        for name in CHANGING:
            patch.setattr(os, name, counting(getattr(os, name)))
        yield count


@pytest.mark.parametrize("error", [Killed, OSError(5, "Input/output error")], ids=["killed", "failing disk"])
def test_a_rotation_that_stops_anywhere_loses_nothing(keystore, sealed, config, tmp_path, monkeypatch, error):
    monkeypatch.setattr(os, "fsync", lambda _: None)  # what is synced when is tested elsewhere
    keystore.erase(STORE, "c")
    del sealed["c"]
    shutil.copytree(config, tmp_path / "before")
    with stopping(monkeypatch) as count:
        rotation.rotate(keystore)
    stopped = 0
    for stop in range(1, count[0] + 1):
        shutil.rmtree(config)
        shutil.copytree(tmp_path / "before", config)
        with suppress(Killed, CyberosError), stopping(monkeypatch, stop, error):
            rotation.rotate(keystore)
            stopped -= 1
        stopped += 1
        assert readable(keystore, sealed), stop
        assert keystore.create(STORE, "later").key_ref == keystore.open(STORE, "later").key_ref
        assert keystore.load().retiring == [], "the next change destroys what is retiring"
        rotation.rotate(keystore)
        assert readable(keystore, sealed), stop
        state = keystore.load()
        assert (state.retiring, state.erased) == ([], {})
        assert keystore.masters.list() == [state.key]
        assert not [name for name in os.listdir(os.path.dirname(keystore.path)) if name.endswith(".tmp")]
    assert stopped > count[0] // 2


def test_an_erasure_after_an_unfinished_rotation_waits_for_the_next(keystore, sealed, monkeypatch):
    """A master key that cannot be destroyed leaves what it can open noted, and so does each later one."""
    keystore.erase(STORE, "b")
    with monkeypatch.context() as patch:
        patch.setattr(master, "destroyed", lambda *_: False)
        done = rotation.rotate(keystore)
        assert (done.left, done.unreachable) == ([done.old_key], 0)
        keystore.erase(STORE, "c")
        assert rotation.status(keystore).erased == 2
    assert rotation.status(keystore).left == [done.old_key]
    keystore.create(STORE, "d")
    assert (rotation.status(keystore).left, rotation.status(keystore).erased) == ([], 1)
    assert rotation.rotate(keystore).unreachable == 1
    assert sealed


def test_from_variable_to_variable(config, variables):
    keystore = Keystore.locate(str(config), variables)
    rotation.init(keystore, "env")
    envelope = keystore.create(STORE, SESSION).seal(*PLACE, b"x")
    with pytest.raises(KeyMissing, match="next master key") as caught:
        rotation.rotate(keystore)
    assert "CYBEROS_NEW_MASTER_KEY" in caught.value.hints[0]
    variables["CYBEROS_NEW_MASTER_KEY"] = variables["CYBEROS_MASTER_KEY"]
    with pytest.raises(BadArgument, match="in use"):
        rotation.rotate(keystore)
    old, new = variables["CYBEROS_MASTER_KEY"], new_text()
    variables["CYBEROS_NEW_MASTER_KEY"] = new
    assert rotation.plan(keystore).master == rotation.rotate(keystore).master
    with pytest.raises(KeyRetired, match="was retired") as retired:
        keystore.open(STORE, SESSION)
    assert rotation.status(keystore).master in retired.value.hints[0]
    variables["CYBEROS_MASTER_KEY"] = new
    assert keystore.open(STORE, SESSION).open(*PLACE, envelope) == b"x"
    variables["CYBEROS_NEW_MASTER_KEY"] = old
    with pytest.raises(KeyRetired):
        rotation.rotate(keystore)


def test_from_provider_to_provider(keystore, sealed, variables, keyring):
    own = keystore.load().id
    assert rotation.rotate(keystore, "keyring").key == f"keyring:{own}-2"
    assert keystore.masters.list() == []
    assert list(keyring.kept) == [("cyberos-master", f"{own}-2")]
    assert readable(keystore, sealed)
    older = keystore.load()
    rotation.rotate(keystore)
    assert list(keyring.kept) == [("cyberos-master", f"{own}-3")]
    newer = keystore.load()
    keystore.save(older)
    with pytest.raises(KeyRetired):
        keystore.open(STORE, SESSION)
    keystore.save(newer)

    def closed(*_):
        raise RuntimeError("the keyring is locked")

    get, keyring.get_password = keyring.get_password, closed
    with pytest.raises(KeyMissing, match="the keyring is locked"):
        keystore.open(STORE, SESSION)
    keyring.get_password = get
    done = rotation.rotate(keystore, "env")
    assert (done.key, keyring.kept) == ("env:CYBEROS_MASTER_KEY", {})
    assert readable(keystore, sealed)
    rotation.rotate(keystore, "file")
    del variables["CYBEROS_MASTER_KEY"]
    assert readable(keystore, sealed)


def test_a_plan_changes_nothing(keystore, sealed, config):
    before = content_of(config)
    planned = rotation.plan(keystore)
    assert content_of(config) == before
    done = rotation.rotate(keystore)
    assert planned == done._replace(master="")
    with pytest.raises(BadArgument, match="provider"):
        rotation.plan(keystore, "cloud")
    assert sealed


def test_there_is_one_keystore(keystore, config):
    before = content_of(config)
    with pytest.raises(AlreadyExists):
        rotation.init(keystore, "file")
    assert content_of(config) == before


def test_a_keystore_that_could_not_be_made_leaves_no_key(config, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    keystore = Keystore.locate(str(config), {})
    with pytest.raises(IoFailure):
        rotation.init(keystore, "file")
    assert keystore.masters.list() == []


def test_who_reads_while_the_key_is_rotated_looks_again(keystore, sealed, monkeypatch):
    get, rotations = master.get, [1, 1, 1]

    def late(masters, state):
        if rotations and rotations.pop():
            monkeypatch.setattr(master, "get", get)
            rotation.rotate(keystore)
            monkeypatch.setattr(master, "get", late)
        return get(masters, state)

    monkeypatch.setattr(master, "get", late)
    assert readable(keystore, sealed)
    assert not rotations


def test_sessions_that_start_while_the_key_is_rotated_keep_theirs(keystore, sealed):
    made, failed = {}, []

    def create(first):
        try:
            for number in range(first, first + 10):
                made[f"s{number}"] = keystore.create(STORE, f"s{number}").seal(*PLACE, f"s{number}".encode())
                assert readable(keystore, sealed)
        except Exception as error:  # noqa: BLE001, it is told below
            failed.append(error)

    def rotate():
        try:
            for _ in range(10):
                rotation.rotate(keystore)
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=create, args=(first,)) for first in (0, 10)] + [threading.Thread(target=rotate)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(made) == 20
    assert readable(keystore, made | sealed)
    assert keystore.masters.list() == [keystore.load().key]


def test_processes_that_rotate_and_start_at_once_lose_nothing(keystore, sealed, config):
    script = (
        "import sys\nfrom cyberos.crypto import rotation\nfrom cyberos.crypto.keystore import Keystore\n"
        "keystore = Keystore.locate(sys.argv[1], {})\n"
        "for number in range(5):\n"
        "    if sys.argv[2] == 'rotate': rotation.rotate(keystore)\n"
        "    else: keystore.create('store-1', sys.argv[2] + str(number))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-W", "ignore:this is a debug build", "-c", script, str(config), name])
        for name in ("rotate", "x", "y")
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert readable(keystore, sealed)
    assert sorted(session for _, session, _ in keystore.load().keys.all("")) == sorted(
        [*sealed, *(f"{n}{i}" for n in "xy" for i in range(5))]
    )
