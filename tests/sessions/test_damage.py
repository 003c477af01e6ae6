"""A transcript that is cut, flipped or replaced: every reader tells the turns as they were said, or what is wrong."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from cyberos.core import session
from cyberos.core.dream import Source
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore
from cyberos.errors import CorruptLog, CyberosError
from cyberos.operations import doctor, sessions, transcripts
from tests.sessions.conftest import approve

PEER = Path(__file__).parents[1] / "fixtures/peer-store"
SAID = ["first things first", "second\nthoughts", "third time lucky"]
FORMS = ["open", "sealed", "encrypted open", "encrypted sealed", "upstream's"]
MOST = 400


@pytest.fixture(params=FORMS)
def told(request, tmp_path, store, keystore):
    """A store, the keys, a session in one of the forms, and what was said in it."""
    form = request.param
    if form == "upstream's":
        root = Path(shutil.copytree(PEER, tmp_path / "peer"))
        with Writer(root) as writer:
            made = next(each for each in session.list_sessions(writer) if each.classification == "confidential")
            said = [turn.content for turn in session.read(writer, made.id)]
        assert said
        return root, keystore, made, said
    approve(store)
    keys = keystore if form.startswith("encrypted") else None
    with Writer(store, actor="ann", keystore=keys) as writer:
        made = session.start(writer, "a", classification="restricted" if keys else "confidential")
        for content in SAID:
            session.append(writer, "a", "user", content)
        if form.endswith("sealed"):
            session.end(writer, "a")
    return store, keys or keystore, made, SAID


def read(store: Path, keystore: Keystore, name: str) -> list[str]:
    found = transcripts.read(str(store), name, decrypt=True, keystore=keystore)
    return [turn.content for turn in found.turns]


def tail(store: Path, keystore: Keystore, name: str) -> list[str]:
    turns = transcripts.tail(str(store), name, decrypt=True, keystore=keystore, last=99, wait=iter(()))
    return [turn.content for turn in turns]


def export(store: Path, keystore: Keystore, name: str) -> list[str]:
    found = transcripts.export(transcripts.read(str(store), name, decrypt=True, keystore=keystore))
    return [line["content"] for line in found if "content" in line]


def dream(store: Path, keystore: Keystore, name: str) -> list[str]:
    return [turn.content for turn in Source(store, keystore=keystore).turns(name, decrypt=True).turns]


def changes(whole: bytes) -> list[bytes]:
    """Every length, and each bit once or as many as there is time for."""
    bits = list(range(len(whole) * 8))
    chosen = random.Random(7).sample(bits, min(MOST, len(bits)))
    flipped = [whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :] for bit in chosen]
    step = max(1, len(whole) // MOST)
    return [whole[:length] for length in range(0, len(whole), step)] + flipped


def attempt(work, *args):
    try:
        return work(*args), None
    except CyberosError as error:
        return None, error


def test_whatever_is_changed_nothing_is_told_that_was_not_said(told):
    store, keystore, made, said = told
    file = store / made.path
    whole = file.read_bytes()
    file.chmod(0o600)
    readers = (read, tail, export, dream)
    for reader in readers:
        assert reader(store, keystore, made.id) == said
    for number, changed in enumerate(changes(whole)):
        file.write_bytes(changed)
        found, error = attempt(readers[number % len(readers)], store, keystore, made.id)
        assert error is not None or found == said, number


@pytest.mark.parametrize("told", ["open", "encrypted open"], indirect=True)
def test_whatever_is_changed_the_session_can_be_ended(told):
    store, keystore, made, said = told
    file = store / made.path
    whole = file.read_bytes()
    before = shutil.copytree(store, store.parent / "before")
    for changed in changes(whole)[:: MOST // 10]:
        shutil.rmtree(store)
        shutil.copytree(before, store)
        file.write_bytes(changed)
        _, error = attempt(lambda: sessions.end(str(store), made.id, None, actor="ann"))
        if error is not None:
            assert "cyberos session recover --id a" in str(error.hints)
            with Writer(store, actor="ann", keystore=keystore) as writer:
                done = session.recover(writer, made.id)
            assert done[-1].state == "ended"
        found = read(store, keystore, made.id)
        assert found == said[: len(found)]


_BOUNDED = """
import resource, sys
from cyberos.cli.main import main
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = main(sys.argv[1:])
print(code, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // {unit}, file=sys.stderr)
"""
UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10
BOMB = 192 << 20


def bombs():
    turn = (0).to_bytes(4) + (0x00FFFFFF).to_bytes(4)
    return {
        "zeros": zstandard.compress(bytes(BOMB)),
        "one turn that is endless": zstandard.compress(b"\x00\xff\xff\xff" + turn * 2 + b"{" * BOMB),
        "a window that is too wide": zstandard.ZstdCompressor(
            compression_params=zstandard.ZstdCompressionParameters(window_log=27)
        ).compress(bytes(BOMB)),
    }


@pytest.mark.parametrize("state", ["active", "ended"])
@pytest.mark.parametrize("name", ["zeros", "one turn that is endless", "a window that is too wide"])
def test_a_bomb_is_told_in_bounded_memory(memory, keystore, tmp_path, name, state):
    made = session.start(memory, "a")
    session.append(memory, "a", "user", "x")
    if state == "ended":
        session.end(memory, "a")
    file = memory.store_path / made.path
    file.chmod(0o600)
    bomb = bombs()[name]
    file.write_bytes(bomb)
    script = tmp_path / "bounded.py"
    script.write_text(_BOUNDED.format(unit=UNIT))
    commands = [["session", "read"], ["session", "tail"], ["session", "export"]]
    commands += [["session", "end"]] if state == "active" else []
    for command in [*commands, ["doctor"], ["session", "recover"]]:
        about = ["--id", "a"] if command[0] == "session" else []
        done = subprocess.run(
            [sys.executable, "-W", "ignore", script, "--store", memory.store_path, *command, *about],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        code, grown = map(int, done.stderr.splitlines()[-1].split())
        assert grown < 48, command
        if command != ["session", "recover"]:
            assert code != 0, command
            assert "damaged" in done.stderr or "whole only up to 0" in done.stdout, command
    assert file.read_bytes() == bomb, "it stays as evidence"
    assert not doctor.examine(str(memory.store_path)).healthy
    _, error = attempt(lambda: dream(memory.store_path, keystore, "a"))
    # Whoever recovered the session knows of the damage; to whoever ended it before, it is news.
    assert isinstance(error, CorruptLog) == (state == "ended")
