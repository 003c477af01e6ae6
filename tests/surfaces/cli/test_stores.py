"""What every reading command makes of a store that is not there, not writable, locked, or of another time."""

import fcntl
import json
import os
import stat

import pytest

from cyberos.core.writer import Writer
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


@pytest.mark.parametrize("command", READING, ids=IDS)
def test_a_store_that_is_not_there(cli, tmp_path, command):
    done = cli("--store", tmp_path / "nowhere", *command)
    assert (done.code, done.out) == (3, "")
    assert "error[store_not_found]" in done.err
    assert "cyberos init" in done.err


@pytest.mark.parametrize("command", READING, ids=IDS)
def test_a_store_of_a_newer_format(cli, filled, command):
    (filled / "manifest.json").write_text('{"format_version": 2}')
    (filled / "audit/current.binlog").write_bytes(b"who knows what this is")
    done = cli("--store", filled, *command)
    assert (done.code, done.out) == (9, "")
    assert "error[unsupported_store]" in done.err
    assert "install a newer cyberos" in done.err


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
