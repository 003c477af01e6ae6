"""Fields that upstream keeps beside a memory, in `x.meta.json` for `x.md`."""

import hashlib
import json

import pytest

A, BESIDE = "memories/facts/a.md", "memories/facts/a.meta.json"


@pytest.fixture
def run(cli, writer):
    writer.put(A, "---\nkind: fact\n---\none\n")
    writer.put(A, "---\nkind: fact\n---\ntwo\n")
    return lambda *args: cli("--store", writer.store_path, *args)


@pytest.fixture
def beside(writer):
    def beside(fields):
        text = fields if isinstance(fields, str) else json.dumps(fields)
        (writer.store_path / BESIDE).write_text(text)

    return beside


def got(run, *args):
    return json.loads(run("get", A, "--json", *args).out)


def fields_of(run, *args):
    memory = got(run, *args)
    return memory["frontmatter"], memory["frontmatter_reason"], memory["sidecar"]


def test_get_has_the_fields_of_both_and_the_memorys_own_win(run, beside, writer):
    assert fields_of(run) == ({"kind": "fact"}, None, None)
    beside({"id": "FACT-1", "kind": "rule", "tags": ["a"]})
    assert fields_of(run) == ({"id": "FACT-1", "kind": "fact", "tags": ["a"]}, None, BESIDE)
    assert got(run)["content"] == "---\nkind: fact\n---\ntwo\n"
    writer.put(A, "plain\n")
    assert fields_of(run)[0] == {"id": "FACT-1", "kind": "rule", "tags": ["a"]}


def test_get_prints_the_memory_byte_for_byte_and_says_that_there_is_more(run, beside):
    beside({"id": "FACT-1"})
    done = run("get", A)
    assert (done.code, done.out) == (0, "---\nkind: fact\n---\ntwo\n")
    assert done.err == f"warning: {BESIDE} holds further fields; --json shows them\n"


def test_a_sidecar_speaks_of_the_version_that_lies_beside_it(run, beside):
    beside({"id": "FACT-1"})
    assert fields_of(run, "--at", "1") == ({"kind": "fact"}, None, None)
    assert fields_of(run, "--at", "2")[2] == BESIDE


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_a_sidecar_that_names_a_content_speaks_of_that_one(run, beside, prefix):
    first = hashlib.sha256(b"---\nkind: fact\n---\none\n").hexdigest()
    beside({"id": "FACT-1", "extra": {"body_hash": prefix + first}})
    assert fields_of(run) == ({"kind": "fact"}, None, None)
    assert f"{BESIDE} is about another content" in run("get", A).err
    assert fields_of(run, "--at", "1")[0]["id"] == "FACT-1"


@pytest.mark.parametrize("text", ["{", "[]", "\0", ""])
def test_a_sidecar_that_cannot_be_read_is_told_and_hides_nothing(run, beside, text):
    beside(text)
    done = run("get", A)
    assert (done.code, done.out) == (0, "---\nkind: fact\n---\ntwo\n")
    assert done.err.startswith(f"warning: {BESIDE} cannot be read")
    assert fields_of(run) == ({"kind": "fact"}, None, None)


def test_frontmatter_that_cannot_be_read_has_a_reason(run, beside, writer):
    writer.put(A, "---\nkind: [\n---\n")
    beside({"id": "FACT-1"})
    fields, reason, _ = fields_of(run)
    assert fields is None
    assert "line 1" in reason


def test_diff_counts_the_fields_and_says_what_is_not_known(run, beside):
    beside({"id": "FACT-1", "kind": "rule"})
    found = json.loads(run("diff", A, "--from", "1", "--json").out)
    assert found["frontmatter_diff"] == {"added": {"id": "FACT-1"}, "changed": {}, "removed": {}}
    assert found["warnings"] == [
        f"{BESIDE} holds fields of one of these versions; what it held for the other is not known"
    ]
    done = run("diff", A, "--from", "1")
    assert done.out.startswith("+ id: 'FACT-1'\n--- a/")
    assert "+two" in done.out
    assert done.err.startswith(f"warning: {BESIDE}")
    assert run("diff", A, "--from", "2") == (0, "", "")


def test_a_sidecar_is_no_memory(run, beside):
    beside({"id": "FACT-1"})
    done = run("get", BESIDE)
    assert (done.code, done.out) == (3, "")
    assert [memory["path"] for memory in json.loads(run("list", "--json").out)] == [A]


@pytest.mark.parametrize(
    "command",
    [["move", A, "memories/facts/b.md"], ["delete", A], ["delete", A, "--mode", "purge", "--reason", "x", "--yes"]],
)
def test_a_sidecar_that_is_left_behind_is_told(run, beside, command):
    beside({"id": "FACT-1"})
    done = run(*command)
    assert done.code == 0
    assert f"warning: {BESIDE} stays where it is" in done.out
