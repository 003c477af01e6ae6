"""Ids, contents and files that nobody should give, transcripts of another program, and clocks that step back."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import zstandard

from cyberos import clock
from cyberos.core import session
from cyberos.core.changes import Record
from cyberos.core.sessions.terms import MAX_CONTENT
from cyberos.core.writer import Writer
from cyberos.crypto import rotation
from cyberos.errors import AlreadyExists, BadArgument, CyberosError, SealBroken, TurnRefused, WrongKey
from tests.sessions.conftest import approve, frames

PEER = Path(__file__).parents[1] / "fixtures/peer-store"


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        ("0197f3a2-4C1D", "s-0197f3a2-4c1d"), ("A Title!", "a-title"), ("x" * 65, "x" * 64), ("_a", "s-_a"),
        ("", None), ("é", None), ("../../etc", "etc"), ("a/b", "a-b"), ("a\n", "a"), ("a\0", "a"),
    ],
)  # fmt: skip
def test_an_id_that_is_none_is_told_what_would_be(memory, given, offered):
    with pytest.raises(BadArgument) as caught:
        session.start(memory, given)
    assert caught.value.hints[1:] == ((f"for this one use {offered}",) if offered else ())
    if offered:
        session.start(memory, offered)


def test_an_id_is_used_once_in_the_whole_store(memory, mock_time):
    session.record(memory, "a", [])
    mock_time.set("2026-07-01T00:00:00Z")
    with pytest.raises(AlreadyExists):
        session.start(memory, "a")
    session.purge(memory, "a")
    with pytest.raises(AlreadyExists):
        session.record(memory, "a", [])


@pytest.mark.parametrize("content", ["", "a\0b", "\ud800", "x" * (MAX_CONTENT + 1), "é" * (MAX_CONTENT // 2 + 1), 7])
def test_content_that_is_none_is_refused_and_so_is_its_batch(memory, content):
    session.start(memory, "a")
    with pytest.raises(TurnRefused):
        session.append(memory, "a", "user", content)
    with pytest.raises(TurnRefused, match="turn 1 of the batch"):
        session.append_many(memory, "a", [session.TurnInput("user", "x"), session.TurnInput("user", content)])
    assert session.read(memory, "a") == []


def test_content_of_the_longest_kind_is_taken(memory):
    session.start(memory, "a")
    session.append(memory, "a", "user", "x" * MAX_CONTENT)
    session.append(memory, "a", "user", "\u2028\t\x7f\U0001f600")
    with pytest.raises(TurnRefused, match="16 MiB"):
        session.append(memory, "a", "user", "\x01" * MAX_CONTENT)
    assert [len(turn.content) for turn in session.read(memory, "a")] == [MAX_CONTENT, 4]


@pytest.mark.parametrize(
    ("stdin", "told"),
    [
        (b"\xff\xfe", "binary: byte 0 is not UTF-8"), (b"", "is empty"), (b"a\0", "NUL"),
    ],
)  # fmt: skip
def test_standard_input_that_is_no_content(program, memory, stdin, told):
    session.start(memory, "a")
    run = program(
        "--store", memory.store_path, "session", "append", "--id", "a", "--role", "user", "--content", "-", stdin=stdin
    )  # fmt: skip
    assert (run.code, run.out) == (4, "")
    assert told in run.err


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "x",
        '{"role": "user"}',
        '{"role": "user", "content": "x", "who": 1}',
        '{"role": "user", "content": "x", "ts": "?"}',
    ],
)
def test_lines_that_are_no_turns(cli, memory, tmp_path, line):
    session.start(memory, "a")
    file = tmp_path / "turns.jsonl"
    file.write_text('{"role": "user", "content": "x"}\n\n' + line + "\n")
    run = cli("--store", memory.store_path, "session", "append", "--id", "a", "--jsonl", file)
    assert run.code == 2
    assert session.read(memory, "a") == []


def test_a_clock_that_steps_back_changes_no_order(memory, mock_time):
    session.start(memory, "a")
    session.append(memory, "a", "user", "first")
    mock_time.set("2020-01-01T00:00:00Z")
    session.append(memory, "a", "user", "second")
    session.end(memory, "a")
    assert [turn.content for turn in session.read(memory, "a")] == ["first", "second"]
    assert session.purge_expired(memory)["purged_count"] == 0


def test_turns_cannot_change_their_place_role_or_time(sealed, approved, keystore):
    first = session.start(sealed, "a", classification="restricted")
    for content in ("one", "two"):
        session.append(sealed, "a", "user", content)
    session.end(sealed, "a")
    session.record(sealed, "b", [session.TurnInput("user", "other")], classification="restricted")
    turns = frames(approved / first.path)
    cipher = keystore.open(sealed.config().store_id, "a")
    other = keystore.open(sealed.config().store_id, "b")
    envelope = turns[0]["content_cipher"]
    when = clock.parse_time(turns[0]["ts"])
    assert cipher.open("user", 0, when, envelope) == b"one"
    for role, turn, moment in (("tool", 0, when), ("user", 1, when), ("user", 0, when + 1)):
        with pytest.raises(SealBroken):
            cipher.open(role, turn, moment, envelope)
    with pytest.raises(WrongKey):
        other.open("user", 0, when, envelope)


def test_rotating_the_master_key_rewrites_no_transcript(sealed, approved, keystore):
    made = session.record(sealed, "a", [session.TurnInput("user", "secret")], classification="restricted")
    before = (approved / made.path).read_bytes()
    rotation.rotate(keystore, "file")
    assert (approved / made.path).read_bytes() == before
    assert session.read(sealed, "a", decrypt=True)[0].content == "secret"


def test_without_its_key_a_confidential_session_that_is_encrypted_is_not_read(sealed, approved):
    session.record(sealed, "a", [session.TurnInput("user", "secret")])
    assert session.read(sealed, "a")[0].content == "secret"
    with Writer(approved) as keyless, pytest.raises(CyberosError) as caught:
        session.read(keyless, "a")
    assert caught.value.code == "key_missing"


@pytest.fixture
def peer(tmp_path):
    store = tmp_path / "peer"
    shutil.copytree(PEER, store)
    approve(store)
    return store


def test_transcripts_of_upstream_are_read_listed_and_purged(peer, cli):
    with Writer(peer, actor="ann") as memory:
        found = list(session.list_sessions(memory))
        assert {each.state for each in found} == {"ended"}
        assert len(found) == len(list(peer.glob("sessions/*/*.zst")))
        for each in found:
            turns = session.read(memory, each.id, decrypt=True)
            assert len(turns) == each.turns_count
            sealed = each.classification == "restricted"
            assert all((turn.content == "[encrypted content; sealed by another program]") == sealed for turn in turns)
        session.start(memory, "ours")
        session.end(memory, "ours")
        with pytest.raises(AlreadyExists):
            session.start(memory, found[0].id)
        session.purge(memory, found[0].id)
    run = cli("--store", peer, "session", "show", "--id", found[0].id, "--writes", "--json")
    shown = json.loads(run.out)
    assert (shown["state"], len(shown["writes"])) == ("purged", 1)


def test_a_transcript_of_upstream_that_is_open_is_read_and_ended_as_it_is(peer):
    with Writer(peer, actor="ann") as memory:
        last = next(each for each in session.list_sessions(memory) if each.classification == "confidential")
        content = zstandard.ZstdDecompressor().stream_reader((peer / last.path).read_bytes()).read()
        name = "x" * len(last.id)
        content = content.replace(last.id.encode(), name.encode())
        file = peer / f"sessions/2026-11-30/{name}.binlog"
        file.write_bytes(content + b"\x00\x00")
        memory.apply([session_row(name)], session_id="")
        assert len(session.read(memory, name)) == last.turns_count
        (peer / "sessions/.active").write_text(name)
        file.write_bytes(content)
        session.end(memory, name)
        payload = memory.read_recent_audit_rows(1)[0]["payload"]
        assert len(session.read(memory, name)) == last.turns_count
    assert (payload["turns_count"], payload["binlog_hash"]) == (last.turns_count, hashlib.sha256(content).hexdigest())
    assert file.read_bytes() == content


def session_row(name):
    payload = {
        "actor": "stephen", "classification": "confidential", "retention_days": 30, "session_id": name,
        "started_at": "2026-11-30T15:28:49.007047+00:00",
    }  # fmt: skip
    return Record("session.start", payload, path=f"sessions/2026-11-30/{name}.binlog")
