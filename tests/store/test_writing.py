"""What the writer does to memories, and what it refuses."""

import hashlib
import os
from pathlib import Path

import pytest

from cyberos.core import protocol
from cyberos.core import store as stores
from cyberos.core.changes import Delete, Move, Put, Record
from cyberos.core.writer import Writer
from cyberos.errors import (
    AclDenied,
    AlreadyExists,
    BadArgument,
    BodyRefused,
    MemoryNotFound,
    PathRefused,
    PreconditionFailed,
    ProtocolNotApproved,
    PurgeRefused,
    StoreNotFound,
    UnsupportedStore,
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kinds(writer: Writer) -> list[str]:
    return [row["kind"] for row in writer.reader().iter_rows()]


def test_put_writes_a_row_and_the_file(writer: Writer) -> None:
    receipt = writer.put("memories/facts/a.md", "one\n")
    assert (receipt.seq, receipt.content_sha256, receipt.adopted, receipt.warnings) == (1, sha256("one\n"), None, [])
    assert (writer.store_path / "memories/facts/a.md").read_text() == "one\n"
    row = writer.read_audit_row(1)
    assert (row["kind"], row["op"], row["path"], row["actor"]) == ("put", "put", "memories/facts/a.md", "ann")
    assert row["content_sha256"] == sha256("one\n")
    assert row["payload"] == row["extra"] == {"kind": "memory"}
    assert writer.head_seq() == 1


def test_a_put_that_changes_nothing_writes_no_row(writer: Writer) -> None:
    writer.put("memories/facts/a.md", "one\n")
    receipt = writer.put("memories/facts/a.md", "one\n")
    assert receipt.seq is None
    assert receipt.content_sha256 == sha256("one\n")
    assert writer.head_seq() == 1


def test_meta_becomes_frontmatter_with_sorted_keys_and_the_kind_of_the_row(writer: Writer) -> None:
    writer.put("memories/facts/a.md", "body\n", {"tags": ["x"], "importance": 0.5, "kind": "fact"})
    text = (writer.store_path / "memories/facts/a.md").read_text()
    assert text.startswith("---\nimportance: 0.5\nkind: fact\n")
    assert text.endswith("---\nbody\n")
    assert writer.read_audit_row(1)["extra"]["kind"] == "fact"


def test_text_with_its_own_frontmatter_is_stored_byte_for_byte(writer: Writer) -> None:
    text = '---\n{"kind":"fact","b":1}\n---\r\nbody without an end'
    writer.put("memories/facts/a.md", text)
    assert (writer.store_path / "memories/facts/a.md").read_bytes() == text.encode()
    assert writer.read_audit_row(1)["extra"]["kind"] == "fact"


def test_bytes_that_are_not_utf8_are_kept(writer: Writer) -> None:
    writer.put("memories/facts/a.md", b"\xff\xfe\x00")
    assert (writer.store_path / "memories/facts/a.md").read_bytes() == b"\xff\xfe\x00"


def test_a_hand_edit_is_recorded_before_it_is_overwritten(writer: Writer) -> None:
    writer.put("memories/facts/a.md", "one\n")
    (writer.store_path / "memories/facts/a.md").write_text("by hand\n")
    receipt = writer.put("memories/facts/a.md", "two\n")
    assert (receipt.adopted, receipt.seq) == (2, 3)
    row = writer.read_audit_row(2)
    assert (row["actor"], row["extra"]["adopted"]) == ("filesystem", True)
    assert row["content_sha256"] == sha256("by hand\n")
    assert writer.read_audit_row(3)["extra"]["before_sha256"] == sha256("by hand\n")


def test_put_if_compares_and_records_a_refusal(writer: Writer) -> None:
    writer.put_if("memories/facts/a.md", "one\n", None)
    with pytest.raises(PreconditionFailed) as caught:
        writer.put_if("memories/facts/a.md", "two\n", None)
    assert (caught.value.expected, caught.value.actual) == (None, sha256("one\n"))
    row = writer.read_audit_row(2)
    assert row["kind"] == "memory.precondition_failed"
    assert set(row["extra"]) == {"actor", "actual", "attempt_at", "expected", "path"}
    writer.put_if("memories/facts/a.md", "two\n", sha256("one\n"))
    assert writer.put_if("memories/facts/a.md", "two\n", sha256("one\n")).seq is None, "a retry succeeds"
    assert kinds(writer) == ["put", "memory.precondition_failed", "put"]


def test_put_if_asks_the_access_list_first(writer: Writer) -> None:
    (writer.store_path / "memories/locked").mkdir()
    (writer.store_path / "memories/locked/STORE.yaml").write_text("store_id: locked\ndefault_mode: read\n")
    with pytest.raises(AclDenied):
        writer.put_if("memories/locked/a.md", "one\n", sha256("not there"))
    assert kinds(writer) == ["memory.acl_denied"]


def test_a_refusal_has_all_the_fields_that_upstream_gives_it(writer: Writer) -> None:
    (writer.store_path / "memories/locked").mkdir()
    rules = "store_id: locked\nacl:\n  - {actor: 'sched*', mode: deny}\n"
    (writer.store_path / "memories/locked/STORE.yaml").write_text(rules)
    writer.put("memories/locked/a.md", "allowed\n")
    with pytest.raises(AclDenied):
        writer.put("memories/locked/a.md", "refused\n", actor="scheduler")
    row = writer.read_audit_row(2)
    assert row["path"] == "memories/locked/a.md"
    assert row["extra"] == {
        "actor": "scheduler",
        "attempt_kind": "put",
        "matched_entry": "actor='scheduler' → mode='deny'",
        "mode": "deny",
        "store_id": "locked",
        "target_path": "memories/locked/a.md",
        "warn_only": False,
        "yaml_path": "memories/locked/STORE.yaml",
    }


def test_without_the_protocol_section_a_refusal_only_warns(writer: Writer) -> None:
    text = (writer.store_path / "AGENTS.md").read_text().replace("§14.4", "§99")
    (writer.store_path / "AGENTS.md").write_text(text)
    (writer.store_path / "memories/STORE.yaml").write_text("store_id: all\ndefault_mode: deny\n")
    writer.put("memories/facts/a.md", "one\n")
    assert kinds(writer) == ["memory.acl_denied", "put"]
    assert writer.read_audit_row(1)["extra"]["warn_only"] is True


@pytest.mark.parametrize("change", [Move("memories/a.md", "memories/locked/a.md"), Delete("memories/locked/b.md")])
def test_moves_and_deletes_ask_the_access_list_too(writer: Writer, change: Move | Delete) -> None:
    writer.put("memories/a.md", "a\n")
    writer.put("memories/locked/b.md", "b\n")
    (writer.store_path / "memories/locked/STORE.yaml").write_text("store_id: locked\ndefault_mode: read\n")
    with pytest.raises(AclDenied):
        writer.apply([change])
    assert kinds(writer) == ["put", "put", "memory.acl_denied"]


def test_a_malformed_access_list_refuses_every_write_below_it(writer: Writer) -> None:
    (writer.store_path / "memories/STORE.yaml").write_text("store_id: [1\n")
    with pytest.raises(Exception, match=r"memories/STORE\.yaml"):
        writer.put("memories/facts/a.md", "one\n")
    assert writer.head_seq() == 0


def test_move_refuses_an_occupied_path_and_a_missing_source(writer: Writer) -> None:
    writer.put("memories/a.md", "a\n")
    writer.put("memories/b.md", "b\n")
    with pytest.raises(AlreadyExists):
        writer.move("memories/a.md", "memories/b.md")
    with pytest.raises(MemoryNotFound):
        writer.move("memories/none.md", "memories/c.md")
    (writer.store_path / "memories/stray.md").write_text("nobody recorded this\n")
    with pytest.raises(AlreadyExists):
        writer.move("memories/a.md", "memories/stray.md")
    assert (writer.store_path / "memories/stray.md").read_text() == "nobody recorded this\n"


def test_a_purge_needs_a_reason_and_refuses_shared_content(writer: Writer) -> None:
    writer.put("memories/a.md", "secret\n")
    writer.put("memories/b.md", "secret\n")
    with pytest.raises(BadArgument):
        writer.delete("memories/a.md", mode="purge", reason=" ")
    with pytest.raises(PurgeRefused) as caught:
        writer.delete("memories/a.md", mode="purge", reason="request 17")
    assert list(caught.value.shared_with or ()) == ["memories/b.md"]
    assert writer.head_seq() == 2


def test_a_batch_is_one_commit_all_or_nothing(writer: Writer) -> None:
    with writer.batch(session_id="s1") as batch:
        batch.put("memories/a.md", "a\n")
        batch.move("memories/a.md", "memories/b.md")
        batch.emit_aux("episode.logged", {"path": "memories/b.md"})
    assert [receipt.seq for receipt in batch.receipts] == [1, 2, 3]
    assert all(row["extra"]["session_id"] == "s1" for row in writer.reader().iter_rows())
    with pytest.raises(MemoryNotFound):
        writer.apply([Put("memories/c.md", "c\n"), Delete("memories/none.md")])
    assert writer.head_seq() == 3
    assert not (writer.store_path / "memories/c.md").exists()


def test_emit_aux_refuses_the_kinds_that_change_memories(writer: Writer) -> None:
    writer.emit_aux("dream.start", {"dream_id": "d1"})
    assert writer.read_recent_audit_rows(1)[0]["payload"] == {"dream_id": "d1"}
    for kind in ("put", "delete", ""):
        with pytest.raises(BadArgument):
            writer.emit_aux(kind, {})
    with pytest.raises(BadArgument):
        writer.apply([Record("move", {})])


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "../x.md", "memories/../../x.md", "memories//x.md", "memories/./x.md", "memories/x\0.md",
        "memories\\x.md", "audit/tip.md", "sessions/x.md", "AGENTS.md", "manifest.json", "memories/x.txt", "x.md", "",
        "memories/ x.md", "memories/x .md/y.md ", "memories/" + "x" * 256 + ".md", "memories/e\u0301.md",
        "memories/\x1b.md",
    ],
)  # fmt: skip
def test_paths_that_no_memory_can_have(writer: Writer, path: str) -> None:
    with pytest.raises(PathRefused):
        writer.put(path, "x\n")
    assert writer.head_seq() == 0


def test_a_symbolic_link_is_not_followed(writer: Writer, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (writer.store_path / "memories/link").symlink_to(outside)
    with pytest.raises(PathRefused):
        writer.put("memories/link/x.md", "x\n")
    (writer.store_path / "memories/x.md").symlink_to(outside / "x.md")
    with pytest.raises(PathRefused):
        writer.put("memories/x.md", "x\n")
    assert list(outside.iterdir()) == []


def test_names_that_differ_only_by_case_are_refused(writer: Writer) -> None:
    writer.put("memories/Facts.md", "x\n")
    with pytest.raises(PathRefused):
        writer.put("memories/facts.md", "x\n")


def test_a_body_over_the_limit_is_refused(writer: Writer) -> None:
    limit = writer.config().memories.max_body_bytes
    writer.put("memories/a.md", "x" * limit)
    with pytest.raises(BodyRefused):
        writer.put("memories/a.md", "x" * (limit + 1))
    with pytest.raises(BodyRefused):
        writer.put("memories/a.md", "\ud800")


def test_stores_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound):
        Writer(tmp_path / "none")
    root = stores.init(tmp_path / "store")
    with pytest.raises(AlreadyExists):
        stores.init(root)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("x")
    with pytest.raises(AlreadyExists):
        stores.init(tmp_path / "full")
    manifest = (root / "manifest.json").read_text()
    (root / "manifest.json").write_text(manifest.replace('"format_version": 1', '"format_version": 2'))
    with pytest.raises(UnsupportedStore):
        Writer(root)


def test_a_new_store_is_durable_with_the_names_of_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    root = stores.init(tmp_path / "new" / "store")
    files = [root / "HEAD", root / "audit/current.binlog", root / "AGENTS.md", root / "manifest.json"]
    for made in (*files, root / "audit", root, root.parent, tmp_path):
        assert made.stat().st_ino in synced, made
    # The manifest makes it a store, so it is the last file.
    assert [number for number in synced if number in {file.stat().st_ino for file in files}][-1] == (
        root / "manifest.json"
    ).stat().st_ino


def test_transcripts_need_the_owners_approval(writer: Writer) -> None:
    with pytest.raises(ProtocolNotApproved, match="APPROVE protocol change P22 §18"):
        writer._require_protocol_amendment_p22()
    amendment = protocol.amendment_for("APPROVE protocol change P22 §18")
    protocol.save(writer.store_path, protocol.amended(protocol.load(writer.store_path), amendment))
    writer._require_protocol_amendment_p22()


def test_files_and_folders_are_private(writer: Writer) -> None:
    writer.put("memories/facts/a.md", "one\n")
    for folder, _, files in os.walk(writer.store_path):
        assert Path(folder).stat().st_mode & 0o077 == 0, folder
        for name in files:
            path = Path(folder) / name
            assert path.stat().st_mode & 0o077 == 0, path
