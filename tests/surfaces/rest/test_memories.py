"""Memories, versions and rows over HTTP: what the commands say with `--json`."""

import json
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cyberos.core.reader import AuditChainReader

X, Y = "memories/facts/x.md", "memories/facts/y.md"


@pytest.fixture
def filled(writer):
    for number in range(3):
        writer.put(X, f"---\nn: {number}\n---\nline a\nv{number}\n", session_id="s")
    writer.put("memories/b.md", b"\xff\x00")
    writer.move(X, Y)
    writer.put("memories/z/ä b.md", "ä\n")
    writer.put("memories/z/STORE.md", "no access list\n")
    return writer


@pytest.fixture
def command(cli, store):
    def run(*args):
        done = cli("--store", store, *args, "--json")
        assert done.code == 0
        return json.loads(done.out)

    return run


def test_a_memory_is_what_the_commands_say(rest, command, filled):
    for path in (Y, "memories/b.md", "memories/z/ä b.md"):
        assert rest.memory(path).json == command("get", path)
        assert rest.memory(path, "blame").json == {"path": path, "lines": command("blame", path)}
    assert rest.memory(X, at=2).json == command("get", X, "--at", "2")
    assert rest.memory(Y, "show", at=2).json == command("show", f"{Y}@2")
    assert rest.memory(Y, "blame", at=2).json["lines"] == command("blame", f"{Y}@2")
    assert rest.memory(Y, "diff", from_=1).json == command("diff", Y, "--from", "1")
    assert rest.memory(Y, "diff", from_=1, to=2).json == command("diff", Y, "--from", "1", "--to", "2")
    assert rest.get("verify").json == command("verify")
    assert rest.get("verify?deep=true").json == command("verify", "--deep")


def test_an_edit_by_hand_is_shown_as_such(rest, filled, store):
    (store / Y).write_text("by hand\n")
    answer = rest.memory(Y).json
    assert (answer["content"], answer["edited"]) == ("by hand\n", True)
    assert answer["warnings"]


@pytest.mark.parametrize(
    ("path", "what", "query", "error"),
    [
        ("memories/none.md", "", {}, (404, "memory_not_found")),
        ("memories/none.md", "blame", {}, (404, "memory_not_found")),
        (Y, "show", {"at": 99}, (404, "version_not_found")),
        (Y, "show", {}, (422, "bad_argument")),
        (Y, "show", {"at": 0}, (422, "bad_argument")),
        (Y, "show", {"at": "x"}, (422, "bad_argument")),
        (Y, "show", {"at": "9" * 65}, (422, "bad_argument")),
        (Y, "diff", {"to": 1}, (422, "bad_argument")),
        (Y, "diff", {"from_": 1, "old": 1}, (422, "bad_argument")),
        (Y, "diff", {"from_": 5, "to": 0}, (422, "bad_argument")),
    ],
)
def test_what_is_not_there_or_cannot_be_meant(rest, filled, path, what, query, error):
    assert rest.memory(path, what, **query).error == error


def test_a_list_is_what_the_command_says_page_by_page(rest, command, filled):
    whole = rest.get("memories").json
    assert whole == {"next": None, "memories": command("list")}
    assert rest.get("memories?prefix=memories/z/").json["memories"] == command("list", "memories/z/")
    assert rest.get("memories?at=3").json["memories"] == command("list", "--at", "3")
    paths = [memory["path"] for memory in whole["memories"]]
    for limit in (1, 2, 3, 4):
        found: list[dict[str, object]] = []
        for after in ("", *paths):
            page = rest.get(f"memories?limit={limit}&after={quote(after)}").json
            assert page["memories"] == whole["memories"][len(found) :][:limit]
            assert page["next"] == (page["memories"][-1]["path"] if len(found) + limit < len(paths) else None)
            found = whole["memories"][: len(found) + 1]


def test_rows_are_those_of_the_log(rest, filled):
    expected = [row["chain"] for row in AuditChainReader(rest.store).iter_rows()]
    answer = rest.get("rows").json
    assert answer["next"] is None
    assert [row["chain"] for row in answer["rows"]] == expected
    assert [row["prev_chain"] for row in answer["rows"]] == ["0" * 64, *expected[:-1]]
    assert rest.get("rows/2").json == answer["rows"][1]
    assert rest.get("rows?after=7").json == {"next": None, "rows": []}
    for url, error in (("rows/8", (404, "version_not_found")), ("rows/0", (422, "bad_argument"))):
        assert rest.get(url).error == error


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 9), st.integers(1, 12), st.integers(1, 9), st.booleans())
def test_pages_of_rows_join_without_gaps_or_repetitions(rest, writer, after, before, limit, newest_first):
    while writer.head_seq() < 7:
        writer.put(X, f"{writer.head_seq()}\n")
    expected = [seq for seq in range(1, 8) if after < seq < before]
    found, bounds = [], {"after": after, "before": before}
    for _ in range(10):
        query = "&".join(f"{name}={value}" for name, value in bounds.items())
        page = rest.get(f"rows?limit={limit}&newest_first={newest_first}&{query}").json
        assert len(page["rows"]) <= limit
        found += [row["seq"] for row in page["rows"]]
        if page["next"] is None:
            break
        bounds["before" if newest_first else "after"] = page["next"]
    assert found == (expected[::-1] if newest_first else expected)


def test_health_says_what_is_served(rest, filled):
    assert rest.get("health").json == {
        "status": "ok",
        "version": rest.get("health").json["version"],
        "store_id": json.loads((rest.store / "manifest.json").read_text())["store_id"],
        "last_seq": 7,
    }


def test_findings_are_an_answer(serving, filled, store):
    filled.close()
    log = store / "audit/current.binlog"
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(raw)
    with serving(store) as rest:
        answer = rest.get("verify")
    assert (answer.status, answer.json["ok"]) == (200, False)
    assert answer.json["findings"]
