"""What strangers type: each mistake is told as one, with its exit code and no traceback."""

import os
import subprocess
import sys

import pytest

from cyberos.errors import BadArgument

A = "memories/facts/é.md"
DECOMPOSED = "memories/facts/e\u0301.md"
LONG = f"memories/{'x' * 300}.md"
NOT_TEXT = "\udcff"


@pytest.fixture
def run(cli, writer):
    writer.put(A, "one\n")
    return lambda *args: cli("--store", writer.store_path, *args)


@pytest.mark.parametrize(
    "command",
    [
        ["history", A, "--filter", f"actor={NOT_TEXT}"],
        ["put", A, "--meta", f"a={NOT_TEXT}"],
        ["put", A, "--meta", f"{NOT_TEXT}=1"],
        ["put", A, "--actor", NOT_TEXT],
        ["put", A, "--session-id", NOT_TEXT],
        ["delete", A, "--reason", NOT_TEXT],
        ["delete", A, "--mode", "purge", "--yes", "--reason", NOT_TEXT],
    ],
)
def test_bytes_that_are_no_text_are_a_mistake(writer, command):
    writer.put(A, "one\n")
    program = [sys.executable, "-W", "ignore", "-m", "cyberos", "--store", os.fspath(writer.store_path), *command]
    done = subprocess.run(program, input=b"two\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert done.stderr.startswith(b"error[bad_argument]: not ")
    assert done.stderr.count(b"\n") == 1
    assert writer.head_seq() == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["get", LONG], 3),
        (["show", f"{LONG}@1"], 3),
        (["history", LONG], 0),
        (["delete", LONG], 4),
        (["move", LONG, "memories/x.md"], 4),
        (["move", A, LONG], 4),
        (["acl", "explain", LONG], 0),
    ],
)
def test_no_file_has_so_long_a_name(run, command, code):
    done = run(*command)
    assert done.code == code
    assert "io_failure" not in done.err


def test_a_name_that_only_looks_the_same_is_told(run):
    done = run("get", DECOMPOSED)
    assert (done.code, done.err.splitlines()[1]) == (3, f"hint: in Unicode form NFC it is {A}")
    done = run("history", DECOMPOSED)
    assert (done.code, done.out.startswith("No history for")) == (0, True)
    assert done.err == f"warning: in Unicode form NFC the path is {A}, which looks the same and is another one\n"
    assert run("history", DECOMPOSED, "--json").out == "[]\n"


@pytest.mark.parametrize("pair", ["=", "kind=", "kind", "=x", ""])
def test_a_filter_needs_both_its_sides(run, pair):
    done = run("history", A, "--filter", pair)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error[bad_argument]: --filter takes K=V, not {pair!r}\nhint: for example kind=put\n"


@pytest.mark.parametrize("at", ["", "-1", "1.0", "x"])
def test_a_point_in_time_is_a_row_or_a_time(run, at):
    done = run("show", f"{A}@{at}")
    assert done.code == 2
    assert done.err.startswith(f"error[bad_argument]: neither a row's number nor a time: {at!r}")


def test_an_offset_of_days_is_said_in_words(run):
    done = run("history", A, "--since", "2026-05-19T08:00:42+99:00")
    assert (done.code, "timedelta" in done.err) == (2, False)


def test_an_empty_hash_expects_nothing(run, writer, tmp_path):
    (tmp_path / "text").write_text("two\n")
    done = run("put", A, tmp_path / "text", "--expected", "")
    assert (done.code, writer.head_seq()) == (2, 1)
    assert done.err.startswith("error[bad_argument]: --expected needs a SHA-256")
    with pytest.raises(BadArgument):
        writer.put_if(A, "two\n", "")


def test_a_file_is_no_place_for_a_store(cli, tmp_path):
    (tmp_path / "file").write_text("")
    done = cli("init", tmp_path / "file")
    assert (done.code, done.err.splitlines()[0]) == (5, f"error[already_exists]: {tmp_path}/file is a file")


@pytest.mark.parametrize("path", ["a", "audit/current.binlog", "manifest.json", "memories", "memories/STORE.yaml"])
def test_nobody_may_write_what_is_no_memory(run, path):
    done = run("acl", "explain", path)
    assert (done.code, done.out) == (4, "")


def test_an_explanation_cannot_steer_the_terminal(run):
    assert "\x1b" not in run("acl", "explain", "memories/\x1b[2J.md").out
