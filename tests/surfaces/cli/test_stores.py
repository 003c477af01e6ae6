"""What every reading command makes of a store that is not there, not writable, locked, or of another time."""

import fcntl
import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from cyberos import _native, config
from cyberos.cli.main import COMMANDS
from cyberos.core.writer import Writer
from cyberos.errors import NetworkFileSystem
from cyberos.operations import doctor
from tests.conformance.naive import Log

X = "memories/facts/x.md"
READING = [
    ["history", X],
    ["history", "--all-paths"],
    ["show", f"{X}@1"],
    ["diff", X, "--from", "1"],
    ["blame", X],
    ["get", X],
    ["list"],
    ["verify"],
]
IDS = [command[0] + ("-all" if command[-1] == "--all-paths" else "") for command in READING]


@pytest.fixture
def filled(store):
    with Writer(store, actor="ann") as writer:
        writer.put(X, "one\n")
        writer.put(X, "two\n")
    return store


OTHERS = [
    ["search", "x"],
    ["list", "--at", "1"],
    ["doctor"],
    ["doctor", "--repair"],
    ["doctor", "--repair", "--accept-loss", "--yes"],
    ["doctor", "--accept-loss", "--dry-run"],
    ["acl", "explain", X],
    ["protocol", "status"],
    ["protocol", "approve", "APPROVE protocol change P22 §18"],
    ["put", X, __file__],
    ["move", X, "memories/y.md"],
    ["delete", X],
    ["restore", f"{X}@1"],
    ["revert", "--session", "s-1"],
    ["import", "dir", str(Path(__file__).parent)],
    ["export", "out-of-a-test.zip"],
    ["serve", "--port", "0"],
    ["checkpoint", "create"],
    ["checkpoint", "list"],
    ["checkpoint", "export"],
    ["checkpoint", "copies"],
    ["prove", f"{X}@1"],
    ["key", "show"],
    ["blocks", "enrol"],
    ["blocks", "start", "x:1"],
    ["blocks", "append", "x:1", "a"],
    ["blocks", "resume", "x:1"],
    ["blocks", "end", "x:1"],
    ["blocks", "abandon", "x:1", "--yes"],
    ["blocks", "list"],
    ["blocks", "show", "x:1"],
    ["blocks", "log"],
    ["blocks", "conflicts"],
    ["blocks", "resolve", "cft_1", "a", "--session", "x:1"],
    ["blocks", "bootstrap"],
    ["blocks", "receipts", "x:1"],
    ["blocks", "check"],
    ["blocks", "setup"],
    ["blocks", "token", "create", "ann"],
    ["blocks", "token", "list"],
    ["blocks", "token", "revoke", "tok_1"],
    ["session", "start", "--id", "a"],
    ["session", "append", "--id", "a", "--role", "user", "--content", "x"],
    ["session", "end", "--id", "a"],
    ["session", "record", "--id", "a", "--jsonl", "/dev/null"],
    ["session", "read", "--id", "a"],
    ["session", "show", "--id", "a"],
    ["session", "list"],
    ["session", "tail", "--id", "a"],
    ["session", "export", "--id", "a"],
    ["session", "recover"],
    ["session", "purge", "--id", "a", "--yes"],
    ["session", "purge-expired"],
    ["redact", __file__],
]


@pytest.mark.parametrize("command", [*READING, *OTHERS], ids=" ".join)
def test_a_store_that_is_not_there(cli, tmp_path, command):
    done = cli("--store", tmp_path / "nowhere", *command)
    assert (done.code, done.out) == (3, "")
    assert "error[store_not_found]" in done.err
    assert "cyberos init" in done.err


def content_of(store):
    return {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}


@pytest.mark.parametrize("version", ["2", "99999999999999999999999999"])
@pytest.mark.parametrize("command", [*READING, *OTHERS], ids=" ".join)
def test_a_store_of_a_newer_format(cli, filled, command, version):
    (filled / "manifest.json").write_text(f'{{"format_version": {version}}}')
    (filled / "audit/current.binlog").write_bytes(b"who knows what this is")
    (filled / ".lock").unlink()
    before = content_of(filled)
    done = cli("--store", filled, *command)
    assert (done.code, done.out) == (9, "")
    assert "error[unsupported_store]" in done.err
    assert "install a newer cyberos" in done.err
    assert content_of(filled) == before


# Those that open no store, and what is another one under another name.
APART = {"init", "demo", "version", "verify-proof", "transcript"}


def test_every_command_that_opens_a_store_is_tried_on_one_of_a_newer_format():
    assert {command[0] for command in READING + OTHERS} | APART == set(COMMANDS)


@pytest.mark.parametrize("gone", ["audit", "audit/current.binlog"])
@pytest.mark.parametrize("command", [*READING, ["put", X, __file__]], ids=" ".join)
def test_a_log_that_is_gone_is_no_empty_one(cli, filled, command, gone):
    if gone == "audit":
        shutil.rmtree(filled / gone)
    else:
        (filled / gone).unlink()
        (filled / "audit/tip").unlink()
    done = cli("--store", filled, *command)
    assert (done.code, done.out) == (7, "")
    assert "error[corrupt_log]: audit" in done.err
    assert "`cyberos doctor` says" in done.err


def test_a_new_store_has_an_empty_log(cli, store):
    for command in (["history", X], ["list"], ["verify"], ["doctor"]):
        assert (cli("--store", store, *command).code, cli("--store", store, *command).err) == (0, "")


# What may become of the small files: their content, and what verifying and writing say then. Reading goes on.
SMALL = {
    ".lock": ([b"", b"{", b'{"pid": 1}', b"\xff" * 9000], 0, 0),
    "HEAD": ([b"", b"x", bytes(7), bytes(9), bytes(9000)], 1, 0),
    "audit/tip": ([b"", b"x", bytes(512), bytes(1024), b"CYBTIP1\n" + bytes(1016), b"\xff" * 9000], 1, 7),
}


@pytest.mark.parametrize("file", SMALL)
@pytest.mark.parametrize("command", [*READING, ["put", X, __file__]], ids=" ".join)
def test_a_small_file_that_is_garbled(cli, filled, command, file):
    contents, verified, written = SMALL[file]
    whole = cli("--store", filled, *command) if command[0] != "put" else None
    for content in contents:
        (filled / file).write_bytes(content)
        done = cli("--store", filled, *command)
        assert done.code == {"verify": verified, "put": written}.get(command[0], 0), content
        if whole and command[0] != "verify":
            assert done.out == whole.out
        warned = file == "audit/tip" and command[0] in ("history", "list")
        assert ("warning: audit/tip is damaged" in done.err) == warned, content


def test_half_a_tip_is_a_tip(cli, filled):
    tip = filled / "audit/tip"
    whole = tip.read_bytes()
    for at in range(0, 512, 5):
        garbled = bytearray(whole)
        # The slot with the newest tip is left: the other may be half written when a system goes down.
        older = min((0, 512), key=lambda slot: int.from_bytes(whole[slot + 8 : slot + 16], "big"))
        garbled[older + at] ^= 1
        tip.write_bytes(garbled)
        assert (cli("--store", filled, "verify").code, cli("--store", filled, "list").err) == (0, "")


def test_a_lost_tip_is_said_by_what_lists_rows(cli, filled):
    (filled / "audit/tip").unlink()
    for command in (["history", X], ["history", "--all-paths"], ["list"]):
        done = cli("--store", filled, *command)
        assert done.code == 0
        assert "warning: audit/tip is damaged at byte 0: the record of what was acknowledged is not there" in done.err


@pytest.mark.parametrize("allowed", [False, True])
def test_a_network_file_system_is_refused_unless_it_is_allowed(cli, tmp_path, monkeypatch, allowed):
    def refuse(folder):
        raise NetworkFileSystem(f"{folder} lies on a network file system", store=str(folder))

    monkeypatch.setattr(_native, "check_local", refuse)
    done = cli("init", tmp_path / "new" / "store", *(["--allow-network-file-system"] if allowed else []))
    assert done.code == (0 if allowed else 4)
    if allowed:
        assert config.load(tmp_path / "new" / "store").allow_network_file_system
    else:
        assert "error[network_file_system]" in done.err
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("command", READING, ids=IDS)
@pytest.mark.parametrize("manifest", [None, "{", "[]", '{"format_version": "one"}'])
def test_a_manifest_that_says_nothing_is_no_reason_not_to_read(cli, filled, command, manifest):
    (filled / "manifest.json").unlink()
    if manifest is not None:
        (filled / "manifest.json").write_text(manifest)
    assert cli("--store", filled, *command).code == 0


@pytest.mark.parametrize("command", READING, ids=IDS)
def test_a_store_that_another_process_has_locked_is_read(cli, filled, command):
    with (filled / ".lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert cli("--store", filled, *command).code == 0


WRITING = [command for command in OTHERS if command[0] in ("put", "move", "delete", "restore")]
WRITING += [
    ["put", X, __file__, "--if-absent"],
    ["delete", X, "--mode", "purge", "--reason", "why", "--yes"],
    ["protocol", "approve", "APPROVE protocol change P22 §18"],
    ["doctor", "--repair", "--accept-loss", "--yes"],
    ["doctor", "--repair"],
]


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_whoever_waits_for_a_locked_store_in_vain_is_told_who_holds_it(cli, filled, monkeypatch, command):
    if command[0] == "doctor":
        log = filled / "audit/current.binlog"
        log.write_bytes(log.read_bytes()[:-1]) if "--accept-loss" in command else (filled / "HEAD").unlink()
    for opens in (Writer.__init__, doctor.mend):
        monkeypatch.setitem(opens.__kwdefaults__, "patience", 0.05)
    before = content_of(filled)
    with (filled / ".lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lease = {"actor": "bob", "pid": os.getpid(), "host": os.uname().nodename, "since": "2026-11-30T15:28:48Z"}
        (filled / ".lock").write_text(json.dumps(lease))
        done = cli("--store", filled, *command)
        (filled / ".lock").write_bytes(before[filled / ".lock"])
    assert f"the store is locked by another process: bob, process {os.getpid()} on " in done.out + done.err
    # A repair goes on with what it can do, and says that something is left.
    assert (done.code, "error[store_locked]" in done.err) == ((1, False) if command[-1] == "--repair" else (6, True))
    assert content_of(filled) == before


@pytest.mark.parametrize("command", READING, ids=IDS)
def test_a_store_that_cannot_be_written_to_is_read(cli, filled, command):
    def protect(on):
        for folder, _, files in os.walk(filled):
            for name in (folder, *(os.path.join(folder, file) for file in files)):
                mode = stat.S_IMODE(os.stat(name).st_mode)
                os.chmod(name, mode & ~0o222 if on else mode | 0o200)

    before = {file: file.read_bytes() for file in filled.rglob("*") if file.is_file()}
    protect(on=True)
    try:
        done = cli("--store", filled, *command)
    finally:
        protect(on=False)
    assert (done.code, done.err) == (0, "")
    assert {file: file.read_bytes() for file in filled.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("command", READING, ids=IDS)
def test_a_log_alone_is_a_store(cli, tmp_path, command):
    log = Log()
    log.put(X, b"one\n")
    log.put(X, b"two\n")
    done = cli("--store", log.write(tmp_path), *command)
    # Upstream keeps no versions: what needs content says that there is none.
    assert done.code == (3 if command[0] in ("show", "diff", "blame", "get") else 0)
    assert "Traceback" not in done.err


def test_a_file_in_the_way_is_an_error_of_the_machine(cli, filled):
    (filled / "audit/tip").unlink()
    (filled / "audit/tip").mkdir()
    done = cli("--store", filled, "history", X)
    assert done.code == 70
    assert "error[io_failure]" in done.err


def test_errors_are_json_for_those_who_asked_for_it(cli, tmp_path):
    done = cli("--store", tmp_path / "nowhere", "history", X, "--json")
    error = json.loads(done.err)["error"]
    assert (error["code"], error["kind"], done.out) == ("store_not_found", "not_found", "")
