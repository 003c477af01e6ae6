"""The whole life of a restricted session through the command line, crash and all."""

import json

from cyberos import _native
from cyberos.core import session
from cyberos.core.writer import Writer
from tests.sessions.conftest import PHRASE, frames

SECRET = "the code of the safe is 4711-0815"


def files_with(folders, needle):
    return [
        file for folder in folders for file in folder.rglob("*") if file.is_file() and needle in file.read_bytes()
    ]  # fmt: skip


def test_the_whole_life_of_a_restricted_session(program, tmp_path):
    store, config = tmp_path / "store", tmp_path / "config"

    def run(*args, stdin=b"", code=0):
        done = program("--store", store, *args, stdin=stdin, CYBEROS_CONFIG=str(config), CYBEROS_ACTOR="ann")
        assert done.code == code, done.err
        return done

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

    # A crash within an append: part of it is there, and was never acknowledged.
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
    assert len(frames(transcript)) == 5
    assert run("session", "purge", "--id", "safe", "--yes", code=4).out == ""
    run("session", "end", "--id", "safe", "--reason", "done")
    assert files_with([store, config], SECRET.encode()) == []
    assert SECRET not in run("session", "read", "--id", "safe").out
    assert run("session", "read", "--id", "safe", "--decrypt").out.count(SECRET) == 4
    exported = [json.loads(line) for line in run("session", "export", "--id", "safe", "--decrypt").out.splitlines()]
    assert exported[0]["session"]["id"] == "safe"
    assert [turn["turn_seq"] for turn in exported[1:]] == [0, 1, 2, 3, 4]
    assert "during session safe turn 3" in run("history", "memories/facts/safe.md").out

    # Its time is over: the start is two days older.
    assert run("session", "purge-expired", "--dry-run").out.startswith("0 transcripts")
    stored = transcript.read_bytes()
    assert files_with([store], stored[-64:]) == [transcript]
    with Writer(store, actor="ann") as writer:
        known = session.list_sessions(writer)
        assert next(known).state == "ended"
    purged = run("session", "purge", "--id", "safe", "--yes").out
    assert f"cleared {transcript.relative_to(store)}" in purged
    assert f"cleared {config}/sessions/keystore" in purged
    assert "until the master key is rotated" in purged
    assert files_with([store, config], stored[-64:]) == []
    assert run("session", "purge", "--id", "safe", "--yes").out == "session safe was purged already: nothing to do\n"
    assert run("session", "read", "--id", "safe", "--decrypt", code=3).out == ""
    shown = json.loads(run("session", "show", "--id", "safe", "--writes", "--json").out)
    assert (shown["state"], shown["turns_count"], shown["days_left"]) == ("purged", 5, None)
    assert [(write["path"], write["turn"]) for write in shown["writes"]] == [("memories/facts/safe.md", 3)]
    run("doctor")
    run("verify")
    assert _native.count_turns(transcript) is None
