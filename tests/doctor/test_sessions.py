"""Sessions that are not as the log says, rows that are out of order, and files that no session has."""

import json
import os
import shutil
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cyberos import _native
from cyberos.doctor import lifecycle
from cyberos.doctor import sessions as files
from cyberos.doctor.examination import Examination
from cyberos.operations import doctor
from tests.sessions.conftest import plain

_NOW = 1_800_000_000_000_000_000
_DAY = "2027-01-15"
SEALED = {"alg": "aes-256-gcm", "ct": "AA==", "key_ref": "k", "nonce": "AA=="}


class Sessions:
    """Writes sessions into a store, row by row and file by file."""

    def __init__(self, root):
        self.root = root

    def file(self, session_id):
        return self.root / "sessions" / _DAY / f"{session_id}.binlog.zst"

    def row(self, kind, session_id, path=None, **extra):
        """Returns the chain of the row."""
        path = f"sessions/{_DAY}/{session_id}.binlog.zst" if path is None else path
        extra = {"session_id": session_id, **extra}
        writer = _native.Writer(self.root)
        writer.submit([("aux", "ann", _NOW, extra, kind, path)])
        writer.close()
        reader = _native.Reader(self.root)
        rows, _ = reader.rows(reader.last_seq(), reader.last_seq())
        return rows[0]["chain"]

    def start(self, session_id="s1", classification="confidential", **extra):
        first = self.row("session.start", session_id, classification=classification, retention_days=30, **extra)
        self.file(session_id).parent.mkdir(parents=True, exist_ok=True)
        _native.create_transcript(self.file(session_id))
        self.activate(session_id)
        return first

    def activate(self, session_id):
        (self.root / "sessions" / ".active").write_text(session_id)

    def append(self, first, session_id="s1", contents=("hello", "hi")):
        turns: list[Any] = [
            ("user", _NOW, content, None, None) if isinstance(content, str) else ("user", _NOW, None, content, None)
            for content in contents
        ]
        return _native.Transcript(self.file(session_id), session_id, first, 0).append(turns)

    def end(self, first, session_id="s1", **changed):
        sha256, turns, chain, _ = _native.seal_transcript(self.file(session_id), session_id, first, 0)
        says = {"turns_count": turns, "binlog_hash": sha256, "chain_tip": chain, "ended_at": "x", **changed}
        self.row("session.end", session_id, **says)
        (self.root / "sessions" / ".active").unlink(missing_ok=True)

    def whole(self, session_id="s1", **extra):
        first = self.start(session_id, **extra)
        self.append(first, session_id)
        self.end(first, session_id)
        return first

    def purge(self, session_id="s1", says=()):
        extra = {"purged_at": "2027-03-01T00:00:00Z", "turns_count": 2, "reason": "manual"}
        tombstone = {"kind": "session.tombstone", "session_id": session_id, **extra, **dict(says)}
        _native.erase_transcript(self.file(session_id), json.dumps(tombstone).encode())
        self.row("session.purged", session_id, **extra)


@pytest.fixture
def sessions(store):
    return Sessions(store)


@pytest.fixture
def found(store):
    """Returns what is found about sessions, each with its file, if it counts."""

    def found(*, counting=True):
        exam = Examination(str(store))
        findings = [finding for family in FAMILIES for finding in family.check(exam)]
        return sorted(finding.id for finding in findings if finding.counts or not counting)

    return found


LIFECYCLE = "session-lifecycle-well-formed"
FAMILIES = (lifecycle.FAMILY, lifecycle.CLASSIFICATION, files.FAMILY)


def test_a_whole_life_is_well_formed(sessions, found):
    assert found() == []
    first = sessions.start()
    assert found() == []
    sessions.append(first)
    assert found() == []
    sessions.end(first)
    assert found() == []
    sessions.purge()
    assert found() == []
    sessions.whole("s2")
    sessions.row("session.start", "s3", classification="confidential", recorded=True)
    assert found() == ["sessions.missing"]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (["end"], "end_without_start"),
        (["purged"], "purge_without_start"),
        (["start", "end", "end"], "end_twice"),
        (["start", "end", "start"], "start_twice"),
        (["start", "start"], "start_twice"),
        (["start", "end", "purged", "end"], "end_after_purge"),
        (["start", "end", "purged", "purged"], "purge_twice"),
        (["start", "end", "purged", "start"], "start_twice"),
    ],
)
def test_rows_out_of_order_are_told(sessions, found, rows, what):
    for kind in rows:
        sessions.row(f"session.{kind}", "s1", classification="confidential")
    assert f"{LIFECYCLE}.{what}" in found()


def test_two_active_sessions_are_told_and_recorded_ones_are_not(sessions, found):
    sessions.start("s1")
    sessions.row("session.start", "s2", classification="confidential", recorded=True)
    assert LIFECYCLE not in str(found())
    sessions.row("session.start", "s3", classification="confidential")
    assert f"{LIFECYCLE}.two_active" in found()


def test_rows_of_upstream_that_are_about_something_else_are_not_judged(sessions, found):
    for kind in ("session.end", "session.end", "session.start", "session.start"):
        sessions.row(kind, "a1", path="meta/sessions/a1.json")
        writer = _native.Writer(sessions.root)
        writer.submit([("aux", "ann", _NOW, {"imported_from": "fp"}, kind, "")])
        writer.close()
    assert found(counting=False) == []


def test_ac13_an_end_without_a_start_is_told(sessions, found):
    sessions.row("session.end", "ghost", path="")
    assert found() == [f"{LIFECYCLE}.end_without_start"]


def upstream(*numbers):
    """Frames as upstream writes them into an open transcript."""
    frames = b""
    for number in numbers:
        payload = json.dumps({"session_id": "s1", "role": "user", "turn_seq": number, "content": "x"}).encode()
        frames += struct.pack(">IQQ", len(payload), number, _NOW) + payload
    return frames


def ours(*numbers):
    """Frames as ours, whatever the numbers are."""
    frames = b""
    for number in numbers:
        payload = json.dumps({"session_id": "s1", "role": "user", "turn_seq": number, "content": "x"}).encode()
        frames += struct.pack(">IIQQ", len(payload), zlib.crc32(payload), number, _NOW) + payload
    return frames


@pytest.mark.parametrize("numbers", [(0, 1, 1), (0, 2), (1,), (1, 0)])
def test_ac14_turns_out_of_order_are_told(sessions, found, numbers):
    sessions.start()
    sessions.file("s1").write_bytes(upstream(*range(3)))
    assert found() == []
    for frames in (upstream, ours):
        sessions.file("s1").write_bytes(frames(*numbers))
        assert f"{LIFECYCLE}.turns" in found()
    # The frames' own numbers are right, and those in the turns are not.
    relabelled = b"".join(
        upstream(place)[:20] + upstream(number)[20:] for place, number in enumerate(numbers)
    )  # fmt: skip
    sessions.file("s1").write_bytes(relabelled)
    assert f"{LIFECYCLE}.turns" in found()


def test_turns_that_the_end_does_not_count_are_told(sessions, found):
    first = sessions.start()
    sessions.append(first)
    sessions.end(first, turns_count=3)
    assert found() == [f"{LIFECYCLE}.turns_count"]


def test_a_changed_transcript_is_told_wherever_it_was_changed(sessions, found):
    sessions.whole()
    file = sessions.file("s1")
    whole = file.read_bytes()
    os.chmod(file, 0o600)
    for position in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[position] ^= 1
        file.write_bytes(changed)
        assert found(), position
    for length in range(0, len(whole), 11):
        file.write_bytes(whole[:length])
        assert found(), length
    file.write_bytes(whole)
    assert found() == []


def test_a_transcript_of_another_session_is_told(sessions, found):
    sessions.whole("s1")
    sessions.whole("s2")
    os.chmod(sessions.file("s2"), 0o600)
    shutil.copy(sessions.file("s1"), sessions.file("s2"))
    assert found() == [f"{LIFECYCLE}.turns"]


def test_hash_and_tip_must_be_those_of_the_end(sessions, found):
    first = sessions.start()
    sessions.append(first)
    sessions.end(first, binlog_hash="0" * 64)
    assert found() == ["sessions.hash"]
    second = sessions.start("s2")
    sessions.append(second, "s2")
    sessions.end(second, "s2", chain_tip="0" * 64)
    assert found() == ["sessions.chain", "sessions.hash"]


@pytest.mark.parametrize("classification", ["public", "internal", "", None, 7])
def test_a_classification_that_is_not_permitted_is_told(sessions, found, classification):
    sessions.start(classification=classification)
    assert found() == ["session-classification-valid.unknown"]


@pytest.mark.parametrize("extra", [{"classification": "restricted"}, {"encrypted": True}])
def test_turns_in_the_clear_where_they_must_not_be_are_told(sessions, found, extra):
    first = sessions.start(**extra)
    sessions.append(first, contents=[SEALED, SEALED])
    assert found() == []
    second = sessions.start("s2", recorded=True, **extra)
    sessions.append(second, "s2", contents=[SEALED, "hello"])
    sessions.end(second, "s2")
    sessions.activate("s1")
    assert found() == ["session-classification-valid.in_the_clear"]


def test_a_transcript_that_is_gone_is_told(sessions, found):
    sessions.whole()
    sessions.file("s1").unlink()
    assert found() == ["sessions.missing"]
    sessions.file("s1").symlink_to(sessions.root / "manifest.json")
    assert found() == ["sessions.link"]


def test_a_purge_that_was_not_finished_is_told(sessions, found):
    sessions.whole("s1")
    sessions.whole("s2")
    _native.erase_transcript(sessions.file("s1"), b'{"session_id": "s1"}')
    sessions.row("session.purged", "s2", purged_at="x")
    assert found() == ["sessions.half_purged", "sessions.not_erased"]


@pytest.mark.parametrize(
    "changed", [{"session_id": "s2"}, {"purged_at": "2027-04-01T00:00:00Z"}, {"turns_count": 3}, {"reason": "x"}]
)
def test_a_tombstone_that_was_edited_is_told(sessions, found, changed):
    sessions.whole()
    sessions.purge(says=changed)
    assert found() == ["sessions.tombstone"]
    sessions.file("s1").write_bytes(b'{"session_id": "s1", "purged_at": "2027-03-01T00:00:00Z"}')
    assert found() == [], "one that says less is as good"
    for content in (b"{", b"{}", b'{"a":' * 9_000):
        sessions.file("s1").write_bytes(content)
        assert found() == ["sessions.tombstone"]
    sessions.file("s1").unlink()
    assert found() == ["sessions.tombstone_missing"]


def test_sealing_that_was_interrupted_is_told(sessions, found):
    first = sessions.start()
    sessions.append(first)
    open_file = sessions.file("s1").read_bytes()
    sessions.end(first)
    os.chmod(sessions.file("s1"), 0o600)
    sessions.file("s1").write_bytes(open_file)
    assert found() == ["sessions.unsealed"]
    first = sessions.start("s2")
    sessions.append(first, "s2")
    _native.seal_transcript(sessions.file("s2"), "s2", first, 0)
    assert found() == ["sessions.unfinished", "sessions.unsealed"]


def test_what_was_never_acknowledged_is_known_and_what_was_is_not_lost(sessions, found):
    first = sessions.start()
    sessions.append(first)
    lease = sessions.root / "sessions" / ".lease"
    lease.write_text(json.dumps({"session_id": "s1", "turns": 2}))
    with sessions.file("s1").open("ab") as handle:
        handle.write(b"\x28\xb5\x2f\xfd torn")
    assert found() == []
    assert found(counting=False) == ["sessions.torn"]
    lease.write_text(json.dumps({"session_id": "s1", "turns": 3}))
    assert found() == ["sessions.turns_lost"]


@pytest.mark.parametrize("content", [b"", b"s2", b"\xff\xfe", b"\0" * 100, b"x" * 10_000])
def test_a_stale_pointer_is_told(sessions, found, content):
    first = sessions.start()
    pointer = sessions.root / "sessions" / ".active"
    pointer.write_bytes(content)
    assert found() == ["sessions.active"]
    pointer.unlink()
    assert found() == ["sessions.active"]
    sessions.end(first)
    assert found() == []
    pointer.write_bytes(content or b"s1")
    assert found() == ["sessions.active"]


@pytest.mark.parametrize(
    "content", ["garbage", '{"session_id": "s1"}', "\0" * 512, '{"session_id": "s1", "turns": -1}']
)
def test_a_stale_lease_is_told(sessions, found, content):
    sessions.start()
    lease = sessions.root / "sessions" / ".lease"
    lease.write_text(content)
    assert found() == ["sessions.lease"]
    lease.write_text('{"session_id": "never", "turns": 0}')
    assert (found(), found(counting=False)) == ([], ["sessions.lease"])
    lease.write_text("")
    assert found(counting=False) == []


def test_files_that_no_session_has_are_told(sessions, found):
    sessions.whole()
    folder = sessions.root / "sessions"
    for name in (f"{_DAY}/s2.binlog.zst", f"{_DAY}/s1.binlog", "notes.txt", f"{_DAY}/s1.binlog.zst.tmp"):
        (folder / name).write_bytes(b"x")
    (folder / "STORE.yaml").write_text("store_id: s\n")
    (folder / ".lease").touch()
    assert found() == ["sessions.leftover", *["sessions.orphan"] * 3]


@pytest.fixture
def peer(tmp_path):
    return Path(shutil.copytree(Path(__file__).parents[1] / "fixtures" / "peer-store", tmp_path / "peer"))


def test_upstreams_sessions_are_well_formed(peer):
    findings = doctor.examine(str(peer)).findings
    assert not [finding for finding in findings if finding.id.startswith("session")]


def test_upstreams_sessions_that_were_changed_are_told(peer):
    """Its turns have neither checksum nor chain: only the hash of them all tells."""
    files_there = sorted((peer / "sessions").rglob("*.zst"))
    one = next(file for file in files_there if file.name.startswith("sess-52."))
    other = next(file for file in files_there if file.name.startswith("sess-232."))
    assert turns_in(one) == turns_in(other) == 2
    shutil.copy(other, one)
    findings = lifecycle.check_order(Examination(str(peer)))
    assert [(finding.id, finding.file) for finding in findings] == [
        (f"{LIFECYCLE}.turns", one.relative_to(peer).as_posix())
    ]
    whole = plain(other).replace(b"sess-232", b"sess-52\x20")
    one.write_bytes(zstandard.compress(whole.replace(b'"sess-52 "', b'"sess-52" ')))
    findings = files.check(Examination(str(peer)))
    assert [(finding.id, finding.file) for finding in findings] == [("sessions.hash", one.relative_to(peer).as_posix())]


def turns_in(file):
    return _native.Turns(file, file.name.split(".")[0], "0" * 64).skip()


def test_doctor_tells_people(cli, sessions):
    sessions.row("session.end", "ghost")
    run = cli("--store", sessions.root, "doctor")
    assert run.code == 1
    assert f"error[{LIFECYCLE}.end_without_start]" in run.out
    assert "session ghost is ended, and was never started" in run.out
