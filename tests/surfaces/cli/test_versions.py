"""`cyberos show`, `diff`, `blame`, `get`, `list` and `restore`: versions of memories, by row and by time."""

import base64
import json
import os
import subprocess
import sys

import pytest

A, B = "memories/facts/a.md", "memories/facts/b.md"


@pytest.fixture
def run(cli, writer):
    def run(*args):
        return cli("--store", writer.store_path, *args)

    return run


@pytest.fixture
def as_json(run):
    def as_json(*args):
        done = run(*args, "--json")
        assert (done.code, done.err) == (0, "")
        return json.loads(done.out)

    return as_json


@pytest.fixture
def life(writer, mock_time):
    """A memory that is written, moved, written again under its new name, deleted, and a new one in its first place."""
    mock_time.set("2026-05-01")
    writer.put(A, "---\nn: 1\n---\none\ntwo\n")  # 1
    mock_time.set("2026-05-02")
    writer.put(A, "---\nn: 2\n---\none\nTWO\n", session_id="s1", actor="bob")  # 2
    mock_time.set("2026-05-03")
    writer.move(A, B)  # 3
    mock_time.set("2026-05-04")
    writer.put(B, "---\nn: 2\n---\none\nTWO\nthree\n", actor="eve")  # 4
    mock_time.set("2026-05-05")
    writer.put(A, "another\n")  # 5
    mock_time.set("2026-05-06")
    writer.delete(B)  # 6
    mock_time.set("2026-05-07")


@pytest.mark.parametrize(
    ("version", "content"),
    [
        (f"{B}@4", "---\nn: 2\n---\none\nTWO\nthree\n"),
        (f"{B}@3", "---\nn: 2\n---\none\nTWO\n"),  # the row that moved it there
        (f"{B}@2", "---\nn: 2\n---\none\nTWO\n"),  # under its former name then
        (f"{B}@1", "---\nn: 1\n---\none\ntwo\n"),
        (f"{B}@5", "---\nn: 2\n---\none\nTWO\nthree\n"),  # another memory's row: what this one was then
        (f"{B}@2026-05-02T12:00:00Z", "---\nn: 2\n---\none\nTWO\n"),
        (f"{B}@2026-05-04", "---\nn: 2\n---\none\nTWO\nthree\n"),
        (f"{A}@6", "another\n"),
        (f"{A}@2", "---\nn: 2\n---\none\nTWO\n"),  # its name then, now that of another memory
    ],
)
def test_show_prints_the_version_byte_for_byte(run, life, version, content):
    assert run("show", version) == (0, content, "")


@pytest.mark.parametrize("version", [f"{B}@6", f"{B}@2026-04-30", "memories/never.md@3", f"{A}@3"])
def test_show_says_where_there_was_no_version(run, life, version):
    done = run("show", version)
    assert (done.code, done.out) == (3, "")
    assert "error[version_not_found]" in done.err


@pytest.mark.parametrize("version", [A, f"{A}@", f"{A}@0", f"{A}@soon"])
def test_show_needs_a_version(run, life, version):
    assert run("show", version).code == 2


def test_show_as_json(as_json, life):
    shown = as_json("show", f"{B}@2")
    assert (shown["path"], shown["seq"], shown["ts"]) == (A, 2, "2026-05-02T00:00:00Z")
    assert shown["content"] == "---\nn: 2\n---\none\nTWO\n"


def test_bytes_that_are_no_text_come_out_as_they_went_in(as_json, writer):
    content = b"\xff\x00\r\n\xfe"
    writer.put(A, content)
    for command in (["get", A], ["show", f"{A}@1"]):
        program = [sys.executable, "-W", "ignore", "-m", "cyberos", "--store", os.fspath(writer.store_path)]
        assert subprocess.run([*program, *command], capture_output=True, check=True).stdout == content
    assert as_json("get", A)["content"] == {"base64": base64.b64encode(content).decode()}
    assert as_json("show", f"{A}@1")["content"] == {"base64": base64.b64encode(content).decode()}


def test_what_was_purged_is_told_apart_from_what_never_was(run, writer):
    writer.put(A, "secret\n")
    writer.delete(A, mode="purge", reason="why")
    done = run("show", f"{A}@1")
    assert (done.code, done.out) == (3, "")
    assert "error[body_purged]" in done.err
    done = run("get", A)
    assert (done.code, done.out) == (3, "")
    assert "error[memory_not_found]" in done.err


def test_diff_between_rows_times_and_now(run, as_json, life, writer):
    done = run("diff", B, "--from", "1", "--to", "4")
    assert done == (
        0,
        f"~ n: 1 → 2\n--- a/{A}\n+++ b/{B}\n@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+three\n",
        "",
    )
    same = run("diff", B, "--from", "2026-05-01", "--to", "2026-05-04")
    assert same == done
    found = as_json("diff", B, "--from", "1", "--to", "4")
    assert (found["old"]["seq"], found["new"]["seq"]) == (1, 4)
    assert found["frontmatter_diff"]["changed"] == {"n": {"old": 1, "new": 2}}
    assert (found["body_diff_reason"], found["body_diff"].count("\n+")) == (None, 3)
    writer.put(A, "more\n")
    assert "-another\n+more\n" in run("diff", A, "--from", "5").out
    assert "-more\n+another\n" in run("diff", A, "--from", "7", "--to", "5").out
    assert run("diff", A, "--from", "5", "--to", "5") == (0, "", "")


def test_diff_needs_a_from_and_versions_that_are_there(run, life):
    assert run("diff", A).code == 2
    assert run("diff", B, "--from", "1").code == 3
    assert run("diff", A, "--from", "x").code == 2


def test_blame_names_the_row_of_each_line_across_moves(run, as_json, life):
    lines = as_json("blame", f"{B}@4")
    assert [(line["line"], line["seq"]) for line in lines] == [
        ("---\n", 1),
        ("n: 2\n", 2),
        ("---\n", 1),
        ("one\n", 1),
        ("TWO\n", 2),
        ("three\n", 4),
    ]
    assert lines[4] == {
        "line": "TWO\n",
        "seq": 2,
        "ts": "2026-05-02T00:00:00Z",
        "actor": "bob",
        "path": A,
        "session_id": "s1",
    }
    assert run("blame", f"{B}@4").out.splitlines()[4] == "[     2] 2026-05-02T00:00:00Z bob s1    5) TWO"
    assert [line["seq"] for line in as_json("blame", A)] == [5]


def test_blame_stops_where_the_versions_to_tell_were_purged(as_json, writer):
    writer.put(A, "one\n")
    writer.put(A, "one\ntwo\n")
    writer.delete(A, mode="purge", reason="why")
    writer.put(A, "one\nnew\n")
    assert [line["seq"] for line in as_json("blame", A)] == [4, 4]


def test_blame_keeps_bytes_that_are_no_text_and_shows_them_as_escapes(run, as_json, writer):
    writer.put(A, b"one\ntw\xff\n")
    assert [line["line"] for line in as_json("blame", A)] == ["one\n", {"base64": "dHf/Cg=="}]
    assert [line.partition(") ")[2] for line in run("blame", A).out.splitlines()] == ["one", "tw\\xff"]


def test_blame_of_an_empty_memory_has_no_lines(as_json, writer):
    writer.put(A, "")
    assert as_json("blame", A) == []


def test_get_prints_what_is_and_with_at_what_had_the_name_then(run, life):
    assert run("get", A) == (0, "another\n", "")
    assert run("get", B).code == 3
    assert run("get", A, "--at", "2") == (0, "---\nn: 2\n---\none\nTWO\n", "")
    assert run("get", B, "--at", "2026-05-04").out.endswith("three\n")
    assert run("get", B, "--at", "2").code == 3  # it had another name
    assert run("get", A, "--at", "4").code == 3  # nothing had the name


def test_get_prints_an_edit_made_by_hand_and_says_so(run, as_json, life, writer):
    (writer.store_path / A).write_text("edited\n")
    done = run("get", A)
    assert (done.code, done.out) == (0, "edited\n")
    assert done.err.startswith(f"warning: {A} was edited by hand")
    (writer.store_path / "memories/facts/new.md").write_text("by hand\n")
    assert run("get", "memories/facts/new.md").out == "by hand\n"


def test_get_finds_what_the_folder_lost(run, life, writer):
    (writer.store_path / A).unlink()
    assert run("get", A) == (0, "another\n", "")


@pytest.mark.parametrize("path", ["manifest.json", "audit/current.binlog", "HEAD", "memories/facts"])
def test_get_prints_memories_only(run, life, path):
    assert (run("get", path).code, run("get", path).out) == (3, "")


def test_get_follows_no_link_out_of_the_store(run, life, writer, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    os.symlink(outside, writer.store_path / "memories/linked")
    os.symlink(outside / "secret.md", writer.store_path / "memories/facts/linked.md")
    for path in ("memories/linked/secret.md", "memories/facts/linked.md"):
        done = run("get", path)
        assert (done.code, done.out) == (4, "")
        assert "symbolic link" in done.err


def names(listed):
    return [memory["path"] for memory in listed]


def test_list_says_what_there_is_and_what_there_was(run, as_json, life):
    assert names(as_json("list")) == [A]
    assert names(as_json("list", "--at", "4")) == [B]
    assert names(as_json("list", "--at", "5")) == [A, B]
    assert names(as_json("list", "--at", "2026-05-02")) == [A]
    assert names(as_json("list", "--at", "2026-04-30")) == []
    assert names(as_json("list", "memories/facts/b", "--at", "5")) == [B]
    assert as_json("list", "meta/") == []
    assert run("list").out == f"[     5] 2026-05-05T00:00:00Z {A}\n"


def test_restore_is_a_new_put(run, as_json, life, writer):
    assert run("restore", f"{A}@2").code == 0
    assert run("get", A).out == "---\nn: 2\n---\none\nTWO\n"
    assert writer.head_seq() == 7
    newest = as_json("history", A)[0]
    assert (newest["seq"], newest["kind"], newest["extra"]["restored_from_seq"]) == (7, "put", 2)


@pytest.mark.parametrize(
    "command",
    [
        ["show", f"{B}@99"],
        ["get", A, "--at", "99"],
        ["list", "--at", "99"],
        ["blame", f"{A}@99"],
        ["restore", f"{A}@99"],
        ["diff", A, "--from", "5", "--to", "99"],
        ["diff", A, "--from", "99"],
    ],
)
def test_a_row_that_is_not_written_yet_is_no_version(run, life, writer, command):
    done = run(*command)
    assert (done.code, done.out) == (3, "")
    assert done.err == "error[version_not_found]: there is no row 99; the log ends with row 6\n"
    assert writer.head_seq() == 6


def test_the_last_row_and_times_to_come_are_now(run, life):
    assert run("get", A, "--at", "6").out == "another\n"
    warning = "warning: 2026-05-08T00:00:00Z lies in the future: this is how it is now\n"
    for command in (["get", A, "--at", "2026-05-08"], ["show", f"{A}@2026-05-08"]):
        assert run(*command) == (0, "another\n", warning)
    assert run("list", "--at", "2026-05-08").err == warning


def test_an_empty_point_in_time_is_a_mistake(run, life):
    for command in (["get", A], ["list"], ["diff", A, "--from", "5", "--to"]):
        options = [] if command[-1] == "--to" else ["--at"]
        assert run(*command, *options, "").code == 2


def test_where_the_clock_stepped_back_all_agree_on_what_was(run, as_json, writer, mock_time):
    for day, path in (("2026-05-01", A), ("2026-05-09", B), ("2026-05-03", A)):
        mock_time.set(day)
        writer.put(path, f"{day}\n")
    mock_time.set("2026-05-10")
    # The last row that is not later is the third, and the second was there before it.
    assert names(as_json("list", "--at", "2026-05-03")) == [A, B]
    assert run("get", B, "--at", "2026-05-03").out == run("show", f"{B}@2026-05-03").out == "2026-05-09\n"
    assert run("get", A, "--at", "2026-05-03").out == "2026-05-03\n"
    assert names(as_json("list", "--at", "2026-05-02")) == [A]
    assert run("get", B, "--at", "2026-05-02").code == 3


RULES = "memories/facts/STORE.yaml"


@pytest.mark.parametrize("known", [False, True])
def test_an_access_list_is_no_memory(run, as_json, life, writer, known):
    rules = writer.store_path / RULES
    rules.write_text("store_id: facts\n")
    if known:  # other programs write it through the log
        row = ("put", "eve", 1, {"kind": "acl"}, RULES, rules.read_bytes(), None)
        writer._native.submit([row])
    for command in (
        ["get", RULES],
        ["get", RULES, "--at", "1"],
        ["show", f"{RULES}@6"],
        ["blame", RULES],
        ["diff", RULES, "--from", "1"],
        ["restore", f"{RULES}@6"],
        ["delete", RULES],
        ["delete", RULES, "--mode", "purge", "--reason", "x", "--yes"],
        ["move", RULES, "memories/facts/c.md"],
    ):
        done = run(*command)
        assert (done.code, done.out) == (4, ""), command
        assert "it is an access list, not a memory" in done.err
    assert run("move", A, RULES).code == 4
    assert names(as_json("list")) == [A]
    assert rules.read_text() == "store_id: facts\n"
    # What the log says of it stays to be seen.
    assert [entry["kind"] for entry in as_json("history", RULES)] == ["put"] * known
