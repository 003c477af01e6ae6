"""Output that cannot be delivered: a full device, a closed pipe. One line, an exit code, no traceback."""

import json
import os
import subprocess
import sys

import pytest

A = "memories/facts/a.md"
FULL = "/dev/full"

pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="there is no full device here")

COMMANDS = [
    ["--help"],
    ["history", "--help"],
    ["version"],
    ["history", A],
    ["history", A, "--follow"],
    ["history", A, "--json"],
    ["history", "--all-paths", "--json"],
    ["get", A],
    ["show", f"{A}@1", "--json"],
    ["list"],
    ["blame", A],
    ["verify"],
    ["doctor"],
    ["put", "memories/facts/b.md", "--json"],
]
IDS = [" ".join(command) for command in COMMANDS]


@pytest.fixture
def run(writer):
    writer.put(A, "one\n")
    writer.close()

    def run(command, out, err=subprocess.PIPE, **env):
        program = [sys.executable, "-W", "ignore", "-m", "cyberos", *command]
        environment = {**os.environ, "CYBEROS_STORE": os.fspath(writer.store_path), **env}
        return subprocess.run(program, input=b"new\n", stdout=out, stderr=err, env=environment, timeout=60, check=False)

    return run


@pytest.mark.parametrize("command", COMMANDS, ids=IDS)
def test_a_full_device_is_told_in_one_line(run, command):
    with open(FULL, "wb") as full:
        done = run(command, full)
    message = "cannot write to standard output: No space left on device"
    assert done.returncode == 70
    if "--json" in command:
        error = json.loads(done.stderr)["error"]
        assert (error["code"], error["message"]) == ("io_failure", message)
    else:
        assert done.stderr.decode() == f"error[io_failure]: {message}\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [(["history"], 2), ([], 2), (["get", "memories/never.md"], 3), (["get", A, "--at", "9", "--json"], 3)],
)
def test_where_errors_cannot_be_told_the_exit_code_stands(run, command, code):
    with open(FULL, "wb") as full:
        assert run(command, subprocess.PIPE, full).returncode == code
        assert run(command, full, full).returncode == code


def test_a_warning_that_cannot_be_told_hinders_nothing(run):
    with open(FULL, "wb") as full:
        done = run(["get", A, "--at", "2200-01-01"], subprocess.PIPE, full)
    assert (done.returncode, done.stdout) == (0, b"one\n")


def test_completion_on_a_full_device(run):
    with open(FULL, "wb") as full:
        done = run([], full, _CYBEROS_COMPLETE="bash_source")
    assert (done.returncode, done.stderr.count(b"\n")) == (70, 1)


@pytest.mark.parametrize("command", COMMANDS, ids=IDS)
def test_a_reader_that_went_away_is_told_nothing(run, command):
    read, write = os.pipe()
    os.close(read)
    done = run(command, write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
