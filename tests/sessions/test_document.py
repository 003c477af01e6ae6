"""The requirement document's own sample tests, with the fixtures that it leaves open.

`memory` is its `empty_memory` with `ensure_section_18`; the restricted one needs a key.
"""

import pytest

from cyberos.core.session import append, end, purge_expired, start
from cyberos.core.writer import Writer
from tests.sessions.conftest import frames


@pytest.fixture
def memory_without_section_18(store):
    with Writer(store) as writer:
        yield writer


@pytest.fixture
def memory_with_expired_sessions(memory, mock_time):
    for day in ("2026-04-13", "2026-04-14"):
        mock_time.set(f"{day}T08:00:00Z")
        start(memory, f"sess-{day}")
        append(memory, f"sess-{day}", role="user", content="hello")
        end(memory, f"sess-{day}")
    mock_time.set("2026-05-19T03:00:00Z")
    return memory


def test_full_lifecycle(memory):
    s = start(memory, "sess-1")
    append(memory, "sess-1", role="user", content="hello")
    append(memory, "sess-1", role="assistant", content="hi")
    append(memory, "sess-1", role="user", content="how are you")
    end(memory, "sess-1")
    binlog = memory.store_path / "sessions" / s.started_at.strftime("%Y-%m-%d") / "sess-1.binlog.zst"
    assert binlog.exists()


def test_default_classification(memory):
    s = start(memory, "sess-x")
    assert s.classification == "confidential"


def test_restricted_classification_encrypts(sealed):
    s = start(sealed, "sess-y", classification="restricted")
    append(sealed, "sess-y", role="user", content="secret hello")
    binlog = sealed.store_path / "sessions" / s.started_at.strftime("%Y-%m-%d") / "sess-y.binlog.zst"
    payload = frames(binlog)[0]
    assert "content_cipher" in payload
    assert "content" not in payload


def test_invalid_classification_rejected(memory):
    with pytest.raises((ValueError, RuntimeError)):
        start(memory, "sess-z", classification="public")  # type: ignore[arg-type]


def test_append_without_start_rejected(memory):
    with pytest.raises(RuntimeError, match="no active session"):
        append(memory, "ghost", role="user", content="hello")


def test_append_after_end_rejected(memory):
    start(memory, "sess-a")
    end(memory, "sess-a")
    with pytest.raises(RuntimeError):
        append(memory, "sess-a", role="user", content="too late")


def test_double_end_rejected(memory):
    start(memory, "sess-b")
    end(memory, "sess-b")
    with pytest.raises(RuntimeError):
        end(memory, "sess-b")


def test_two_active_sessions_rejected(memory):
    start(memory, "sess-c")
    with pytest.raises(RuntimeError, match="already active"):
        start(memory, "sess-d")


def test_session_id_attached_to_memory_writes(memory):
    start(memory, "sess-e")
    head_before = memory.head_seq()
    memory.put("memories/facts/x.md", "body", meta={})
    row = memory.read_audit_row(head_before + 1)
    assert row["extra"]["session_id"] == "sess-e"


def test_session_id_absent_outside_session(memory):
    head_before = memory.head_seq()
    memory.put("memories/facts/y.md", "body", meta={})
    row = memory.read_audit_row(head_before + 1)
    assert "session_id" not in row.get("extra", {})


def test_protocol_amendment_required(memory_without_section_18):
    with pytest.raises(Exception, match=r"APPROVE protocol change P22 §18"):
        start(memory_without_section_18, "sess-x")


def test_storage_date_partitioned(memory):
    s = start(memory, "sess-dated")
    expected = memory.store_path / "sessions" / s.started_at.strftime("%Y-%m-%d") / "sess-dated.binlog.zst"
    assert expected.exists()


def test_purge_expired_removes_old(memory_with_expired_sessions):
    result = purge_expired(memory_with_expired_sessions)
    assert result["purged_count"] > 0
    rows = memory_with_expired_sessions.read_recent_audit_rows(20)
    assert any(r["kind"] == "session.purged" for r in rows)


def test_dry_run_does_not_purge(memory_with_expired_sessions):
    result = purge_expired(memory_with_expired_sessions, dry_run=True)
    assert result["dry_run"] is True
    for binlog in (memory_with_expired_sessions.store_path / "sessions").rglob("*.binlog.zst"):
        assert binlog.stat().st_size > 0


def test_walker_catches_lifecycle_violation(memory, program):
    memory.emit_aux("session.end", {"session_id": "sess-x", "ended_reason": "explicit", "turns_count": 0})
    result = program("--store", memory.store_path, "doctor")
    assert result.code != 0
    assert "session-lifecycle-well-formed" in result.err + result.out
