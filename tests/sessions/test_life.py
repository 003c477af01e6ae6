"""The whole life of a restricted session through the command line, crash and all."""

import json
import os
import re
import signal
import subprocess
import sys

from cyberos import _native
from tests.sessions.conftest import PHRASE, frames

SECRET = "the code of the safe is 4711-0815"


# The program, killed when a turn is written and not yet acknowledged; and the program three days later.
KILLED = """
import os, signal
from cyberos.core.sessions.desk import Desk
Desk.acknowledge = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""
LATER = """
from cyberos import clock
now = clock.now_ns
clock.now_ns = lambda: now() + 3 * 86_400 * clock.NS
"""


def files_with(folders, needle):
    return [
        file for folder in folders for file in folder.rglob("*") if file.is_file() and needle in file.read_bytes()
    ]  # fmt: skip


def line_of(file, needle):
    return next(line for line in file.read_bytes().splitlines() if needle in line)


def test_the_whole_life_of_a_restricted_session(program, tmp_path):
    store, config = tmp_path / "store", tmp_path / "config"

    def run(*args, stdin=b"", code=0):
        done = program("--store", store, *args, stdin=stdin, CYBEROS_CONFIG=str(config), CYBEROS_ACTOR="ann")
        assert done.code == code, done.err
        return done

    def run_as(change, *args, stdin=b"", code=0):
        script = f"{change}\nfrom cyberos.cli.entry import run\nrun()"
        env = {"PATH": os.environ["PATH"], "CYBEROS_CONFIG": str(config), "CYBEROS_ACTOR": "ann"}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, "--store", store, *args],
            input=stdin, capture_output=True, check=False, env=env,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout.decode()

    run("init", store)
    run("protocol", "approve", PHRASE)
    refused = run("session", "start", "--id", "safe", "--classification", "restricted", code=8)
    assert "cyberos key init" in refused.err
    run("key", "init", "--provider", "file")
    run("session", "start", "--id", "safe", "--classification", "restricted", "--retention-days", "1")
    run("session", "append", "--id", "safe", "--role", "user", "--content", "-", stdin=SECRET.encode())
    lines = [json.dumps({"role": "assistant", "content": f"{SECRET} {number}"}) for number in range(3)]
    run("session", "append", "--id", "safe", "--jsonl", "-", stdin="\n".join(lines).encode())
    run("put", "memories/facts/safe.md", stdin=b"There is a safe.\n")

    # A crash within an append: the turn is there, and was never acknowledged. Another: part of a turn is there.
    append = ("session", "append", "--id", "safe", "--role", "user", "--content", "-")
    assert run_as(KILLED, *append, stdin=f"{SECRET} again".encode(), code=-signal.SIGKILL) == ""
    transcript = next(store.glob("sessions/*/safe.binlog.zst"))
    with transcript.open("ab") as handle:
        handle.write(b"\x28\xb5\x2f\xfd half a frame")
    (store / "sessions/.active").write_bytes(b"\xff garbage")
    assert "truncated to the last whole turn" in run("session", "read", "--id", "safe").err
    recovered = run("session", "recover").out
    assert "session safe: it is active" in recovered
    assert "truncated to its last whole turn: 17 bytes" in recovered
    assert run("session", "recover").out == "nothing to do\n"

    run("session", "append", "--id", "safe", "--role", "tool", "--content", "over")
    assert len(frames(transcript)) == 6
    assert run("session", "purge", "--id", "safe", "--yes", code=4).out == ""
    run("session", "end", "--id", "safe", "--reason", "done")
    assert files_with([store, config], SECRET.encode()) == []
    assert SECRET not in run("session", "read", "--id", "safe").out
    assert run("session", "read", "--id", "safe", "--decrypt").out.count(SECRET) == 5
    exported = [json.loads(line) for line in run("session", "export", "--id", "safe", "--decrypt").out.splitlines()]
    assert exported[0]["session"]["id"] == "safe"
    assert [turn["turn_seq"] for turn in exported[1:]] == [0, 1, 2, 3, 4, 5]
    assert "during session safe turn 3" in run("history", "memories/facts/safe.md").out

    shown = json.loads(run("session", "show", "--id", "safe", "--writes", "--json").out)
    assert [(write["path"], write["turn"]) for write in shown["writes"]] == [("memories/facts/safe.md", 3)]
    assert json.loads(run("session", "list").out)["state"] == "ended"

    # Its time is over.
    assert run("session", "purge-expired").out.startswith("0 transcripts")
    stored, keystore = transcript.read_bytes(), config / "sessions/keystore"
    key = max(re.findall(rb"[A-Za-z0-9+/=]{40,}", line_of(keystore, b"safe")), key=len)
    assert files_with([store, config], stored[-64:]) == [transcript]
    assert files_with([store, config], key) == [keystore]
    assert run_as(LATER, "session", "purge-expired", "--dry-run").startswith("safe: 6 turns, ")
    assert transcript.read_bytes() == stored
    purged = run_as(LATER, "session", "purge-expired")
    assert f"cleared {transcript.relative_to(store)}" in purged
    assert f"cleared {keystore}" in purged
    assert "until the master key is rotated" in purged
    assert files_with([store, config], stored[-64:]) == []
    assert files_with([store, config], key) == []
    assert files_with([store, config], SECRET.encode()) == []
    assert run_as(LATER, "session", "purge-expired").startswith("0 transcripts")
    assert run("session", "purge", "--id", "safe", "--yes").out == "session safe was purged already: nothing to do\n"
    assert run("session", "read", "--id", "safe", "--decrypt", code=3).out == ""
    shown = json.loads(run("session", "show", "--id", "safe", "--writes", "--json").out)
    assert (shown["state"], shown["turns_count"], shown["days_left"]) == ("purged", 6, None)
    assert [(write["path"], write["turn"]) for write in shown["writes"]] == [("memories/facts/safe.md", 3)]
    run("doctor")
    run("verify")
    assert _native.count_turns(transcript) is None
