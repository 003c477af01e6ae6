"""Rows, turns and tombstones are judged by the JSON Schema of the package, as any other validator would judge them."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos import _native
from cyberos.core import session
from cyberos.core.changes import Record
from cyberos.core.sessions import schema
from cyberos.core.writer import Writer
from cyberos.doctor import shapes
from cyberos.doctor.examination import Examination
from tests.sessions.conftest import approve

PEER = Path(__file__).parents[1] / "fixtures/peer-store"
TURN: dict[str, Any] = {"session_id": "a", "role": "user", "turn_seq": 0, "ts": "2026-05-19T08:00:00Z", "content": "x"}
ENVELOPE = {"alg": "aes-256-gcm", "key_ref": "k", "nonce": "AA==", "ct": "AA=="}
ROW: dict[str, Any] = {
    "session_id": "a", "started_at": "2026-05-19T08:00:00Z", "classification": "restricted", "retention_days": 1,
    "actor": "ann",
}  # fmt: skip
TOMBSTONE = {
    "kind": "session.tombstone", "session_id": "a", "classification": "restricted", "purged_at": "2026-05-20T08:00:00Z",
    "original_started_at": "2026-05-19T08:00:00Z", "original_ended_at": "2026-05-19T08:00:00Z", "turns_count": 0,
    "binlog_hash": "", "reason": "manual",
}  # fmt: skip
WHOLE: dict[str, dict[str, Any]] = {
    "SessionTurnPayload": TURN,
    "SessionStart": ROW,
    "SessionTombstone": TOMBSTONE,
    "Envelope": ENVELOPE,
}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 7, "", "a", "A b", "a\n", "restricted", "2026-05-19", ENVELOPE, {}, [], 1.5]
)


def independent(name):
    document = {"$defs": schema.load()["$defs"], "$ref": f"#/$defs/{name}"}
    return jsonschema.Draft202012Validator(document, format_checker=None)


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_the_judgement_is_that_of_another_validator(name, data):
    value = dict(WHOLE[name])
    fields = [*value, "content_cipher", "extra", "encrypted", "redactions_applied"]
    for field in data.draw(st.lists(st.sampled_from(fields), max_size=3)):
        if data.draw(st.booleans()):
            value.pop(field, None)
        # Times have a form of their own, which other validators leave open.
        elif not field.endswith(("_at", "ts")):
            value[field] = data.draw(ODD)
    assert (schema.misfit(name, value) is None) == independent(name).is_valid(value)


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_each_definition_knows_its_keywords_and_accepts_what_is_whole(name):
    assert schema.misfit(name, WHOLE[name]) is None
    for definition in schema.load()["$defs"]:
        assert schema.misfit(definition, None) is not None


@pytest.mark.parametrize("ts", ["", "x", "2026-05-19", "24h", "2026-13-19T08:00:00Z", "1969-05-19T08:00:00Z"])
def test_a_time_must_be_one(ts):
    assert "ts is" in str(schema.misfit("SessionTurnPayload", TURN | {"ts": ts}))


def found(store):
    return [finding.id for finding in shapes.check(Examination(str(store)))]


@pytest.fixture
def memory(store):
    approve(store)
    with Writer(store, actor="ann") as writer:
        yield writer


def test_what_is_written_here_and_by_upstream_has_the_shape(memory, tmp_path):
    session.start(memory, "a")
    session.append(memory, "a", "user", "x", redactions_applied=True)
    assert found(memory.store_path) == []
    session.end(memory, "a")
    session.purge(memory, "a")
    assert found(memory.store_path) == []
    assert found(shutil.copytree(PEER, tmp_path / "peer")) == []


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("session.start", ROW | {"retention_days": "30"}),
        ("session.start", ROW | {"session_id": "A b"}),
        ("session.start", ROW | {"started_at": "today"}),
        ("session.end", {"session_id": "a", "ended_at": "2026-05-19T08:00:00Z"}),
        ("session.purged", {"session_id": "a", "purged_at": "2026-05-19T08:00:00Z", "reason": "because"}),
    ],
)
def test_rows_of_another_shape_are_told(memory, kind, says):
    memory.apply([Record(kind, says, path="sessions/2026-05-19/a.binlog.zst")], session_id="")
    assert found(memory.store_path) == ["session-schema.row"]


@pytest.mark.parametrize(
    ("role", "content", "envelope"),
    [("boss", "x", None), ("user", None, {"alg": "none", "key_ref": "k", "nonce": "", "ct": ""}), ("user", None, {})],
)
def test_turns_of_another_shape_are_told(memory, role, content, envelope):
    made = session.start(memory, "a")
    first = memory.read_audit_row(memory.head_seq())["chain"]
    file = memory.store_path / made.path
    _native.Transcript(file, "a", first, 0).append([("user", 1, "x", None, None), (role, 2, content, envelope, None)])
    assert found(memory.store_path) == ["session-schema.turn"]


def test_a_tombstone_of_another_shape_is_told(memory, cli):
    made = session.record(memory, "a", [])
    session.purge(memory, "a")
    file = memory.store_path / made.path
    whole = json.loads(file.read_text())
    os.chmod(file, 0o600)
    for wrong in ({"turns_count": -1}, {"classification": "public"}, {"reason": 7}):
        file.write_text(json.dumps(whole | wrong))
        assert found(memory.store_path) == ["session-schema.tombstone"]
    run = cli("--store", memory.store_path, "doctor")
    assert run.code == 1
    assert "error[session-schema.tombstone]" in run.out
