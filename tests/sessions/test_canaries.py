"""What must not be stored is in no file, whichever way it was to come in; what cannot be looked at is not stored."""

import json
from pathlib import Path

import pytest

from cyberos import redaction
from cyberos.core import session
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, ExtraMissing
from cyberos.redaction import validators
from tests.sessions.conftest import plain

CANARIES = ("AKIAIOSFODNN7EXAMPLE", "canary.bird@example.org", "4111 1111 1111 1111")
TEXT = "keep this: " + " and ".join(CANARIES) + "."
CLEAN = "keep this: <AWS_KEY> and <EMAIL> and <CARD>."


def files_with(root: Path) -> list[str]:
    """Names the files that have any canary, as they are or unpacked."""
    found = []
    for file in sorted(file for file in root.rglob("*") if file.is_file()):
        content = file.read_bytes()
        if file.suffix == ".zst":
            content += plain(file)
        found += [file.name] if any(canary.encode() in content for canary in CANARIES) else []
    return found


def test_a_canary_in_every_field_is_in_no_file(memory, program, tmp_path):
    store, typed = memory.store_path, tmp_path / "typed"
    typed.write_text(TEXT)
    turn = json.dumps({"role": "user", "content": TEXT, "redactions_applied": True}).encode()

    def run(*args, stdin=b""):
        done = program("--store", store, "session", *args, stdin=stdin, CYBEROS_ACTOR="ann")
        assert done.code == 0, done.err
        assert not any(canary in done.out for canary in CANARIES)

    append = ("append", "--id", "a", "--role", "user", "--redactions-applied", "true")
    run("start", "--id", "a")
    run(*append, "--content", TEXT)
    run(*append, "--content", "-", stdin=TEXT.encode())
    run(*append, "--file", typed)
    run("append", "--id", "a", "--jsonl", "-", stdin=turn + b"\n" + turn)
    session.append(memory, "a", "tool", TEXT, redactions_applied=True)
    session.append_many(memory, "a", [session.TurnInput("user", TEXT, redactions_applied=True)] * 2)
    run("end", "--id", "a", "--reason", TEXT)
    run("record", "--id", "b", "--reason", TEXT, stdin=turn)
    session.record(memory, "c", [session.TurnInput("user", TEXT, redactions_applied=True)], reason=TEXT)
    assert [turn.content for turn in session.read(memory, "a")] == [CLEAN] * 8
    for name in ("b", "c"):
        assert [(turn.content, turn.redactions_applied) for turn in session.read(memory, name)] == [(CLEAN, True)]
    ends = [row["payload"]["ended_reason"] for row in memory.reader().iter_rows() if row["kind"] == "session.end"]
    assert ends == [CLEAN] * 3
    assert files_with(store) == []
    session.record(memory, "d", [session.TurnInput("user", TEXT)])
    assert files_with(store) == ["d.binlog.zst"], "and where nobody asked, it is found"


@pytest.mark.parametrize("canary", [CANARIES[0], CANARIES[1], CANARIES[2]])
def test_fields_of_a_narrow_form_take_no_canary(memory, canary):
    for attempt in (
        lambda: session.start(memory, canary),
        lambda: session.start(memory, "a", correlates_with=canary),
        lambda: session.start(memory, "a", classification=canary),
        lambda: session.record(memory, "a", [session.TurnInput(canary, "x")]),
        lambda: session.record(memory, "a", [], correlates_with=canary),
    ):
        with pytest.raises(BadArgument):
            attempt()
    assert files_with(memory.store_path) == []
    assert list(session.list_sessions(memory)) == []


def test_nothing_is_stored_where_the_scanner_fails(memory, monkeypatch):
    session.start(memory, "a")
    turn = session.TurnInput("user", TEXT, redactions_applied=True)

    def fails(*_):
        raise RuntimeError("no scanner")

    monkeypatch.setattr(redaction, "redact_text", fails)
    for attempt in (
        lambda: session.append_many(memory, "a", [session.TurnInput("user", "x"), turn]),
        lambda: session.end(memory, "a", TEXT),
        lambda: session.record(memory, "b", [turn]),
    ):
        with pytest.raises(RuntimeError, match="no scanner"):
            attempt()
    assert files_with(memory.store_path) == []
    assert session.read(memory, "a") == []
    assert [each.id for each in session.list_sessions(memory)] == ["a"]
    session.append(memory, "a", "user", "nothing was asked")
    assert session.read(memory, "a")[0].redactions_applied is None


def test_without_the_validators_a_reason_is_stored_only_if_it_is_harmless(memory, monkeypatch):
    def lacking():
        raise ExtraMissing("not installed", extra="redact")

    monkeypatch.setattr(validators, "require", lacking)
    session.start(memory, "a")
    with pytest.raises(ExtraMissing):
        session.end(memory, "a", TEXT)
    assert session.end(memory, "a", "the day is over").state == "ended"


def test_a_canary_is_replaced_before_it_is_encrypted(sealed: Writer):
    session.start(sealed, "a", classification="restricted")
    session.append(sealed, "a", "user", TEXT, redactions_applied=True)
    assert session.read(sealed, "a", decrypt=True)[0].content == CLEAN
