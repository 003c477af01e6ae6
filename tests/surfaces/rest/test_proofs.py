"""Signed heads, proofs and search over HTTP: what the commands say with `--json`."""

import base64
import json

import pytest

from cyberos import _native, clock
from cyberos.core import checkpoints
from cyberos.core.reader import AuditChainReader
from cyberos.crypto.keys import Keys
from cyberos.operations import checkpoints as signed
from cyberos.operations import proofs, search

X = "memories/facts/x.md"


@pytest.fixture
def held(tmp_path):
    held = Keys(str(tmp_path / "config"), {})
    held.create("file:default")
    return held


@pytest.fixture
def signed_store(store, writer, held):
    for number in range(5):
        writer.put(X, f"# Title\n\nword{number}\n")
    signed.create(str(store), held)
    writer.put(X, "later\n")
    return store


def test_heads_and_proofs_are_those_of_the_store(rest, signed_store, held):
    (head,) = rest.get("checkpoints").json["checkpoints"]
    assert (head["size"], head["root"]) == (5, AuditChainReader(signed_store).native.root(5).hex())
    answer = rest.memory(X, "proof", at=3, body="true").json
    assert {**answer, "content": None} == {
        "path": X, "seq": 3, "size": 5, "origin": checkpoints.origin_of(signed_store), "content": None
    }  # fmt: skip
    proved = proofs.verify(answer["content"].encode(), held)
    assert (proved.seq, proved.path, proved.body) == (3, X, b"# Title\n\nword2\n")
    assert (
        answer["content"].encode() == proofs.prove(str(signed_store), X, clock.At(seq=3), held, with_body=True).content
    )


def test_nothing_is_signed_for_a_client(rest, signed_store):
    before = {file: file.read_bytes() for file in rest.store.rglob("*") if file.is_file()}
    answer = rest.memory(X, "proof", at=6)
    assert answer.error == (404, "version_not_found")
    assert answer.json["error"]["hints"] == ["its owner makes one: cyberos checkpoint create"]
    assert {file: file.read_bytes() for file in rest.store.rglob("*") if file.is_file()} == before


def test_logs_of_any_two_sizes_are_proved_consistent(rest, signed_store):
    for old in range(7):
        for new in range(old, 7):
            said = rest.get(f"consistency?from={old}&to={new}").json
            assert (said["from_size"], said["size"]) == (old, new)
            roots = bytes.fromhex(said["from_root"]), bytes.fromhex(said["root"])
            path = [base64.b64decode(text) for text in said["hashes"]]
            assert _native.is_consistent(old, roots[0], new, roots[1], path)
    assert rest.get("consistency?from=2").json["size"] == 6


REFUSED = [
    ("consistency", (422, "bad_argument")),
    ("consistency?from=-1", (422, "bad_argument")),
    ("consistency?from=3&to=2", (422, "bad_argument")),
    ("consistency?from=1&to=7", (404, "version_not_found")),
    ("consistency?from=7", (404, "version_not_found")),
    (f"memories/{X}/proof", (422, "bad_argument")),
    (f"memories/{X}/proof?at=7", (404, "version_not_found")),
    ("memories/memories/none.md/proof?at=3", (404, "version_not_found")),
    ("search", (422, "bad_argument")),
    ("search?q=", (422, "bad_argument")),
    ("search?q=a&limit=0", (422, "bad_argument")),
    ("search?q=a&since=soon", (422, "bad_argument")),
    ("search?q=a&colour=red", (422, "bad_argument")),
]


def test_what_cannot_be_proved_or_searched_is_told(rest, signed_store):
    assert [(url, rest.get(url).error) for url, _ in REFUSED] == REFUSED


def test_a_search_is_what_the_command_says(rest, writer, cli):
    writer.put(X, "---\nkind: rule\ntags: [a, b]\n---\n# Deploys\n\nDeploys need two approvals.\n")
    writer.put("memories/y.md", "approvals\n")
    for query, options in (
        ("approvals", []),
        ("deploy*", []),
        ("%22two%20approvals%22", []),
        ("approvals&kind=rule", ["--kind", "rule"]),
        ("approvals&tag=a&tag=b&actor=ann&limit=1", ["--tag", "a", "--tag", "b", "--actor", "ann", "--limit", "1"]),
        ("approvals&until=1999-01-01T00:00:00Z", ["--until", "1999-01-01T00:00:00Z"]),
        ("nothing", []),
    ):
        words = query.partition("&")[0].replace("%22", '"').replace("%20", " ")
        done = cli("--store", rest.store, "search", words, *options, "--json")
        assert rest.get(f"search?q={query}").json == {"hits": json.loads(done.out)}
    assert search.search(str(rest.store), "approvals").hits


def test_a_purge_reaches_the_search_of_a_server(rest, writer):
    writer.put(X, "a secret word\n")
    assert len(rest.get("search?q=secret").json["hits"]) == 1
    writer.delete(X, mode="purge", reason="asked for")
    assert rest.get("search?q=secret").json == {"hits": []}
