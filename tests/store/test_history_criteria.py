"""The acceptance criteria of history as the library meets them; the command's are in tests/surfaces/cli.

Entries are newest first. Where a sample of the requirement document reads an older entry for the diff that its own
criterion gives to the newest (AC 6, AC 15), the criterion wins: the diff is `e[0]`'s.
"""

import dataclasses
import pickle
from datetime import datetime, timezone

import pytest

from cyberos.core.history import HistoryEntry, walk
from cyberos.core.writer import Writer

X = "memories/facts/x.md"


def test_ac01_one_write_is_one_entry(writer):
    writer.put("memories/facts/single.md", "body v1", meta={})
    entries = walk(writer.store_path, "memories/facts/single.md")
    assert len(entries) == 1
    assert entries[0].kind == "put"
    assert entries[0].body_diff is None
    assert entries[0].body_diff_reason == "first"


def test_ac02_every_write_but_the_first_has_a_diff(writer):
    for text in ("v1", "v2", "v3"):
        writer.put(X, text, meta={})
    entries = walk(writer.store_path, X)
    assert len(entries) == 3
    assert entries[2].body_diff is None
    assert "-v1" in str(entries[1].body_diff)
    assert "+v2" in str(entries[1].body_diff)
    assert "-v2" in str(entries[0].body_diff)
    assert "+v3" in str(entries[0].body_diff)
    assert [entry.frontmatter_diff is None for entry in entries] == [False, False, True]


def test_ac03_entries_are_newest_first(writer):
    writer.put(X, "v1", meta={})
    writer.put(X, "v2", meta={})
    entries = walk(writer.store_path, X)
    reversed_ = list(reversed(entries))
    assert entries[0].seq > entries[1].seq
    assert reversed_[0].seq < reversed_[1].seq


def test_ac04_a_limit_caps_and_the_last_entry_keeps_its_diff(writer):
    for number in range(5):
        writer.put("memories/facts/lim.md", f"v{number}", meta={})
    entries = walk(writer.store_path, "memories/facts/lim.md", limit=2)
    assert len(entries) == 2
    assert "-v2" in str(entries[1].body_diff)  # the older version lies beyond the limit


def test_ac05_since_filters(writer, mock_time):
    mock_time.set("2026-05-17T00:00:00Z")
    writer.put("memories/facts/old.md", "old", meta={})
    mock_time.set("2026-05-19T00:00:00Z")
    writer.put("memories/facts/old.md", "new", meta={})
    entries = walk(writer.store_path, "memories/facts/old.md", since=datetime(2026, 5, 18, tzinfo=timezone.utc))
    assert len(entries) == 1
    assert entries[0].seq > 1
    assert entries[0].ts == datetime(2026, 5, 19, tzinfo=timezone.utc)


def test_since_filters_and_does_not_stop_where_a_clock_stepped_back(writer, mock_time):
    for day, text in (("2026-05-19", "a"), ("2026-05-01", "b"), ("2026-05-20", "c")):
        mock_time.set(day)
        writer.put(X, text, meta={})
    entries = walk(writer.store_path, X, since=datetime(2026, 5, 18, tzinfo=timezone.utc))
    assert [entry.seq for entry in entries] == [3, 1]
    assert "-b" in str(entries[0].body_diff)  # against the version before, filtered or not


@pytest.mark.parametrize("show_body", [False, True])
def test_ac06_a_body_diff_is_unified(writer, show_body):
    writer.put("memories/facts/d.md", "line a\nline b", meta={})
    writer.put("memories/facts/d.md", "line a\nline c", meta={})
    diff = str(walk(writer.store_path, "memories/facts/d.md", show_body=show_body)[0].body_diff)
    assert "+line c" in diff
    assert "-line b" in diff
    assert diff.startswith("--- a/memories/facts/d.md\n+++ b/memories/facts/d.md\n@@ -1,2 +1,2 @@\n line a\n")


def moved(writer):
    writer.put("memories/facts/src.md", "v1", meta={})
    writer.move("memories/facts/src.md", "memories/facts/dst.md")
    writer.put("memories/facts/dst.md", "v2", meta={})


def test_ac08_moves_are_followed(writer):
    moved(writer)
    entries = walk(writer.store_path, "memories/facts/dst.md", follow_moves=True)
    assert [entry.kind for entry in entries] == ["put", "move", "put"]
    assert str(entries[0].body_diff).startswith("--- a/memories/facts/dst.md\n+++ b/memories/facts/dst.md\n")
    assert entries[1].body_diff is None
    assert (entries[1].path, entries[1].extra["to"]) == ("memories/facts/src.md", "memories/facts/dst.md")


def test_ac09_no_follow_moves_ends_at_the_move(writer):
    moved(writer)
    entries = walk(writer.store_path, "memories/facts/dst.md", follow_moves=False)
    assert [entry.kind for entry in entries] == ["put", "move"]
    assert all("src" not in (entry.extra.get("from", "") or "") for entry in entries)


def test_chained_moves(writer):
    writer.put("memories/facts/a.md", "v1", meta={})
    writer.move("memories/facts/a.md", "memories/facts/b.md")
    writer.move("memories/facts/b.md", "memories/facts/c.md")
    writer.put("memories/facts/c.md", "v2", meta={})
    entries = walk(writer.store_path, "memories/facts/c.md", follow_moves=True)
    assert [entry.kind for entry in entries] == ["put", "move", "move", "put"]


def test_ac10_a_dream_is_said_in_extra(writer):
    writer.put("memories/facts/dream-touched.md", "v1", meta={})
    writer.delete("memories/facts/dream-touched.md", extra={"dream_id": "01HJ8XVK3Q2M4N5P"}, actor="dream-applier")
    entries = walk(writer.store_path, "memories/facts/dream-touched.md")
    assert entries[0].extra["dream_id"] == "01HJ8XVK3Q2M4N5P"


def test_ac11_a_session_is_said_in_extra(writer):
    writer.put("memories/facts/sess-touched.md", "v1", meta={}, session_id="sess-1")
    assert walk(writer.store_path, "memories/facts/sess-touched.md")[0].extra["session_id"] == "sess-1"


def test_ac12_an_importance_score_is_an_entry(writer):
    writer.put("memories/facts/scored.md", "v1", meta={})
    writer.emit_aux("memory.importance_scored", {"path": "memories/facts/scored.md", "score": 0.7}, "hook")
    entry = walk(writer.store_path, "memories/facts/scored.md")[0]
    assert (entry.kind, entry.actor, entry.extra["score"]) == ("memory.importance_scored", "hook", 0.7)
    assert (entry.body_hash, entry.body_diff, entry.frontmatter_diff) == (None, None, None)
    assert entry.body_diff_reason == "no_content"


def test_ac13_a_tombstone_is_an_entry(writer):
    writer.put("memories/facts/t.md", "body", meta={})
    writer.delete("memories/facts/t.md", mode="tombstone")
    entries = walk(writer.store_path, "memories/facts/t.md")
    assert [entry.kind for entry in entries] == ["delete", "put"]
    assert entries[0].extra["mode"] == "tombstone"
    assert entries[0].body_diff is None


def test_deleted_then_recreated(writer):
    path = "memories/facts/r.md"
    writer.put(path, "v1", meta={})
    writer.delete(path, mode="tombstone")
    writer.put(path, "v2", meta={})
    entries = walk(writer.store_path, path)
    assert [entry.kind for entry in entries] == ["put", "delete", "put"][::-1]
    assert entries[0].body_diff_reason == "first"  # it is another memory than the one that was deleted


def test_ac14_a_purge_leaves_hashes_and_no_content(writer):
    path = "memories/facts/p.md"
    writer.put(path, "secret one\n", meta={"importance": 0.5})
    writer.put(path, "secret two\n", meta={"importance": 0.6})
    writer.delete(path, mode="purge", reason="GDPR Article 17 request")
    entries = walk(writer.store_path, path)
    assert [entry.kind for entry in entries] == ["delete", "put", "put"]
    assert all(entry.body_hash and entry.body_diff is None and entry.frontmatter_diff is None for entry in entries)
    assert entries[0].extra["mode"] == "purge"
    assert [entry.body_diff_reason for entry in entries] == ["purged", "purged", "first"]
    assert "secret" not in repr(list(entries))


def test_ac15_a_frontmatter_diff_is_structured(writer):
    writer.put("memories/facts/fm.md", "body", meta={"importance": 0.5, "gone": [1]})
    writer.put("memories/facts/fm.md", "body", meta={"importance": 0.8, "new": "x"})
    entries = walk(writer.store_path, "memories/facts/fm.md")
    assert entries[0].frontmatter_diff == {
        "added": {"new": "x"},
        "removed": {"gone": [1]},
        "changed": {"importance": {"old": 0.5, "new": 0.8}},
    }
    assert entries[0].body_diff == ""  # there is a version before, and the body is the same
    assert entries[1].frontmatter_diff is None


def multi(writer: Writer) -> str:
    path = "memories/facts/multi.md"
    writer.put(path, "v1", meta={})
    writer.emit_aux("episode.logged", {"path": path, "outcome": "ok"})
    writer.emit_aux("memory.importance_scored", {"path": path, "score": 0.1})
    writer.emit_aux("memory.acl_denied", {"target_path": path, "attempt_kind": "put"})
    writer.emit_aux("dream.proposal_applied", {"affected_paths": ["memories/facts/other.md", path]})
    return path


def test_ac16_every_kind_of_row_that_touches_the_path_is_an_entry(writer):
    path = multi(writer)
    entries = walk(writer.store_path, path)
    assert [entry.kind for entry in entries] == [
        "dream.proposal_applied",
        "memory.acl_denied",
        "memory.importance_scored",
        "episode.logged",
        "put",
    ]
    assert [entry.seq for entry in entries] == [5, 4, 3, 2, 1]


def test_ac19_all_paths(writer):
    multi(writer)
    writer.put(X, "v1", meta={})
    writer.put(X, "v2", meta={})
    writer.emit_aux("session.start", {"session_id": "s"})  # touches no memory
    entries = walk(writer.store_path, None)
    assert [entry.seq for entry in entries] == [7, 6, 5, 4, 3, 2, 1]
    assert "-v1" in str(entries[0].body_diff)
    assert len(walk(writer.store_path, None, limit=3)) == 3


def test_ac20_a_path_that_never_existed_has_an_empty_history(store):
    assert walk(store, "memories/facts/never.md") == []


def test_ac21_reading_writes_nothing(writer):
    path = multi(writer)
    files = {file: file.read_bytes() for file in writer.store_path.rglob("*") if file.is_file()}
    before = writer.head_seq()
    for entry in walk(writer.store_path, path, show_body=True):
        repr(entry)
    assert writer.head_seq() == before
    assert {file: file.read_bytes() for file in writer.store_path.rglob("*") if file.is_file()} == files


def test_an_entry_is_the_documented_dataclass_to_its_user():
    moment = datetime(2026, 5, 19, tzinfo=timezone.utc)
    entry = HistoryEntry(1, moment, "put", "ann")
    assert (entry.body_hash, entry.frontmatter_diff, entry.body_diff, entry.extra) == (None, None, None, {})
    assert entry == HistoryEntry(seq=1, ts=moment, kind="put", actor="ann", extra={})
    assert entry != HistoryEntry(1, moment, "put", "ann", body_diff="x")
    assert entry != (1, moment, "put", "ann")
    assert HistoryEntry(1, moment, "put", "ann").extra is not entry.extra
    full = HistoryEntry(2, moment, "put", "bob", "ab", {"added": {}}, "diff", {"k": 1})
    assert repr(full) == (
        f"HistoryEntry(seq=2, ts={moment!r}, kind='put', actor='bob', body_hash='ab', "
        "frontmatter_diff={'added': {}}, body_diff='diff', extra={'k': 1})"
    )
    full.body_diff, full.frontmatter_diff, full.extra = None, None, {}
    assert full == HistoryEntry(2, moment, "put", "bob", "ab")
    with pytest.raises(TypeError, match="unhashable"):
        hash(full)


def test_an_entry_is_a_dataclass_to_dataclasses(writer):
    writer.put(X, "v1", meta={"a": 1})
    writer.put(X, "v2", meta={"a": 2}, session_id="s")
    entry = walk(writer.store_path, X)[0]
    assert dataclasses.asdict(entry) == {
        "seq": 2,
        "ts": entry.ts,
        "kind": "put",
        "actor": "ann",
        "body_hash": entry.body_hash,
        "frontmatter_diff": {"added": {}, "removed": {}, "changed": {"a": {"old": 1, "new": 2}}},
        "body_diff": entry.body_diff,
        "extra": dict(entry.extra),
    }
    assert dataclasses.replace(entry, actor="bob") == HistoryEntry(**{**dataclasses.asdict(entry), "actor": "bob"})
    optional = [
        field.name
        for field in dataclasses.fields(HistoryEntry)
        if (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
    ]
    assert optional == ["body_hash", "frontmatter_diff", "body_diff", "extra"]


def test_an_entry_that_was_read_equals_one_that_was_made(writer):
    writer.put(X, "v1", meta={"a": 1})
    writer.put(X, "v2", meta={"a": 2})
    entry = walk(writer.store_path, X)[0]
    made = HistoryEntry(
        2, entry.ts, "put", "ann", entry.body_hash, entry.frontmatter_diff, entry.body_diff, dict(entry.extra)
    )
    assert entry == made
    assert repr(entry) == repr(made)


def test_a_pickled_entry_says_what_it_said(store, writer):
    writer.put(X, "---\nn: 1\n---\none\n")
    writer.put(X, "---\nn: 2\n---\ntwo\n", session_id="s")
    writer.delete(X, mode="tombstone", reason="asked for")
    for entry in walk(store, X):
        there = pickle.loads(pickle.dumps(entry))
        assert there == entry
        names = ("path", "name", "ts_ns", "body_diff_reason", "frontmatter_diff", "body_diff")
        assert [getattr(there, name) for name in names] == [getattr(entry, name) for name in names]
