"""What the OpenAPI document says is what is answered: also to requests that nobody would think of."""

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks

from cyberos.api import app, security
from cyberos.core import store as stores
from cyberos.core.writer import Writer
from cyberos.crypto import keys
from cyberos.crypto.keys import Keys
from cyberos.operations import checkpoints

X = "memories/facts/x.md"
_EXAMPLES = 10
_CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
)


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    store = stores.init(tmp_path_factory.mktemp("fuzzed") / "store")
    with Writer(store, actor="ann") as writer:
        for number in range(3):
            writer.put(X, f"---\nn: {number}\n---\nv{number}\n")
        writer.put(X, "---\n[broken\n---\nv\n")
        writer.put("memories/b.md", b"\xff\x00")
        writer.move(X, "memories/facts/y.md")
        writer.delete("memories/b.md", mode="purge", reason="asked for")
    held = Keys(str(tmp_path_factory.mktemp("keys")), {})
    held.create(keys.DEFAULT)
    checkpoints.create(str(store), held)
    return app.create(str(store), security.policy("127.0.0.1", None, ["testserver"]))


@pytest.fixture(scope="module")
def schema(application):
    return schemathesis.openapi.from_asgi(app.OPENAPI, application)


def test_answers_are_what_the_document_says(schema):
    names = []
    for operation in (found.ok() for found in schema.get_all_operations()):
        names.append(operation.label)

        @settings(
            max_examples=_EXAMPLES,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def ask(case):
            case.call_and_validate(checks=_CHECKS)

        ask()
    assert len(names) == 15, names


@pytest.mark.parametrize(
    "url",
    [
        "memories",
        "memories/memories/facts/y.md",
        "memories/memories/facts/y.md/history?show_body=true",
        "memories/memories/b.md/history?show_body=true",
        "memories/memories/facts/y.md/show?at=2",
        "memories/memories/facts/y.md/diff?from=1&to=2",
        "memories/memories/facts/y.md/diff?from=3",
        "memories/memories/facts/y.md/blame",
        "history?limit=1000",
        "rows",
        "rows/1",
        "health",
        "verify?deep=true",
        "search?q=v2",
        "checkpoints",
        "consistency?from=2",
        "memories/memories/facts/y.md/proof?at=2&body=true",
    ],
)
def test_answers_with_content_are_what_the_document_says(schema, url):
    route, _, query = url.partition("?")
    found = re.fullmatch(r"(memories|rows)/(.*?)(/(?:history|show|diff|blame|proof))?", route)
    name = (
        f"/api/v2/{found[1]}/{{{'path' if found[1] == 'memories' else 'seq'}}}{found[3] or ''}"
        if found
        else f"/api/v2/{route}"
    )
    operation = schema[name]["GET"]
    case = operation.Case(
        path_parameters={"path" if found[1] == "memories" else "seq": found[2]} if found else {},
        query=dict(pair.split("=") for pair in query.split("&") if pair),
    )
    answer = case.call_and_validate(checks=_CHECKS)
    assert answer.status_code == 200
