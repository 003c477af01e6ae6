"""Following, listing and exporting."""

import json

import pytest

from cyberos.core import session
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore
from cyberos.errors import KeyMissing
from cyberos.operations import transcripts


def test_tail_gives_the_last_turns_and_then_new_ones_until_the_end(memory):
    session.start(memory, "a")
    session.append_many(memory, "a", [session.TurnInput("user", f"turn {number}") for number in range(5)])

    def meanwhile():
        yield
        session.append(memory, "a", "tool", "turn 5")
        yield
        yield
        session.append(memory, "a", "tool", "turn 6")
        session.end(memory, "a")
        yield
        pytest.fail("the session has ended")

    turns = transcripts.tail(str(memory.store_path), "a", decrypt=False, keystore=None, last=2, wait=meanwhile())
    assert [turn.content for turn in turns] == ["turn 3", "turn 4", "turn 5", "turn 6"]


def test_tail_of_a_session_that_is_over_returns(memory, cli):
    session.record(memory, "a", [session.TurnInput("user", f"turn {number}") for number in range(5)])
    run = cli("--store", memory.store_path, "session", "tail", "--id", "a", "-n", "1", "--json")
    assert [json.loads(line)["content"] for line in run.out.splitlines()] == ["turn 4"]


def test_list_filters_and_tells_how_long_each_is_kept(memory, sealed, cli, mock_time):
    mock_time.set("2026-05-19T08:00:00Z")
    session.record(memory, "a", [session.TurnInput("user", "x")], retention_days=2)
    session.record(sealed, "b", [], classification="restricted")
    session.start(memory, "c")

    def listed(*args):
        out = cli("--store", memory.store_path, "session", "list", *args).out
        return [json.loads(line) for line in out.splitlines()]

    assert [(each["session_id"], each["days_left"]) for each in listed()] == [("c", 30), ("b", 30), ("a", 2)]
    assert [each["session_id"] for each in listed("--ended", "true")] == ["b", "a"]
    assert [each["session_id"] for each in listed("--ended", "false")] == ["c"]
    assert [each["session_id"] for each in listed("--classification", "restricted")] == ["b"]
    mock_time.set("2026-05-21T08:00:00Z")
    assert listed() == []
    assert [each["days_left"] for each in listed("--since", "3d")] == [28, 28, 0]
    pretty = cli("--store", memory.store_path, "session", "list", "--since", "all", "--format", "pretty").out
    assert pretty.splitlines()[-1] == "2026-05-19T08:00:00Z ended      confidential       1 turn  0 days left   a"


def test_a_purge_begins_when_the_last_day_is_over(memory, mock_time):
    mock_time.set("2026-05-19T23:59:00Z")
    session.record(memory, "a", [], retention_days=1)
    for moment, count in (("2026-05-20T23:59:59Z", 0), ("2026-05-21T00:00:00Z", 1), ("2026-05-22T00:00:00Z", 0)):
        mock_time.set(moment)
        assert session.purge_expired(memory)["purged_count"] == count


def test_an_active_session_is_never_purged(memory, mock_time):
    mock_time.set("2026-05-19T08:00:00Z")
    made = session.start(memory, "a", retention_days=1)
    session.append(memory, "a", "user", "x")
    mock_time.set("2027-05-19T08:00:00Z")
    assert session.purge_expired(memory)["purged_count"] == 0
    assert (memory.store_path / made.path).stat().st_size > 100
    assert session.read(memory, "a")[0].content == "x"


def test_export_has_the_documents_form_and_keeps_what_is_sealed(sealed, cli, config):
    session.record(sealed, "a", [session.TurnInput("user", "secret")], classification="restricted", correlates_with="b")
    out = cli("--store", sealed.store_path, "session", "export", "--id", "a", "--format", "jsonl").out
    first, turn = map(json.loads, out.splitlines())
    assert first["session"].keys() >= {"id", "started_at", "ended_at", "classification", "retention_days"}
    assert first["session"]["correlates_with"] == "b"
    assert (turn["content"], turn["turn_seq"]) == ("[encrypted content; --decrypt to read]", 0)


def test_a_purge_that_cannot_reach_the_key_erases_nothing_or_says_so(sealed, approved, tmp_path):
    made = session.record(sealed, "a", [session.TurnInput("user", "secret")])
    before = (approved / made.path).read_bytes()
    with Writer(approved, actor="ann") as keyless, pytest.raises(KeyMissing):
        session.purge(keyless, "a")
    assert (approved / made.path).read_bytes() == before
    with Writer(approved, actor="ann", keystore=Keystore(str(tmp_path / "elsewhere"), {})) as other:
        receipt = session.purge(other, "a")
    assert (receipt.places, receipt.copies_until) == (
        (made.path,), "its key, which is in no keystore here, is erased",
    )  # fmt: skip
    receipt = session.purge(sealed, "a")
    assert (len(receipt.places), receipt.copies_until) == (1, "the master key is rotated")


def test_the_receipt_says_how_long_copies_can_be_opened(sealed, approved, cli, config):
    with Writer(approved, actor="ann") as keyless:
        session.record(keyless, "bare", [session.TurnInput("user", "x")])
    session.record(sealed, "kept", [session.TurnInput("user", "x")])
    for name, told in (("bare", "not encrypted: an older copy of it can be read"), ("kept", "until the master key")):
        run = cli("--store", approved, "session", "purge", "--id", name, "--yes")
        assert (run.code, told in run.out) == (0, True)
