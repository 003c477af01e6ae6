"""Names in URLs: decoded once, strictly, and never a way out of the store."""

import socket
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cyberos.core import paths
from cyberos.errors import PathRefused

X = "memories/facts/x.md"


@pytest.mark.parametrize(
    "sent",
    ["memories/facts/x.md", "memories%2Ffacts%2Fx.md", "memories%2ffacts/x.md", "%6demories/facts/x%2Emd"],
)
def test_slashes_may_be_encoded(shared, sent):
    answer = shared.get(f"memories/{sent}/history")
    assert (answer.status, answer.json["path"], len(answer.json["entries"])) == (200, X, 2)
    assert shared.get(f"memories/{sent}").json["content"] == "two\n"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ("..", "segment '..'"),
        ("../../../etc/passwd", "segment '..'"),
        ("%2e%2e/%2e%2e/etc/passwd", "segment '..'"),
        ("..%2F..%2Fetc%2Fpasswd", "segment '..'"),
        ("memories/%2e/x.md", "segment '.'"),
        ("%2Fetc%2Fpasswd", "absolute"),
        ("/etc/passwd", "absolute"),
        ("memories//x.md", "empty"),
        ("memories/x.md/", "empty"),
        ("memories/x%00.md", "NUL"),
        ("memories%5C..%5Cx.md", "backslash"),
        ("memories\\x.md", "backslash"),
        ("memories/%FF.md", "UTF-8"),
        ("memories/%C0%AE%C0%AE/x.md", "UTF-8"),
        ("memories/%ED%A0%80.md", "UTF-8"),
    ],
)
@pytest.mark.parametrize("what", ["", "/history", "/blame", "/show?at=1", "/diff?from=1"])
def test_what_could_reach_outside_is_refused(shared, sent, why, what):
    answer = shared.get(f"memories/{sent}{what}")
    assert answer.error == (422, "path_refused")
    assert why in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("memories%252Fx.md", "memories%2Fx.md"),
        ("memories/%252e%252e/x.md", "memories/%2e%2e/x.md"),
        ("memories/100%25.md", "memories/100%.md"),
        ("memories/100%.md", "memories/100%.md"),
        ("memories/a%2Bb+c%20d.md", "memories/a+b+c d.md"),
        ("memories/%3Fq%23f.md", "memories/?q#f.md"),
        ("memories/%C3%A4.md", "memories/ä.md"),
        ("memories/x.md;v=1", "memories/x.md;v=1"),
    ],
)
def test_percent_signs_are_decoded_once(shared, sent, name):
    answer = shared.get(f"memories/{sent}/history")
    assert (answer.status, answer.json) == (200, {"path": name, "entries": []})


def test_a_memory_may_be_called_as_an_endpoint_is(shared):
    assert shared.get("memories/memories/history").json == {"path": "memories", "entries": []}
    assert shared.get("memories/memories%2Fhistory").error == (404, "memory_not_found")
    assert shared.get("memories/memories%2Fhistory/history").json == {"path": "memories/history", "entries": []}
    assert shared.get("memories/a/history/history").json == {"path": "a/history", "entries": []}


@pytest.mark.parametrize(
    "path", ["audit/current.binlog", "audit/tip", "manifest.json", ".lock", "AGENTS.md", "memories"]
)
def test_the_stores_own_files_are_no_memories(shared, path):
    assert shared.memory(path).error == (404, "memory_not_found")
    assert shared.memory(path, "history").json["entries"] == []


def test_access_lists_are_no_memories(rest):
    (rest.store / "memories/STORE.yaml").write_text("store_id: x\n")
    assert rest.memory("memories/STORE.yaml").error == (422, "path_refused")


def test_a_symbolic_link_is_not_followed(rest, writer, store, tmp_path):
    writer.put(X, "one\n")
    (tmp_path / "secret.md").write_text("secret\n")
    (store / X).unlink()
    (store / X).symlink_to(tmp_path / "secret.md")
    assert b"secret\\n" not in rest.memory(X).body
    assert rest.memory(X).error == (422, "path_refused")


def refusal(name):
    try:
        paths.check_lookup(name)
    except PathRefused as refused:
        return refused.message
    return None


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8"), max_size=40), st.sampled_from(["", "/"]))
@example("memories/a b.md", "/")
@example("..", "")
def test_every_name_arrives_as_it_was_sent_or_is_refused_as_the_library_refuses_it(shared, name, safe):
    answer = shared.get(f"memories/{quote(name, safe=safe)}/history")
    refused = refusal(name)
    if refused is None:
        assert (answer.status, answer.json["path"]) == (200, name)
    else:
        assert answer.error == (422, "path_refused")
        assert answer.json["error"]["message"] == refused


@pytest.mark.parametrize(
    "line",
    [
        b"GET /api/v2/memories/\xff\xfe/history HTTP/1.1",
        b"GET /api/v2/memories/\xc3\xa4.md/history HTTP/1.1",
        b"GET http://elsewhere.example/api/v2/memories/..%2f/history HTTP/1.1",
        b"GET /api/v2/memories/a\x00b/history HTTP/1.1",
        b"GET /../../etc/passwd HTTP/1.1",
        b"GET api/v2/health HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1",
    ],
    ids=["no text", "not encoded", "absolute", "NUL", "above the root", "no slash", "TLS", "long"],
)
def test_what_is_no_http_gets_an_error_and_the_server_goes_on(shared, line):
    with socket.create_connection(("127.0.0.1", shared.port), timeout=20) as connection:
        connection.sendall(line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    assert not answer or answer.split(b" ")[1][:1] == b"4", answer
    assert shared.get("health").status == 200
