"""Everything that is written about a session has the shape that the package's JSON Schema says."""

import json

import jsonschema
import pytest

from cyberos.core import session
from cyberos.core.sessions import schema
from tests.sessions.conftest import frames

ROWS = {"session.start": "SessionStart", "session.end": "SessionEnd", "session.purged": "SessionPurged"}


def validator(name):
    document = schema.load()
    return jsonschema.Draft202012Validator({"$defs": document["$defs"], "$ref": f"#/$defs/{name}"})


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema.load())


@pytest.mark.parametrize("name", ["memory", "sealed"])
def test_rows_turns_and_tombstones_are_valid(name, request):
    memory = request.getfixturevalue(name)
    made = session.start(memory, "a", correlates_with="b")
    session.append(memory, "a", "user", "mail ann@example.org", redactions_applied=True)
    session.append(memory, "a", "tool", "x")
    session.end(memory, "a")
    session.record(memory, "c", [session.TurnInput("user", "x")], retention_days=1)
    turns = frames(memory.store_path / made.path)
    assert len(turns) == 2
    for turn in turns:
        validator("SessionTurnPayload").validate(turn)
    session.purge(memory, "a")
    session.purge(memory, "c")
    validator("SessionTombstone").validate(json.loads((memory.store_path / made.path).read_text()))
    rows = [row for row in memory.reader().iter_rows() if row["kind"] in ROWS]
    assert len(rows) == 6
    for row in rows:
        validator("SessionAuditKind").validate(row["kind"])
        validator(ROWS[row["kind"]]).validate(row["payload"])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("SessionTurnPayload", {"session_id": "a", "role": "user", "turn_seq": 0, "ts": "x"}),
        ("SessionTurnPayload", {"session_id": "a", "role": "boss", "turn_seq": 0, "ts": "x", "content": "x"}),
        ("SessionTurnPayload", {"session_id": "a", "role": "user", "turn_seq": -1, "ts": "x", "content": "x"}),
        ("SessionClassification", "public"),
        ("SessionFrontmatter", {"id": "A", "started_at": "x", "classification": "restricted"}),
        ("SessionAuditKind", "session.turn"),
        ("Envelope", {"alg": "aes-256-gcm", "key_ref": "k", "nonce": "", "ct": "", "plain": "text"}),
    ],
)
def test_what_is_not_of_that_shape_is_not_valid(name, wrong):
    assert not validator(name).is_valid(wrong)
