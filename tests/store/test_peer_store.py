"""A store that upstream's own code wrote: history of its moved, purged, denied and legacy paths."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from cyberos.clock import At
from cyberos.core.history import blame, show, walk
from cyberos.core.writer import Writer
from cyberos.errors import BodyUnavailable
from tests.conformance.naive import Log

FIXTURES = Path(__file__).parents[1] / "fixtures"
STORE = FIXTURES / "peer-store"
with (FIXTURES / "peer-store.expected.jsonl").open(encoding="utf-8") as lines:
    ROWS = [json.loads(line) for line in lines]
NAMING = ("path", "target_path", "to", "src", "dst")


def touched(row):
    """The paths a row is about, from what upstream says of its rows."""
    extra = row["extra"]
    found = {row["path"], *(extra[key] for key in NAMING if isinstance(extra.get(key), str))}
    return (found | set(extra.get("affected_paths", []))) - {""}


PATHS = sorted({path for row in ROWS for path in touched(row)})


def naive_history(path):
    """The rows of a history, newest first, worked out the slow way."""
    found, name = [], path
    for row in reversed(ROWS):
        if name in touched(row):
            found.append(row["seq"])
            if row["op"] in ("move", "rename") and row["extra"]["to"] == name:
                name = row["path"]
    return found


def test_every_path_has_the_history_that_its_rows_say():
    assert len(PATHS) > 90
    for path in PATHS:
        walked = walk(STORE, path)
        assert [entry.seq for entry in walked] == naive_history(path), path
        assert walked.damages == []
        for entry in walked:
            row = ROWS[entry.seq - 1]
            assert (entry.kind, entry.actor, entry.path, entry.ts_ns) == (
                row["op"],
                row["actor"],
                row["path"],
                row["ts_ns"],
            )
            assert entry.extra == row["extra"]
            assert (entry.body_hash or "") == row["content_sha256"]


def test_all_of_them_together_are_every_row_about_a_memory():
    about = [row["seq"] for row in ROWS if any(path.startswith(("memories/", "meta/")) for path in touched(row))]
    assert [entry.seq for entry in walk(STORE, None)] == about[::-1]


def test_the_fixture_has_what_this_is_about():
    ops = {row["op"] for row in ROWS}
    assert {"move", "rename", "delete", "str_replace", "memory.acl_denied", "memory.precondition_failed"} <= ops
    assert {"tombstone", "purge"} <= {row["extra"].get("mode") for row in ROWS}


def test_upstream_kept_no_versions_and_that_is_said():
    path = "memories/facts/moved/fact-001-336.md"
    newest, *older = (entry for entry in walk(STORE, path) if entry.kind == "put")
    assert (newest.body_diff, newest.body_diff_reason, newest.frontmatter_diff) == (None, "unavailable", None)
    assert older[-1].body_diff_reason == "first"
    assert {entry.body_diff_reason for entry in older} == {"first", "unavailable"}


def test_the_newest_version_is_in_its_working_file():
    path = "memories/facts/moved/fact-001-336.md"
    version, content = show(STORE, path)
    assert content == (STORE / path).read_bytes()
    with pytest.raises(BodyUnavailable, match="holds only its hash"):
        show(STORE, path, At(seq=version.seq - 1))


def peer_moved(tmp_path):
    """A store as upstream writes it, with a memory that was moved: only the working file has its content."""
    log = Log()
    log.put("memories/a.md", b"---\nn: 1\n---\none\n")
    log.put("memories/a.md", b"---\nn: 2\n---\ntwo\n")
    log.add("move", "memories/a.md", {"to": "memories/b.md"}, sha=hashlib.sha256(b"---\nn: 2\n---\ntwo\n").hexdigest())
    log.put("memories/b.md", b"---\nn: 1\n---\none\n")
    log.put("memories/b.md", b"---\nn: 2\n---\ntwo\n")
    store = log.write(tmp_path / "moved")
    (store / "manifest.json").write_text("{}")
    (store / "memories").mkdir()
    (store / "memories/b.md").write_bytes(b"---\nn: 2\n---\ntwo\n")
    return store


def test_a_version_before_a_move_is_found_where_the_memory_lies_now(tmp_path, cli):
    store = peer_moved(tmp_path)
    for seq in (2, 3, 5):
        assert show(store, "memories/b.md", At(seq=seq))[1] == b"---\nn: 2\n---\ntwo\n"
        assert cli("--store", store, "show", f"memories/b.md@{seq}").out.endswith("two\n")
    for seq in (1, 4):
        with pytest.raises(BodyUnavailable):
            show(store, "memories/b.md", At(seq=seq))
    assert cli("--store", store, "get", "memories/b.md", "--at", "3").out.endswith("two\n")
    assert cli("--store", store, "diff", "memories/b.md", "--from", "2", "--to", "5") == (0, "", "")
    assert [row.seq if row else None for _, row in blame(store, "memories/b.md", At(seq=5))[1]] == [None] * 4


def test_an_edit_by_hand_is_not_taken_for_a_version(tmp_path):
    store = peer_moved(tmp_path)
    (store / "memories/b.md").write_bytes(b"---\nn: 3\n---\nthree\n")
    for seq in (2, 3, 5):
        with pytest.raises(BodyUnavailable):
            show(store, "memories/b.md", At(seq=seq))
    (store / "memories/b.md").unlink()
    (store / "memories/b.md").symlink_to("c.md")
    with pytest.raises(BodyUnavailable):
        show(store, "memories/b.md", At(seq=2))
    assert [entry.body_diff_reason for entry in walk(store, "memories/b.md")][-1] == "first"


def test_blame_of_a_version_without_older_ones_claims_nothing():
    _version, lines = blame(STORE, "memories/facts/moved/fact-001-336.md")
    assert lines
    assert {row for _, row in lines} == {None}


def test_a_legacy_row_keeps_what_it_says_of_itself():
    newest = walk(STORE, "memories/facts/legacy-new.md")
    assert [entry.kind for entry in newest] == ["str_replace", "rename"]
    assert newest[0].extra["big"] == 9007199254740993
    assert newest[0].extra["note"] == 'quote " back\\slash \u2028 tab\t nul\0 end'


def test_json_keeps_every_digit_and_every_key(cli):
    done = cli("--store", STORE, "history", "memories/facts/legacy-new.md", "--json")
    assert json.loads(done.out)[0]["extra"] == ROWS[-1]["extra"]
    assert '"big": 9007199254740993' in done.out


def test_denied_attempts_are_part_of_the_history(cli):
    path = "memories/locked/note-2.md"
    out = cli("--store", STORE, "history", path).out
    assert "memory.acl_denied" in out
    assert "scheduled-importer" in out


def test_a_purged_path_tells_why(cli):
    row = next(row for row in ROWS if row["extra"].get("mode") == "purge")
    out = cli("--store", STORE, "history", row["path"], "--limit", "all").out
    assert row["extra"]["reason"] in out


def test_what_we_add_to_it_continues_its_histories(tmp_path):
    store = Path(shutil.copytree(STORE, tmp_path / "peer"))
    path = "memories/facts/moved/fact-001-336.md"
    before = [entry.seq for entry in walk(store, path)]
    with Writer(store, actor="ann") as writer:
        writer.put(path, "---\nkind: fact\n---\nours now\n")
        entry, *rest = walk(store, path)
        assert (entry.seq, [older.seq for older in rest]) == (writer.head_seq(), before)
        writer.move(path, "memories/facts/ours.md")
    assert [entry.seq for entry in walk(store, "memories/facts/ours.md")][2:] == before
