"""What a dream consumer sees of sessions and of what there was."""

import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from cyberos.core import session
from cyberos.core.dream import START, Cursor, Source
from cyberos.core.session import TurnInput
from cyberos.core.sessions import lifecycle
from cyberos.core.sessions.reading import PLACEHOLDER
from cyberos.core.writer import Writer
from cyberos.errors import (
    BadArgument,
    BodyPurged,
    KeyMissing,
    LogRewritten,
    MemoryNotFound,
    PreconditionFailed,
    SessionNotFound,
    StoreNotFound,
)
from tests.conformance.naive import Log

A, B, C = "memories/a.md", "memories/b.md", "memories/c.md"
EXAMPLE = Path(__file__).parents[2] / "docs" / "read_sessions.py"
TURNS = [TurnInput("user", "first"), TurnInput("assistant", "second")]


def states(found):
    return {each.id: (each.state, each.classification, each.turns_count) for each in found.sessions}


def test_sessions_since_a_cursor_are_told_as_they_are_now(sealed):
    source = Source(sealed.store_path)
    assert source.sessions() == ([], source.head(), [])
    session.record(sealed, "one", TURNS)
    session.start(sealed, "two", classification="restricted", correlates_with="one")
    session.append(sealed, "two", "user", "hello")
    first = source.sessions()
    assert states(first) == {"one": ("ended", "confidential", 2), "two": ("active", "restricted", 1)}
    assert first.sessions[1].correlates_with == "one"
    assert first.cursor == source.head()
    assert source.sessions(first.cursor).sessions == []
    session.end(sealed, "two")
    session.purge(sealed, "one")
    session.record(sealed, "three", [])
    later = source.sessions(Cursor(*json.loads(json.dumps(first.cursor))))
    assert states(later) == {
        "two": ("ended", "restricted", 1),
        "one": ("purged", "confidential", 2),
        "three": ("ended", "confidential", 0),
    }
    assert [each.id for each in source.sessions(START).sessions] == ["one", "two", "three"]
    purged = source.session("one")
    assert purged.started_at <= (purged.ended_at or purged.started_at) <= (purged.purged_at or purged.started_at)
    with pytest.raises(SessionNotFound):
        source.session("never")


@pytest.mark.parametrize("classification", ["confidential", "restricted"])
def test_turns_are_decrypted_on_request(sealed, keystore, classification):
    session.record(sealed, "one", TURNS, classification=classification)
    plain, able = Source(sealed.store_path), Source(sealed.store_path, keystore=keystore)
    shown = [("user", "first"), ("assistant", "second")]
    hidden = [("user", PLACEHOLDER), ("assistant", PLACEHOLDER)]

    def turns(source, **options):
        return [(turn.role, turn.content) for turn in source.turns("one", **options).turns]

    assert turns(plain) == hidden
    assert turns(able) == (shown if classification == "confidential" else hidden)
    assert turns(able, decrypt=True) == shown
    assert turns(able, decrypt=True, start=1) == shown[1:]
    with pytest.raises(KeyMissing):
        turns(plain, decrypt=True)


def test_a_purged_session_is_reported_and_no_error(sealed, keystore, monkeypatch):
    session.record(sealed, "one", TURNS, classification="restricted")
    session.record(sealed, "two", TURNS)
    session.purge(sealed, "one")
    # A purge that was interrupted before its row: the transcript is gone all the same.
    with monkeypatch.context() as patch:
        patch.setattr(lifecycle, "emit", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
        with pytest.raises(RuntimeError, match="killed"):
            session.purge(sealed, "two")
    source = Source(sealed.store_path, keystore=keystore)
    for name in ("one", "two"):
        found = source.turns(name, decrypt=True)
        assert (found.session.state, list(found.turns), found.warnings) == ("purged", [], [])


def test_the_memories_that_a_session_touched(sealed):
    sealed.put(A, "before\n")
    session.start(sealed, "one")
    sealed.put(A, "during\n")
    sealed.put(B, "during\n")
    sealed.move(B, C)
    sealed.delete(C)
    sealed.emit_aux("episode.logged", {"path": A, "session_id": "one"})
    sealed.emit_aux("dream.proposal_applied", {"affected_paths": [A, "meta/x.md", "notes.md"], "session_id": "one"})
    with pytest.raises(PreconditionFailed):
        sealed.put_if("company/x.md", "no\n", "0" * 64)
    session.end(sealed, "one")
    sealed.put("memories/after.md", "after\n")
    touched = Source(sealed.store_path).touched("one")
    assert touched.written == (A, B, C)
    assert touched.used == (A, "meta/x.md")
    assert touched.refused == ("company/x.md",)
    assert touched.damages == []
    assert Source(sealed.store_path).touched("never") == ((), (), (), [])


def test_a_snapshot_is_what_there_was(writer):
    source = Source(writer.store_path)
    expected: list[dict[str, str]]
    cursors, expected = [START], [{}]

    def note(**contents):
        cursors.append(source.head())
        expected.append({f"memories/{name}.md": content for name, content in contents.items()})

    writer.put(A, "1\n")
    note(a="1\n")
    writer.put(B, "2\n")
    note(a="1\n", b="2\n")
    writer.move(A, C)
    note(b="2\n", c="1\n")
    writer.put(C, "3\n")
    note(b="2\n", c="3\n")
    writer.delete(B)
    note(c="3\n")
    for cursor, contents in zip(cursors, expected, strict=True):
        snapshot = source.snapshot(cursor)
        assert {path: snapshot.body(path).decode() for path in snapshot} == contents
        assert (len(snapshot), snapshot.cursor, snapshot.damages) == (len(contents), cursor, [])
    assert set(source.snapshot()) == {C}
    with pytest.raises(MemoryNotFound):
        source.snapshot().body(A)
    writer.delete(C, mode="purge", reason="why")
    with pytest.raises(BodyPurged):
        source.snapshot(cursors[2]).body(A)
    with pytest.raises(LogRewritten):
        source.snapshot(Cursor(2, "0" * 64))


def test_a_cursor_that_was_kept_as_json_is_one_and_nothing_else_is(sealed):
    session.record(sealed, "one", TURNS)
    source = Source(sealed.store_path)
    kept = json.loads(json.dumps(source.head()))
    session.record(sealed, "two", TURNS)
    assert [each.id for each in source.sessions(kept).sessions] == ["two"]
    assert source.snapshot(kept).cursor == next(source.rows(kept, last=kept[0])).cursor == Cursor(*kept)
    bad: Any
    for bad in [{"seq": 1}, (5,), (5, None), ("5", "0" * 64), (5.5, "0" * 64), (-1, ""), (2**70, "0" * 64), "", None]:
        for ask in (source.sessions, source.snapshot, lambda at: next(source.rows(at))):
            if bad is None and ask == source.snapshot:
                continue  # now
            with pytest.raises(BadArgument, match="a cursor is"):
                ask(bad)
    for last in (-1, 2**70):
        with pytest.raises(BadArgument, match="not the number of a row"):
            next(source.rows(last=last))


def test_where_no_store_is_a_consumer_is_told(tmp_path):
    with pytest.raises(StoreNotFound):
        Source(tmp_path / "never")


def test_the_cursor_of_a_moment(writer, mock_time):
    source = Source(writer.store_path)
    begin = datetime(2026, 5, 19, 8, 0, 42, tzinfo=timezone.utc)
    assert source.at(begin) == START
    writer.put(A, "one\n")
    mock_time.set("2026-05-19T09:00:00Z")
    writer.put(A, "two\n")
    assert [source.at(begin + timedelta(minutes=minutes)).seq for minutes in (-1, 0, 30, 59, 60)] == [0, 1, 1, 1, 2]


def test_other_programs_rows_of_the_same_kinds_are_no_sessions(tmp_path):
    log = Log()
    log.add("session.start", "meta/sessions/x.md", {"session_id": "x"})
    log.add("session.start", "", {"n": 1})
    log.add("session.start", "sessions/2026-01-01/y.binlog", {"session_id": "y", "retention_days": "many"})
    log.add("session.end", "sessions/2026-01-01/y.binlog", {"session_id": "y", "ended_at": "late"})
    source = Source(log.write(tmp_path))
    (found,) = source.sessions().sessions
    assert (found.id, found.state, found.ended_at) == ("y", "ended", None)
    assert [each.id for each in source.sessions(source.rows().__next__().cursor).sessions] == []


def test_the_example_prints_a_days_sessions(sealed, mock_time):
    mock_time.set("2026-05-18T23:59:00Z")
    session.record(sealed, "yesterday", TURNS)
    mock_time.set("2026-05-19T08:00:00Z")
    with Writer(sealed.store_path, actor="bob") as other:  # without keys: nothing is encrypted
        session.start(other, "one")
        session.append(other, "one", "user", "How do we deploy?\nTell me.")
        other.put(A, "Deploys need two approvals.\n")
        other.emit_aux("episode.logged", {"path": B, "session_id": "one"})
        session.end(other, "one")
    session.record(sealed, "two", TURNS)
    session.purge(sealed, "two")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", EXAMPLE, sealed.store_path, "2026-05-19"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "08:00 one: confidential, ended, turns: 1",
        "    asked    How do we deploy?",
        f"    wrote    {A}",
        f"    used     {B}",
        "08:00 two: confidential, purged, turns: 2",
    ]


def run_example(*args):
    done = subprocess.run([sys.executable, "-W", "ignore", EXAMPLE, *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_example_tells_what_was_wrong_and_obeys_no_transcript(sealed, tmp_path):
    with Writer(sealed.store_path, actor="bob") as other:
        session.record(other, "one", [TurnInput("user", "red \x1b[31m\nand more")])
    code, out, err = run_example(sealed.store_path)
    assert (code, err, out.splitlines()[1]) == (0, "", "    asked    red ?[31m")
    for args, what in [
        ([], "read_sessions.py STORE"),
        ([tmp_path / "never"], "error: no store at"),
        ([sealed.store_path, "someday"], "error: Invalid isoformat string"),
    ]:
        code, out, err = run_example(*args)
        assert (code, out) == (1, "")
        assert what in err
        assert "Traceback" not in err
