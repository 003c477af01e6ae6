"""`GET /api/v2/memories/{path}/history`."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from cyberos.core.reader import AuditChainReader

X, Y = "memories/facts/x.md", "memories/facts/y.md"


@pytest.fixture
def versions(writer):
    for number in range(5):
        writer.put(X, f"line a\nv{number}\n", {"n": number}, session_id=f"s{number % 2}")
    writer.move(X, Y)
    writer.emit_aux("memory.importance_scored", {"path": Y, "score": 0.5, "odd": 'ä"\x7f'})
    writer.put(Y, f"---\nn: {1 << 70}\n---\nline b\n")
    writer.delete(Y, mode="purge", reason="asked for")
    writer.put(Y, b"\xff\x00")
    return writer


def start(store, *args, **env):
    """Starts the program; returns the process and what it says it serves."""
    server = subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "cyberos",
            "--store",
            str(store),
            "serve",
            "--port",
            "0",
            *args,
            "--json",
        ],
        stdout=subprocess.PIPE,
        env={"PATH": "/bin:/usr/bin", **env},
    )
    assert server.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = server.stdout.readline().decode()
        assert line, "the server has ended"
        text += line
    return server, json.loads(text)


def test_ac17_the_rest_endpoint_matches_the_command(program, store, versions):
    server, said = start(store)
    try:
        for path, limit in ((X, 3), (Y, 3), (Y, 20), ("memories/never.md", 3)):
            done = program("--store", store, "history", path, "--limit", str(limit), "--json")
            with urllib.request.urlopen(f"{said['url']}/api/v2/memories/{path}/history?limit={limit}") as answer:
                found = json.load(answer)
            assert answer.headers["content-type"] == "application/json"
            assert found == {"path": path, "entries": json.loads(done.out)}
        assert said == {"url": said["url"], "store": str(store), "token": False}
    finally:
        server.send_signal(signal.SIGTERM)
        server.stdout.close()
        assert server.wait(20) == -signal.SIGTERM


@pytest.mark.parametrize("path", [X, Y, None])
def test_parameters_mean_what_the_options_mean(cli, rest, versions, path):
    for query, options in (
        ("", []),
        ("?limit=1000", ["--limit", "1000"]),
        ("?chronological=true&limit=3", ["--chronological", "--limit", "3"]),
        ("?follow_moves=false&limit=20", ["--no-follow-moves", "--limit", "20"]),
        ("?show_body=true&limit=20", ["--show-body", "--limit", "20"]),
        ("?since=1h", ["--since", "1h"]),
        ("?since=2100-01-01T00:00:00%2B02:00", ["--since", "2100-01-01T00:00:00+02:00"]),
        ("?filter=kind=put&filter=session_id=s1", ["--filter", "kind=put", "--filter", "session_id=s1"]),
    ):
        done = cli("--store", rest.store, "history", path or "--all-paths", *options, "--json")
        answer = rest.get(f"memories/{path}/history{query}" if path else f"history{query}")
        assert (answer.status, done.code) == (200, 0)
        assert answer.json["entries"] == json.loads(done.out)
        assert answer.json.get("path") == path
        assert "".join(f"warning: {text}\n" for text in answer.json.get("warnings", [])) == done.err


@pytest.mark.parametrize("path", [X, Y, "memories/facts/never.md", "memories/facts/n\u00e4.md", "memories/a/history"])
def test_a_plain_question_has_the_answer_of_one_that_says_more(rest, versions, path):
    for query in ("", "?limit=3", "?limit=100"):
        plain, longer = (
            rest.memory(path, f"history{query}"),
            rest.memory(path, f"history{query or '?'}&show_body=false"),
        )
        assert (plain.status, plain.headers, plain.json) == (200, longer.headers | {
            "content-length": plain.headers["content-length"], "date": plain.headers["date"]
        }, longer.json)  # fmt: skip


@pytest.mark.parametrize("path", ["..%2Fx", "a%00", "%FF", "%2Fetc", "memories%5Cx", ""])
def test_a_plain_question_is_refused_as_one_that_says_more(shared, path):
    plain, longer = (shared.get(f"memories/{path}/history{query}") for query in ("", "?show_body=false"))
    assert plain.error == (422, "path_refused")
    assert plain.json == longer.json


def test_a_memory_that_never_existed_has_no_entries(shared):
    answer = shared.memory("memories/facts/never.md", "history")
    assert (answer.status, answer.json) == (200, {"path": "memories/facts/never.md", "entries": []})


@pytest.mark.parametrize(
    ("query", "code", "argument"),
    [
        ("limit=0", "bad_argument", "limit"),
        ("limit=1001", "bad_argument", "limit"),
        ("limit=all", "bad_argument", "limit"),
        ("since=yesterday", "bad_argument", None),
        ("filter=colour=red", "unknown_filter", "colour"),
        ("filter=kind", "bad_argument", "filter"),
        ("limt=3", "bad_argument", "limt"),
        ("show_body=perhaps", "bad_argument", "show_body"),
    ],
)
def test_what_cannot_be_meant_is_refused(shared, query, code, argument):
    answer = shared.get(f"memories/{X}/history?{query}")
    assert answer.error == (422, code)
    assert answer.json["error"].get("argument") == argument


def test_reading_writes_nothing(rest, versions):
    before = {file: file.read_bytes() for file in rest.store.rglob("*") if file.is_file()}
    for url in (
        f"memories/{Y}/history?show_body=true",
        f"memories/{Y}",
        f"memories/{Y}/blame",
        "memories",
        "rows",
        "verify",
    ):
        assert rest.get(url).status == 200, url
    assert {file: file.read_bytes() for file in rest.store.rglob("*") if file.is_file()} == before


def test_what_is_whole_is_shown_with_a_warning(serving, store, writer, cli):
    for number in range(20):
        writer.put(X, f"{number}\n")
    writer.close()
    log = store / "audit/current.binlog"
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(raw)
    with serving(store) as rest:
        answer = rest.memory(X, "history", limit=50)
        rows = rest.get("rows?limit=50")
    assert (answer.status, len(answer.json["entries"])) == (200, 19)
    assert "audit/current.binlog is damaged at byte" in answer.json["warnings"][0]
    assert [len(rows.json["rows"]), rows.json["warnings"]] == [19, answer.json["warnings"]]


def test_an_answer_too_long_for_one_piece_is_streamed(rest, writer):
    for number in range(30):
        writer.put(X, "".join(f"{number} {line}\n" for line in range(1_000)))
    answer = rest.memory(X, "history", limit=30, show_body="true")
    assert answer.headers.get("transfer-encoding") == "chunked"
    assert [len(entry["body_diff"]["added"]) for entry in answer.json["entries"][:-1]] == [1_000] * 29
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_edit_by_hand_is_told(rest, writer, store):
    writer.put(X, "one\n")
    Path(store, X).write_text("two\n")
    assert rest.memory(X, "history").json["warnings"] == [f"{X} was edited by hand; the next write to it records that"]


def test_a_write_is_seen_by_the_next_question(rest, writer):
    for number in range(1, 30):
        receipt = writer.put(X, f"{number}\n")
        assert rest.memory(X, "history", limit=1).json["entries"][0]["seq"] == receipt.seq
    assert AuditChainReader(rest.store).last_seq() == 29
