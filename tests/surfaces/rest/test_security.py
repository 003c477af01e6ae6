"""Who is let in, and what browsers are told."""

import os

import pytest

from cyberos.api import security, server
from cyberos.errors import BadArgument, BadConfig, IoFailure

TOKEN = "a-token-of-24-characters"
OWN = frozenset(("localhost", "127.0.0.1", "::1"))
HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
}


@pytest.fixture(scope="module")
def guarded(shared):
    from tests.surfaces.rest.conftest import running

    with running(shared.store, security.policy("0.0.0.0", TOKEN)) as rest:
        yield rest


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "url", ["health", "memories/memories/facts/x.md/history", "openapi.json", "nothing", "memories/.."]
)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer(""),
        bearer(TOKEN[:-1]),
        bearer(TOKEN + "x"),
        bearer(TOKEN.upper()),
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_nothing_is_answered_without_the_token(guarded, url, headers):
    answer = guarded.get(url, headers=headers)
    assert answer.error == (401, "token_refused")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.body.decode()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_lets_in_under_any_host(guarded, scheme):
    answer = guarded.get("health", headers={"Authorization": f"{scheme} {TOKEN}", "Host": "memory.example"})
    assert answer.status == 200
    assert guarded.get(f"health?token={TOKEN}").status == 401, "URLs are written into logs"


def test_a_token_is_demanded_on_loopback_too_where_one_is_set(serving, store):
    with serving(store, security.policy("127.0.0.1", TOKEN)) as rest:
        assert rest.get("health").error == (401, "token_refused")
        assert rest.get("health", headers=bearer(TOKEN)).status == 200
        assert rest.get("health", headers={**bearer(TOKEN), "Host": "elsewhere.example"}).status == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST:8710", "[::1]", "[::1]:8710", "localhost."])
def test_the_machines_own_names_are_answered_to(shared, host):
    assert shared.get("health", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    ["elsewhere.example", "localhost.elsewhere.example", "127.0.0.1.elsewhere.example", "", "[::1", "localhost@x"],
)
def test_a_name_that_a_page_has_bound_to_loopback_is_not(shared, host):
    answer = shared.get("health", headers={"Host": host})
    assert answer.status in (400, 421)
    if answer.status == 421:
        assert answer.json["error"]["code"] == "host_refused"


def test_other_names_are_answered_to_where_they_were_allowed(serving, store):
    with serving(store, security.policy("127.0.0.1", None, ["Memory.Example"])) as rest:
        assert rest.get("health", headers={"Host": "memory.example:443"}).status == 200
        assert rest.get("health", headers={"Host": "other.example"}).status == 421


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1", "fe80::1%eth0"])
def test_beyond_loopback_a_token_is_demanded(address):
    with pytest.raises(BadArgument, match="can be reached from other machines"):
        security.policy(address, None)
    assert security.policy(address, TOKEN) == (TOKEN, None)
    assert security.policy(address, TOKEN, ["memory.example"]).hosts == OWN | {address, "memory.example"}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_needs_none(address):
    assert security.policy(address, None).hosts == OWN | {address}


@pytest.mark.parametrize(
    "url", ["health", "nothing", "memories/..", "memories/memories/x.md", "rows?limit=0", "openapi.json"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_every_answer_has_the_headers_and_none_that_lets_other_origins_in(shared, url, method):
    answer = shared.get(url, method=method, headers={"Origin": "https://elsewhere.example"})
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert answer.headers["content-type"] == "application/json"
    assert not [name for name in answer.headers if name.startswith("access-control") or name == "server"]


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"

    def write(raw, mode=0o600):
        file.write_bytes(raw)
        file.chmod(mode)
        return str(file)

    return write


def test_a_token_is_read_from_a_file_that_only_its_owner_reads(token_file):
    assert server.read_token(token_file(TOKEN.encode() + b"\n")) == TOKEN
    assert server.read_token(token_file(TOKEN.encode(), 0o400)) == TOKEN


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o601])
def test_a_file_that_others_may_use_is_refused(token_file, mode):
    file = token_file(TOKEN.encode(), mode)
    with pytest.raises(BadConfig, match=f"others may use .*its mode is {mode:04o}") as caught:
        server.read_token(file)
    assert caught.value.hints == (f"chmod 600 {file}",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(token_file):
    file = token_file(TOKEN.encode())
    os.chown(file, 12_345, -1)
    with pytest.raises(BadConfig, match="belongs to another user"):
        server.read_token(file)


@pytest.mark.parametrize(
    "raw",
    [b"", b"\n", b"short", b"x" * 1_025, b"x" * 5_000, "ä".encode() * 20, b"sixteen characters", b"x" * 20 + b"\0"],
)
def test_a_token_that_is_guessed_or_cannot_be_sent_is_refused(token_file, raw):
    with pytest.raises(BadConfig, match="the token in"):
        server.read_token(token_file(raw))


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(IoFailure, match="No such file"):
        server.read_token(str(tmp_path / "none"))
    with pytest.raises(IoFailure, match="Is a directory"):
        server.read_token(str(tmp_path))
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(BadConfig, match="not a plain file"):
        server.read_token(str(tmp_path / "pipe"))
