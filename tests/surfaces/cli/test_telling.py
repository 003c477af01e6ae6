"""What people are told besides the rows: edits that no row records yet, refusals, reasons, and where to look next."""

import json
import shutil
from pathlib import Path

import pytest

from cyberos.core.changes import Record
from cyberos.errors import AclDenied

A, B = "memories/facts/a.md", "memories/facts/b.md"


@pytest.fixture
def run(cli, writer):
    def run(*args):
        return cli("--store", writer.store_path, *args)

    return run


@pytest.fixture
def newest(run):
    def newest(path):
        return run("history", path).out.splitlines()[0]

    return newest


@pytest.mark.parametrize(
    "command", [("history", A), ("history", A, "--filter", "kind=delete"), ("blame", A), ("diff", A, "--from", "1")]
)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_an_edit_that_no_row_records_is_told_by_whatever_shows_the_memory(run, writer, command, flags):
    writer.put(A, "one\n")
    before = run(*command, *flags)
    assert (before.code, before.err) == (0, "")
    (writer.store_path / A).write_text("by hand\n")
    after = run(*command, *flags)
    told = f"{A} was edited by hand; the next write to it records that"
    assert (after.code, after.err) == (0, f"warning: {told}\n")
    assert after.out in (before.out, before.out.replace('"warnings": []', f'"warnings": [\n    "{told}"\n  ]'))
    writer.put(B, "another\n")
    writer.put(A, "two\n")
    assert run(*command, *flags).err == ""


def test_a_file_that_no_row_names_is_told_as_such(run, writer):
    writer.put(A, "one\n")
    writer.move(A, B)
    (writer.store_path / A).write_text("by hand\n")
    told = f"warning: {A} lies in a file that no row records; the next write to it records that\n"
    assert run("history", A).err == run("get", A).err == told
    assert json.loads(run("get", A, "--json").out)["warnings"] == [told.removeprefix("warning: ").rstrip("\n")]
    assert run("history", B).err == run("history", "--all-paths").err == ""


def test_what_a_lost_row_said_is_not_told_as_an_edit(run, writer):
    writer.put(A, "one\n")
    writer.put(A, "two\n")
    writer.close()
    log = writer.store_path / "audit/current.binlog"
    whole = log.read_bytes()
    log.write_bytes(whole[:-1])
    done = run("get", A)
    log.write_bytes(whole)
    assert (done.code, done.out) == (0, "two\n")
    told = f"warning: {A} is not what the log says, and the log is not whole: audit/tip is damaged at byte 0: row 2 "
    assert done.err.startswith(told)


@pytest.mark.parametrize("found", ["missing", "folder", "link", "acl"])
def test_what_is_no_edit_is_not_told_as_one(run, writer, found):
    writer.put(A, "one\n")
    file = writer.store_path / A
    file.unlink()
    if found == "folder":
        file.mkdir()
    elif found == "link":
        file.symlink_to("/etc/hostname")
    path = A
    if found == "acl":
        path = "memories/facts/STORE.yaml"
        (writer.store_path / path).write_text("store_id: x\n")
    assert run("history", path).err == ""


def test_an_edit_is_told_with_the_row_that_records_it(run, writer, newest):
    writer.put(A, "one\n")
    (writer.store_path / A).write_text("by hand\n")
    done = run("move", A, B)
    assert done.out == f"[     2] first recorded an edit that was made by hand\n[     3] moved {A} to {B}\n"
    assert run("history", A, "--filter", "actor=filesystem").out.splitlines()[0].endswith("… edited by hand")


def test_why_a_memory_was_deleted_and_what_a_restoration_is_of_are_told(run, writer, newest):
    writer.put(A, "one\n")
    run("delete", A, "--reason", "no longer true")
    assert newest(A).endswith("… reason: no longer true")
    run("restore", f"{A}@1")
    assert newest(A).endswith("… via restore of row 1")
    run("delete", A)
    assert newest(A).endswith("…")


def test_a_score_is_told(run, writer, newest):
    writer.put(A, "one\n")
    writer.emit_aux("memory.importance_scored", {"path": A, "score": 0.25})
    assert newest(A).endswith(" body=— score 0.25")


def test_a_put_that_expected_something_else_says_what_it_met(run, writer, newest):
    writer.put(A, "one\n")
    sha256 = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"
    done = run("put", A, __file__, "--if-absent")
    assert done.code == 5
    assert f"{A} was to be new, and is there with SHA-256 {sha256}\nhint: look at it with `cyberos get {A}" in done.err
    assert newest(A).endswith("expected no memory, found 2c8b08da…")
    done = run("put", A, __file__, "--expected", "0" * 64)
    assert f"{A} was to have SHA-256 {'0' * 64}, and has {sha256}\n" in done.err
    assert newest(A).endswith("expected 00000000…, found 2c8b08da…")
    done = run("put", B, __file__, "--expected", sha256)
    assert f"{B} was to have SHA-256 {sha256}, and is not there\n" in done.err
    assert newest(B).endswith("expected 2c8b08da…, found no memory")


def test_who_was_refused_by_which_line_is_told(writer, newest):
    folder = writer.store_path / "memories/locked"
    folder.mkdir()
    (folder / "STORE.yaml").write_text("store_id: locked\nacl:\n  - {actor: 'ann', mode: read}\n")
    with pytest.raises(AclDenied):
        writer.put("memories/locked/a.md", "a\n")
    line = "put refused by memories/locked/STORE.yaml: actor='ann' → mode='read'"
    assert newest("memories/locked/a.md").endswith(line)


def test_lines_whose_writer_is_not_known_are_counted(cli):
    peer = Path(__file__).parents[2] / "fixtures/peer-store"
    done = cli("--store", peer, "blame", "memories/facts/moved/fact-002-274.md")
    assert done.err == "warning: who wrote 8 of the 8 lines is not known: older versions are not kept\n"


def test_where_there_never_was_a_memory_its_versions_are_not_looked_for(run, writer):
    writer.put(A, "one\n")
    writer.delete(A)
    assert run("get", A).err.endswith(f"hint: cyberos history {A} lists its versions\n")
    for command in (("get", B), ("show", f"{B}@1"), ("blame", B), ("diff", B, "--from", "1")):
        done = run(*command)
        assert done.code == 3
        assert done.err.endswith("hint: there never was one; cyberos list shows what there is\n")


@pytest.mark.parametrize("command", [("put", A, __file__), ("move", B, A), ("delete", B), ("restore", f"{B}@1")])
def test_a_change_that_is_recorded_is_no_error_whatever_the_index_does(run, writer, command):
    writer.put(B, "one\n")
    writer.put(B, "two\n")
    writer.apply([Record("episode.logged", {"n": number}) for number in range(600)])
    writer.close()
    shutil.rmtree(writer.store_path / "index", ignore_errors=True)
    (writer.store_path / "index").write_text("in the way\n")
    done = run(*command)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("[   603] ")
    assert "\nwarning: the next write has some tidying to do: cannot " in done.out


def test_purging_what_is_purged_says_so_and_writes_no_row(run, writer):
    writer.put(A, "one\n")
    purge = ("delete", A, "--mode", "purge", "--reason", "asked", "--yes")
    assert run(*purge).out == f"[     2] purged {A}, 1 stored version erased\n"
    assert run(*purge) == (0, f"{A} is purged already: nothing to do\n", "")
    again = json.loads(run(*purge, "--json").out)
    assert (again["seq"], again["erased"]) == (None, 0)
    assert len(run("history", A).out.splitlines()) == 2


def test_what_is_asked_of_the_log_is_answered_with_a_file_in_place_of_the_indexes(run, writer):
    writer.put(A, "one two\n")
    writer.close()
    shutil.rmtree(writer.store_path / "index", ignore_errors=True)
    asked = [("history", A), ("blame", A), ("show", f"{A}@1"), ("verify",), ("list",)]
    before = [run(*command) for command in asked]
    (writer.store_path / "index").write_text("")
    assert [run(*command) for command in asked] == before
    assert before[0].code == 0
    assert run("put", B, __file__).code == 0
    found = run("doctor")
    assert (found.code, "this is no folder" in found.out) == (1, True)
    assert run("doctor", "--repair").code == 0
    assert run("doctor").code == 0
