"""The acceptance criteria of the transcript ledger, by number. AC 13 and 14 are doctor's: tests/doctor."""

import json
from pathlib import Path

import pytest

from cyberos import clock
from cyberos.core import session
from cyberos.core.writer import Writer
from cyberos.errors import AclDenied, BadArgument, ProtocolNotApproved, SessionNotFound, SessionStateRefused
from tests.sessions.conftest import approve, frames

DENIED = "store_id: sessions\nacl:\n- actor: scheduled-importer\n  mode: deny\n"
START_FIELDS = {"session_id", "started_at", "classification", "retention_days", "actor"}
END_FIELDS = {"session_id", "ended_at", "ended_reason", "turns_count", "binlog_hash"}
PURGED_FIELDS = {
    "session_id", "original_started_at", "original_ended_at", "turns_count", "purged_at", "reason",
}  # fmt: skip


def kinds(memory: Writer) -> list[str]:
    return [row["kind"] for row in memory.reader().iter_rows()]


def file_of(memory: Writer, made: session.Session) -> Path:
    return memory.store_path / made.path


def test_ac01_the_whole_life_gives_back_three_turns_in_order(memory):
    session.start(memory, "a")
    for number, content in enumerate(("one", "two", "three")):
        assert session.append(memory, "a", "user", content) == number
    session.end(memory, "a")
    assert [(turn.turn_seq, turn.content) for turn in session.read(memory, "a")] == [
        (0, "one"), (1, "two"), (2, "three"),
    ]  # fmt: skip


def test_ac02_a_session_is_confidential_by_default(memory, cli):
    assert session.start(memory, "a").classification == "confidential"
    session.end(memory, "a")
    assert cli("--store", memory.store_path, "session", "start", "--id", "b", "--json").code == 0
    assert memory.read_recent_audit_rows(1)[0]["payload"]["classification"] == "confidential"


def test_ac03_a_restricted_session_has_no_turn_in_the_clear(sealed):
    made = session.start(sealed, "a", classification="restricted")
    session.append(sealed, "a", "user", "the planted secret")
    session.append_many(sealed, "a", [session.TurnInput("tool", "the planted secret")] * 3)
    for turn in frames(file_of(sealed, made)):
        assert turn["content_cipher"].keys() >= {"alg", "key_ref", "nonce", "ct"}
        assert "content" not in turn
        assert {"role", "ts", "turn_seq"} < turn.keys()


@pytest.mark.parametrize("classification", ["public", "internal", "secret", ""])
def test_ac04_other_classifications_are_refused(memory, cli, classification):
    with pytest.raises(BadArgument, match=r"classification|permitted"):
        session.start(memory, "a", classification=classification)
    run = cli("--store", memory.store_path, "session", "start", "--id", "a", "--classification", classification)
    assert run.code == 2
    if classification in ("public", "internal"):
        assert f"{classification!r} is not permitted" in run.err
    assert kinds(memory) == []


def test_ac05_append_without_start_names_the_state(memory, cli):
    with pytest.raises(SessionNotFound, match="no active session"):
        session.append(memory, "never-started", "user", "x")
    run = cli(
        "--store", memory.store_path, "session", "append", "--id", "never-started", "--role", "user", "--content", "x"
    )  # fmt: skip
    assert (run.code, run.out) == (3, "")
    assert "cyberos session start --id never-started" in run.err


def test_ac06_append_after_end_is_refused(memory):
    session.start(memory, "a")
    session.end(memory, "a")
    with pytest.raises(SessionStateRefused, match="has ended"):
        session.append(memory, "a", "user", "x")


def test_ac06_what_cannot_be_done_names_the_state_and_the_command_that_helps(memory):
    for name in ("ended", "purged"):
        session.record(memory, name, [])
    session.purge(memory, "purged")
    session.start(memory, "now")
    for name, state, hint in (
        ("ended", "has ended", "cyberos session read --id ended"),
        ("purged", "was purged", "cyberos session show --id purged"),
        ("never", "never started; the active session is now", "cyberos session end --id now"),
    ):
        for attempt in (
            lambda name=name: session.append(memory, name, "user", "x"),
            lambda n=name: session.end(memory, n),
        ):
            with pytest.raises((SessionStateRefused, SessionNotFound), match=state) as caught:
                attempt()
            assert hint in caught.value.hints
    assert session.append(memory, "now", "user", "x") == 0


def test_ac07_a_second_end_is_refused(memory):
    session.start(memory, "a")
    session.end(memory, "a")
    with pytest.raises(SessionStateRefused, match="has ended"):
        session.end(memory, "a")
    assert kinds(memory) == ["session.start", "session.end"]


def test_ac08_a_second_active_session_is_refused(memory):
    session.start(memory, "a")
    with pytest.raises(SessionStateRefused, match="already active") as caught:
        session.start(memory, "b")
    assert (caught.value.active, caught.value.hints) == ("a", ("cyberos session end --id a",))
    assert kinds(memory) == ["session.start"]
    assert sorted(file.name for file in memory.store_path.glob("sessions/*/*")) == ["a.binlog.zst"]


def test_ac09_the_start_is_a_row(memory):
    session.start(memory, "a", retention_days=7, actor="stephen", correlates_with="other")
    row = memory.read_audit_row(memory.head_seq())
    assert (row["kind"], row["actor"]) == ("session.start", "stephen")
    assert row["payload"].keys() == START_FIELDS | {"correlates_with"}
    assert row["payload"]["started_at"] == row["ts"]


def test_ac10_the_end_is_a_row(memory):
    import hashlib

    made = session.start(memory, "a")
    session.append(memory, "a", "user", "x")
    session.end(memory, "a", reason="done")
    row = memory.read_audit_row(memory.head_seq())
    assert row["payload"].keys() == END_FIELDS | {"chain_tip"}
    assert row["payload"]["binlog_hash"] == hashlib.sha256(file_of(memory, made).read_bytes()).hexdigest()
    assert row["payload"]["chain_tip"] == frames(file_of(memory, made))[-1]["chain"]
    assert (row["kind"], row["payload"]["turns_count"], row["payload"]["ended_reason"]) == ("session.end", 1, "done")


def test_ac11_memory_writes_carry_the_active_session(memory):
    session.start(memory, "a")
    memory.put("memories/x.md", "x\n")
    memory.move("memories/x.md", "memories/y.md")
    memory.delete("memories/y.md")
    assert [row["extra"]["session_id"] for row in memory.read_recent_audit_rows(3)] == ["a"] * 3


def test_ac12_no_session_is_noted_outside_of_one(memory):
    memory.put("memories/x.md", "x\n")
    session.start(memory, "a")
    session.end(memory, "a")
    memory.put("memories/x.md", "y\n")
    rows = [row for row in memory.reader().iter_rows() if row["kind"] == "put"]
    assert [row["extra"].keys() & {"session_id", "session_turn"} for row in rows] == [set(), set()]


def test_ac15_a_restricted_session_is_shown_without_its_content(sealed, cli, config):
    session.start(sealed, "a", classification="restricted")
    session.append(sealed, "a", "user", "the planted secret")
    run = cli("--store", sealed.store_path, "session", "read", "--id", "a")
    assert run.code == 0
    assert "[     0]" in run.out
    assert " user\n         [encrypted content; --decrypt to read]\n" in run.out
    assert "planted" not in run.out


def test_ac16_decrypt_shows_it(sealed, cli, config):
    session.start(sealed, "a", classification="restricted")
    session.append(sealed, "a", "user", "the planted secret")
    run = cli("--store", sealed.store_path, "session", "read", "--id", "a", "--decrypt")
    assert (run.code, run.out.splitlines()[1]) == (0, "         the planted secret")


def test_ac17_list_shows_the_last_day_with_class_and_state(memory, cli, mock_time):
    mock_time.set("2026-05-17T10:00:00Z")
    session.record(memory, "old", [])
    mock_time.set("2026-05-19T09:00:00Z")
    session.record(memory, "gone", [])
    session.purge(memory, "gone")
    session.record(memory, "over", [])
    session.start(memory, "now")
    mock_time.set("2026-05-19T10:00:00Z")
    run = cli("--store", memory.store_path, "session", "list", "--since", "24h")
    listed = [json.loads(line) for line in run.out.splitlines()]
    assert [(each["session_id"], each["state"], each["classification"]) for each in listed] == [
        ("now", "active", "confidential"), ("over", "ended", "confidential"), ("gone", "purged", "confidential"),
    ]  # fmt: skip


def expired(memory: Writer, mock_time) -> list[session.Session]:
    mock_time.set("2026-04-14T12:00:00Z")
    made = [session.record(memory, name, [session.TurnInput("user", f"said in {name}")]) for name in ("a", "b")]
    mock_time.set("2026-05-19T03:00:00Z")
    return [*made, session.record(memory, "new", [session.TurnInput("user", "said in new")])]


def test_ac18_what_has_expired_is_purged(memory, mock_time):
    first, second, new = expired(memory, mock_time)
    kept = file_of(memory, new).read_bytes()
    assert session.purge_expired(memory)["purged_count"] == 2
    for made in (first, second):
        tombstone = json.loads(file_of(memory, made).read_text())
        assert (tombstone["kind"], tombstone["session_id"]) == ("session.tombstone", made.id)
    assert kinds(memory)[-2:] == ["session.purged"] * 2
    assert file_of(memory, new).read_bytes() == kept


def test_ac19_a_dry_run_purges_nothing(memory, mock_time, cli):
    expired(memory, mock_time)
    before = {file: file.read_bytes() for file in memory.store_path.glob("sessions/*/*")}
    rows = memory.head_seq()
    result = session.purge_expired(memory, dry_run=True)
    assert (result["dry_run"], result["purged_count"]) == (True, 2)
    run = cli("--store", memory.store_path, "session", "purge-expired", "--dry-run")
    assert run.out.splitlines()[-1].startswith("2 transcripts would be erased, ")
    assert {file: file.read_bytes() for file in memory.store_path.glob("sessions/*/*")} == before
    assert memory.head_seq() == rows


def test_ac20_the_purge_says_what_there_was(memory, mock_time):
    expired(memory, mock_time)
    session.purge_expired(memory)
    payload = memory.read_recent_audit_rows(2)[0]["payload"]
    assert payload.keys() == PURGED_FIELDS
    assert payload == {
        "session_id": "a",
        "original_started_at": "2026-04-14T12:00:00Z",
        "original_ended_at": "2026-04-14T12:00:00Z",
        "turns_count": 1,
        "purged_at": "2026-05-19T03:00:00Z",
        "reason": "retention_expired",
    }


def test_ac21_the_access_list_of_sessions_binds_and_comes_before_existence(memory, cli):
    session.record(memory, "there", [])
    (memory.store_path / "sessions/STORE.yaml").write_text(DENIED)
    run = cli(
        "--store", memory.store_path, "session", "start", "--id", "a", "--actor", "scheduled-importer",
    )  # fmt: skip
    assert run.code == 4
    assert "error[acl_denied]" in run.err
    with Writer(memory.store_path, actor="scheduled-importer") as other:
        for attempt in (
            lambda name: session.append(other, name, "user", "x"),
            lambda name: session.end(other, name),
            lambda name: session.purge(other, name),
            lambda name: session.record(other, name, [], actor="scheduled-importer"),
        ):
            told = []
            for name in ("there", "none"):
                with pytest.raises(AclDenied) as caught:
                    attempt(name)
                told.append(str(caught.value).replace(name, "NAME"))
            assert told[0] == told[1]
    assert kinds(memory)[-1] == "memory.acl_denied"
    session.start(memory, "b")


def test_ac22_the_owner_must_have_approved(store, cli):
    with Writer(store) as memory, pytest.raises(ProtocolNotApproved, match="APPROVE protocol change P22 §18"):
        session.start(memory, "a")
    run = cli("--store", store, "session", "start", "--id", "a")
    assert run.code == 4
    assert "APPROVE protocol change P22 §18" in run.err
    assert not (store / "sessions/.active").exists()
    approve(store)
    assert cli("--store", store, "session", "start", "--id", "a").code == 0


def test_ac23_redactions_are_applied_where_that_is_asked_for(memory, cli):
    made = session.start(memory, "a")
    text = "write to ann@example.org"
    session.append(memory, "a", "user", text, redactions_applied=True)
    session.append(memory, "a", "user", text, redactions_applied=False)
    session.append(memory, "a", "user", text)
    run = cli(
        "--store", memory.store_path, "session", "append", "--id", "a", "--role", "tool", "--content", text,
        "--redactions-applied", "true",
    )  # fmt: skip
    assert run.code == 0
    assert [(turn["content"], turn.get("redactions_applied")) for turn in frames(file_of(memory, made))] == [
        ("write to <EMAIL>", True), (text, False), (text, None), ("write to <EMAIL>", True),
    ]  # fmt: skip


def test_ac24_a_transcript_lies_in_the_folder_of_its_date(memory, mock_time):
    mock_time.set("2026-05-19T08:00:00Z")
    session.start(memory, "a")
    assert (memory.store_path / "sessions/2026-05-19/a.binlog.zst").is_file()


def test_ac25_a_session_over_midnight_stays_where_it_began(memory, mock_time):
    mock_time.set("2026-05-19T23:55:00Z")
    made = session.start(memory, "a")
    session.append(memory, "a", "user", "before")
    mock_time.set("2026-05-20T00:05:00Z")
    session.append(memory, "a", "user", "after")
    session.end(memory, "a")
    assert [file.relative_to(memory.store_path).as_posix() for file in memory.store_path.glob("sessions/*/*")] == [
        "sessions/2026-05-19/a.binlog.zst"
    ]
    assert [turn["ts"] for turn in frames(file_of(memory, made))] == ["2026-05-19T23:55:00Z", "2026-05-20T00:05:00Z"]
    assert clock.iso_seconds(clock.from_datetime(made.started_at)) == "2026-05-19T23:55:00Z"
