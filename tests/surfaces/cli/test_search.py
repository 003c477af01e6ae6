"""`cyberos search` as people and programs see it."""

import json
import shutil
from pathlib import Path

import pytest

from cyberos.core.writer import Writer


@pytest.fixture
def notes(store, mock_time):
    with Writer(store, actor="ann") as writer:
        fields = {"title": "Deploys", "tags": ["ops", "Rules"], "kind": "rule"}
        writer.put("memories/facts/deploys.md", "Deploys need two approvals.\n", fields)
        mock_time.set("2026-05-20T08:00:42Z")
        writer.put("memories/facts/other.md", "Nobody deploys on Friday \x1b[31m.\n", actor="bob")
    return store


def test_hits_are_shown_with_what_was_found(cli, notes):
    run = cli("--store", notes, "search", "deploys")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "[     1] 2026-05-19T08:00:42Z memories/facts/deploys.md  Deploys\n"
        "         Deploys need two approvals.\n"
        "[     2] 2026-05-20T08:00:42Z memories/facts/other.md\n"
        "         Nobody deploys on Friday \\x1b[31m.\n"
    )


def test_highlights_are_painted_only_where_colour_is_wanted(cli, notes):
    run = cli("--store", notes, "search", "appr*", "--color")
    assert run.out.splitlines()[1] == "         Deploys need two \x1b[1;31mapprovals\x1b[0m."


def test_json_has_every_field(cli, notes):
    (hit,) = json.loads(cli("--store", notes, "search", '"two approvals"', "--json").out)
    assert hit.pop("score") > 0
    assert len(hit.pop("body_hash")) == 64
    assert hit == {
        "path": "memories/facts/deploys.md",
        "seq": 1,
        "ts": "2026-05-19T08:00:42Z",
        "actor": "ann",
        "kind": "rule",
        "title": "Deploys",
        "tags": ["ops", "Rules"],
        "snippet": "Deploys need two approvals.",
        "highlights": [[13, 16], [17, 26]],
        "edited": False,
    }


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        (["--actor", "bob"], ["other"]),
        (["--actor", "Bob"], []),
        (["--kind", "RULE"], ["deploys"]),
        (["--tag", "rules", "--tag", "ops"], ["deploys"]),
        (["--tag", "rules", "--tag", "else"], []),
        (["--since", "2026-05-20"], ["other"]),
        (["--until", "2026-05-20"], ["deploys"]),
        (["--since", "2026-05-19T08:00:42Z", "--until", "2026-05-20T08:00:42Z"], ["deploys", "other"]),
        (["--limit", "1"], ["deploys"]),
    ],
)
def test_conditions_narrow_a_search(cli, notes, conditions, found):
    run = cli("--actor", "whoever", "--store", notes, "search", "deploys", "--json", *conditions)
    assert [hit["path"].split("/")[-1][:-3] for hit in json.loads(run.out)] == found


def test_nothing_found_is_an_answer(cli, notes):
    assert cli("--store", notes, "search", "neverland") == (0, "Nothing found.\n", "")
    assert cli("--store", notes, "search", "neverland", "--json") == (0, "[]\n", "")


@pytest.mark.parametrize("query", ["***", "", '"', "--"])
def test_a_query_without_words_is_told(cli, notes, query):
    run = cli("--store", notes, "search", "--", query)
    assert run.code == 2
    assert "there is no word in the query" in run.err


@pytest.mark.parametrize(
    "query", ["AND", "a OR", "NEAR(a b)", "title: x", "^a", "(", "a'b", 'x" y', "{a} : b", "w " * 5000]
)
def test_no_query_is_a_syntax_error(cli, notes, query):
    assert cli("--store", notes, "search", "--", query, "word").code == 0


@pytest.mark.parametrize("option", [["--limit", "0"], ["--since", "soon"], ["--until", "then"], ["--limit", "all"]])
def test_odd_conditions_are_usage_errors(cli, notes, option):
    assert cli("--store", notes, "search", "deploys", *option).code == 2


def test_a_hit_says_that_its_file_was_edited_and_the_edit_is_found_once_recorded(cli, notes):
    (notes / "memories/facts/other.md").write_text("Now about lighthouses\n")
    assert "memories/facts/other.md  (edited by hand since)\n" in cli("--store", notes, "search", "friday").out
    assert cli("--store", notes, "search", "lighthouses").out == "Nothing found.\n"
    assert cli("--store", notes, "doctor", "--repair", "--adopt").code == 0
    assert "Now about lighthouses" in cli("--store", notes, "search", "lighthouses").out


def test_a_store_that_keeps_no_contents_says_so(cli, tmp_path):
    peer = shutil.copytree(Path(__file__).parents[2] / "fixtures/peer-store", tmp_path / "peer")
    run = cli("--store", peer, "search", "vault", "--tag", "sre")
    assert "memories/facts/00/02/fact-007.md" in run.out
    assert "the content of 1 memory is not kept here: it is found by its path only" in run.err
    (peer / "memories/facts/00/02/fact-007.md").unlink()
    shutil.rmtree(peer / "index")
    run = cli("--store", peer, "search", "fact-007")
    assert "memories/facts/00/02/fact-007.md" in run.out
    assert "the content of 2 memories is not kept here: they are found by their paths only" in run.err


def test_a_search_needs_a_store(cli, tmp_path):
    assert cli("--store", tmp_path, "search", "x").code == 3
