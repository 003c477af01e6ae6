"""Undoing a session or a dream: what the definition says, for one memory after the other."""

import json
from typing import Any

import pytest

from cyberos.core import session
from cyberos.core.history import walk
from cyberos.core.reader import AuditChainReader
from cyberos.core.reverting import planning
from cyberos.core.writer import Writer
from cyberos.errors import AclDenied, BadArgument, CorruptLog, NothingToRevert, PreconditionFailed
from cyberos.operations import reverting
from tests.conformance.naive import Log
from tests.sessions.conftest import approve

A, B, C, D = (f"memories/facts/{name}.md" for name in "abcd")
IN: Any = {"session_id": "s-1"}


def memories(store):
    """Every memory and its content, as the chain has them; the working files must agree."""
    reader = AuditChainReader(store)
    found, damages = reader.native.memories_at()
    assert not damages
    contents = {version.path: (reader.native.body(version.content_sha256)[0] or b"").decode() for version in found}
    files = {str(file.relative_to(store)): file.read_text() for file in store.glob("memories/**/*") if file.is_file()}
    assert files == contents
    return contents


def revert(store, *, dry_run=False, **unit: Any):
    key: Any
    ((key, value),) = (unit or IN).items()
    return reverting.revert(str(store), key, value, actor="carol", dry_run=dry_run)


def reasons(result):
    return {each.path: each.reason for each in result.skipped}


def test_contents_places_and_existence_come_back(writer):
    for path in (A, B, C):
        writer.put(path, f"{path} before\n")
    before = memories(writer.store_path)
    writer.put(A, "changed\n", **IN)
    writer.put(A, "changed again\n", **IN)
    writer.move(B, "memories/rules/b.md", **IN)
    writer.put("memories/rules/b.md", "changed\n", **IN)
    writer.delete(C, **IN)
    writer.put(D, "new\n", **IN)
    writer.move(D, "memories/rules/d.md", **IN)
    last, rows = writer.head_seq(), writer.read_recent_audit_rows(7)

    planned = revert(writer.store_path, dry_run=True)
    assert writer.head_seq() == last
    done = revert(writer.store_path)
    assert planned == done._replace(dry_run=True, seqs=())
    assert memories(writer.store_path) == before
    assert {each.path: each.changes for each in done.reverted} == {
        A: ("put",), "memories/rules/b.md": ("move", "put"), C: ("put",), "memories/rules/d.md": ("delete",),
    }  # fmt: skip
    assert done.seqs == tuple(range(last + 1, last + 6))
    # Nothing is rewritten, and each new row says what it undoes.
    new = [writer.read_audit_row(seq) for seq in done.seqs]
    assert [writer.read_audit_row(row["seq"]) for row in rows] == rows
    assert {(row["actor"], row["extra"]["reverted_session_id"], row["extra"]["invocation"]) for row in new} == {
        ("carol", "s-1", "revert")
    }
    assert all("session_id" not in row["extra"] for row in new)
    (restored,) = (row for row in new if row["path"] == C)
    assert restored["extra"]["restored_from_seq"] == 3


def test_again_there_is_nothing_to_do(writer):
    writer.put(A, "one\n")
    writer.put(A, "two\n", **IN)
    writer.put(B, "new\n", **IN)
    revert(writer.store_path)
    last = writer.head_seq()
    again = revert(writer.store_path)
    assert (again.reverted, again.skipped, again.unchanged, again.seqs) == ((), (), (A, B), ())
    assert writer.head_seq() == last


def test_what_others_changed_since_is_left_and_listed(writer):
    for path in (A, B, C):
        writer.put(path, "before\n")
    writer.put(A, "changed\n", **IN)
    writer.put(B, "changed\n", **IN)
    writer.put(C, "changed\n", **IN)
    seq = writer.put(A, "changed by bob\n", actor="bob").seq
    writer.put(A, "and again\n", **IN)
    moved = writer.move(B, D, actor="bob", session_id="s-2").seq
    # An annotation is no change.
    writer.emit_aux("memory.importance_scored", {"path": C, "score": 1}, actor="bob")
    done = revert(writer.store_path)
    assert [each.path for each in done.reverted] == [C]
    assert [(each.path, each.reason, each.seq, each.actor) for each in done.skipped] == [
        (A, "changed_since", seq, "bob"), (D, "changed_since", moved, "bob"),
    ]  # fmt: skip
    assert memories(writer.store_path) == {A: "and again\n", C: "before\n", D: "changed\n"}


def test_what_was_edited_by_hand_since_is_left_and_listed(writer):
    writer.put(A, "before\n")
    writer.put(A, "changed\n", **IN)
    (writer.store_path / A).write_text("by hand\n")
    assert reasons(revert(writer.store_path)) == {A: "edited_by_hand"}
    assert (writer.store_path / A).read_text() == "by hand\n"


def test_a_purged_version_does_not_come_back(writer):
    writer.put(A, "secret\n")
    writer.move(A, B, **IN)
    writer.put(B, "changed\n", **IN)
    writer.put(C, "secret too\n")
    writer.delete(C, mode="purge", reason="why", **IN)
    writer.put(D, "shared\n")
    writer.put(D, "changed too\n", **IN)
    writer.put("memories/other.md", "shared\n")
    done = revert(writer.store_path)
    assert reasons(done) == {C: "purged"}
    assert memories(writer.store_path)[A] == "secret\n"


def test_a_memory_whose_place_is_taken_is_left_and_listed(writer):
    writer.put(A, "a\n")
    writer.put(B, "b\n")
    writer.put(C, "c\n")
    writer.delete(A, **IN)
    writer.move(B, D, **IN)
    writer.delete(C, **IN)
    writer.put(A, "another\n", actor="bob")  # the name goes on: it is a change
    writer.put(B, "another\n", actor="bob")  # another memory, where the one that moved was
    (writer.store_path / C).write_text("by hand\n")
    assert reasons(revert(writer.store_path)) == {A: "changed_since", D: "path_taken", C: "path_taken"}


def test_a_place_is_taken_by_what_others_moved_or_made_there(writer):
    writer.put(A, "a\n")
    writer.put(B, "b\n")
    writer.put(C, "c\n")
    writer.delete(A, **IN)
    writer.move(B, A, actor="bob")
    writer.put(A, "changed\n", actor="bob")  # another memory than the one that was deleted
    # Two memories that were at the same place when the session came to them.
    writer.move(C, D, **IN)
    writer.put(C, "another\n", actor="bob")
    writer.move(C, "memories/e.md", **IN)
    done = revert(writer.store_path)
    assert reasons(done) == {A: "path_taken", "memories/e.md": "path_taken"}
    assert [(each.path, each.to) for each in done.reverted] == [(D, C)]
    assert memories(writer.store_path) == {A: "changed\n", C: "c\n", "memories/e.md": "another\n"}


@pytest.mark.parametrize("taker", ["memories/facts/A.md", "memories/facts/a.md/below.md"])
def test_a_place_that_the_disk_refuses_is_taken_and_no_other_memory_stays_for_it(writer, taker):
    for path in (A, B, C):
        writer.put(path, f"{path} before\n")
    writer.delete(A, **IN)
    writer.put(B, "changed\n", **IN)
    writer.put(taker, "somebody else's\n")
    planned, done = revert(writer.store_path, dry_run=True), revert(writer.store_path)
    assert reasons(planned) == reasons(done) == {A: "path_taken"}
    assert memories(writer.store_path) == {
        B: f"{B} before\n", C: f"{C} before\n", taker: "somebody else's\n",
    }  # fmt: skip


def test_a_name_that_the_unit_itself_took_in_other_letters_blocks_only_its_own_memory(writer):
    for path in (A, B):
        writer.put(path, f"{path} before\n")
    writer.move(A, C, **IN)
    writer.put("memories/facts/A.md", "new\n", **IN)
    writer.put(B, "changed\n", **IN)
    assert reasons(revert(writer.store_path)) == {C: "path_taken"}
    assert memories(writer.store_path) == {B: f"{B} before\n", C: f"{A} before\n"}
    revert(writer.store_path)  # now the name is free
    assert memories(writer.store_path) == {A: f"{A} before\n", B: f"{B} before\n"}


def test_what_the_access_list_refuses_is_told_by_a_dry_run_too(writer):
    writer.put(A, "before\n")
    writer.put(A, "changed\n", **IN)
    before = writer.head_seq()
    (writer.store_path / "memories" / "STORE.yaml").write_text(
        '{"store_id": "locked", "acl": [{"actor": "carol", "mode": "read"}]}'
    )
    with pytest.raises(AclDenied):
        revert(writer.store_path, dry_run=True)
    assert writer.head_seq() == before
    with pytest.raises(AclDenied):
        revert(writer.store_path)


def test_a_session_may_undo_itself_and_goes_on(writer):
    approve(writer.store_path)
    writer.put(A, "one\n")
    session.start(writer, "s-1")
    writer.put(A, "two\n")
    done = revert(writer.store_path)
    assert [writer.read_audit_row(seq)["extra"]["session_id"] for seq in done.seqs] == ["s-1"]
    assert revert(writer.store_path).unchanged == (A,)
    writer.put(B, "new\n")
    # What undid its first changes is none of its changes.
    assert [each.path for each in revert(writer.store_path, dry_run=True).reverted] == [B]
    assert [each.path for each in revert(writer.store_path).reverted] == [B]
    assert memories(writer.store_path) == {A: "one\n"}
    # Nor is it a change by somebody else.
    writer.put(A, "three\n")
    assert [each.path for each in revert(writer.store_path).reverted] == [A]
    assert memories(writer.store_path) == {A: "one\n"}


def test_memories_that_changed_places_change_back(writer):
    for path in (A, B, C):
        writer.put(path, path)
    before = memories(writer.store_path)
    aside = "memories/aside.md"
    for src, dst in ((A, aside), (B, A), (C, B), (aside, C)):
        writer.move(src, dst, **IN)
    done = revert(writer.store_path)
    assert memories(writer.store_path) == before
    assert len(done.reverted) == 3
    assert walk(writer.store_path, A)[0].kind == "move"


def test_a_dream_is_a_unit_too(writer):
    writer.put(A, "one\n")
    extra = {"dream_id": "01HJ8XVK", "proposal_id": "P3"}
    writer.delete(A, reason="merge", extra=extra)
    writer.put(B, "merged\n", extra=extra, **IN)
    done = revert(writer.store_path, dream_id="01HJ8XVK")
    assert (done.dream_id, done.session_id) == ("01HJ8XVK", None)
    assert memories(writer.store_path) == {A: "one\n"}
    assert [row["extra"]["reverted_dream_id"] for row in writer.read_recent_audit_rows(2)] == ["01HJ8XVK"] * 2


def test_all_or_none(writer, monkeypatch):
    """Somebody changes a memory between the plan and its commit: by a put, a move or a deletion."""
    for undo in ("delete", "move", "put"):
        path = f"memories/{undo}.md"
        if undo != "delete":
            writer.put(path, "before\n")
        match undo:
            case "delete" | "put":
                writer.put(path, "changed\n", session_id=undo)
            case "move":
                writer.move(path, A, session_id=undo)
        writer.put(B, f"{undo}\n", session_id=undo)
        real = planning.plan

        def plan(*args, path=A if undo == "move" else path, real=real):
            made = real(*args)
            with Writer(writer.store_path, actor="bob") as other:
                other.put(path, "meanwhile\n")
            return made

        with monkeypatch.context() as patch:
            patch.setattr(planning, "plan", plan)
            before = memories(writer.store_path)
            with pytest.raises(PreconditionFailed, match="somebody else"):
                revert(writer.store_path, session_id=undo)
        now = memories(writer.store_path)
        assert now == before | {A if undo == "move" else path: "meanwhile\n"}
        writer.delete(B)
        if undo == "move":
            writer.delete(A)


def test_a_unit_that_changed_nothing_is_not_there(writer):
    writer.put(A, "one\n", session_id="s-2")
    for unit in ({"session_id": "s-1"}, {"dream_id": "s-2"}):
        with pytest.raises(NothingToRevert) as raised:
            revert(writer.store_path, **unit)
        assert raised.value.as_dict().items() >= unit.items()
    with pytest.raises(BadArgument):
        revert(writer.store_path, session_id="")


def test_a_log_with_holes_is_not_reverted(tmp_path):
    log = Log()
    for number in range(6):
        log.add("put", A, {"session_id": "s-1"}, sha=f"{number:064x}")
    store = log.write(tmp_path)
    data = bytearray(log.data)
    data[log.ends[2] + 40] ^= 1
    (store / "audit/current.binlog").write_bytes(data)
    with pytest.raises(CorruptLog):
        revert(store, dry_run=True)


def test_versions_that_upstream_did_not_keep_are_listed(tmp_path):
    log = Log()
    log.put(A, b"one")
    log.add("put", A, {"session_id": "s-1"}, sha="b" * 64)
    assert reasons(revert(log.write(tmp_path), dry_run=True)) == {A: "unavailable"}


def test_the_command(cli, store):
    with Writer(store, actor="ann") as writer:
        writer.put(A, "one\n")
        writer.put(A, "two\n", **IN)
        writer.put(B, "new\n", **IN)
        writer.put(C, "new\n", **IN)
        writer.put(C, "newer\n", actor="bob")
    at = ("--store", store)
    assert cli(*at, "revert").code == cli(*at, "revert", "--session", "s-1", "--dream", "d").code == 2
    assert (missing := cli(*at, "revert", "--dream", "d")).code == 3
    assert "error[nothing_to_revert]" in missing.err
    shown = cli(*at, "revert", "--session", "s-1", "--dry-run")
    assert shown.out.splitlines() == [
        f"would be brought back   {A}, as of row 1",
        f"would be deleted        {B}",
        f"left as it is  {C}: changed since by bob (row 5)",
        "2 memories would be brought back",
    ]
    done = cli(*at, "revert", "--session", "s-1", "--json", "--actor", "carol")
    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out)
    assert (result["session_id"], result["seqs"], [each["to"] for each in result["reverted"]]) == (
        "s-1",
        [6, 7],
        [A, None],
    )
    assert "reverts session s-1 of row 1" in cli(*at, "history", A).out
    assert cli(*at, "revert", "--session", "s-1").out.splitlines()[-1] == "0 memories brought back"
