import json
import os
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.core.acl import MODES, AccessList, Acl, Decision, Entry, parse
from cyberos.errors import BadConfig, CyberosError

LOCKED = {
    "store_id": "locked",
    "default_mode": "read",
    "acl": [{"actor": "stephen", "mode": "read-write"}, {"actor": "scheduled-*", "mode": "deny"}],
}


def dump(value):
    return json.dumps(value).encode()


def parse_json(raw):
    """JSON is YAML; the YAML parser proper has its own tests."""
    return json.loads(raw)


@pytest.fixture
def store(tmp_path):
    (tmp_path / "memories" / "locked" / "deep").mkdir(parents=True)
    (tmp_path / "memories" / "locked" / "STORE.yaml").write_bytes(dump(LOCKED))
    return tmp_path


@pytest.fixture
def acl(store):
    return Acl(store, parse_json, binding=True)


def test_a_refusal_has_every_field_as_upstream_writes_it(acl):
    decision = acl.decide("scheduled-importer", "memories/locked/note-2.md")
    assert decision.refused
    assert not decision.allowed
    assert decision.pattern == "scheduled-*"
    assert decision.row_extra("put") == {
        "actor": "scheduled-importer",
        "attempt_kind": "put",
        "matched_entry": "actor='scheduled-importer' → mode='deny'",
        "mode": "deny",
        "store_id": "locked",
        "target_path": "memories/locked/note-2.md",
        "warn_only": False,
        "yaml_path": "memories/locked/STORE.yaml",
    }
    error = decision.error()
    assert error.yaml_path == "memories/locked/STORE.yaml"
    assert "scheduled-importer" in error.message
    assert "cyberos acl explain memories/locked/note-2.md" in error.hints[0]


@pytest.mark.parametrize(
    ("actor", "mode", "allowed"),
    [
        ("stephen", "read-write", True),
        ("Stephen", "read", False),
        ("scheduled-", "deny", False),
        ("anyone", "read", False),
    ],
)
def test_the_first_match_decides_else_the_default(acl, actor, mode, allowed):
    decision = acl.decide(actor, "memories/locked/deep/x.md")
    assert (decision.mode, decision.allowed) == (mode, allowed)


def test_order_counts(store):
    everyone_first = {**LOCKED, "acl": [{"actor": "*", "mode": "deny"}, *LOCKED["acl"]]}
    (store / "memories" / "locked" / "STORE.yaml").write_bytes(dump(everyone_first))
    assert not Acl(store, parse_json, binding=True).decide("stephen", "memories/locked/x.md").allowed


def test_without_a_list_everyone_writes(acl):
    assert acl.decide("anyone", "memories/open/x.md") == Decision("memories/open/x.md", "anyone")
    assert acl.decide("anyone", "memories/x.md").allowed


def test_the_nearest_list_governs_alone(store):
    (store / "memories" / "STORE.yaml").write_bytes(dump({"store_id": "outer", "default_mode": "deny"}))
    (store / "STORE.yaml").write_bytes(dump({"store_id": "top", "default_mode": "read"}))
    acl = Acl(store, parse_json, binding=True)
    assert acl.decide("stephen", "memories/locked/deep/x.md").store_id == "locked"
    assert acl.decide("stephen", "memories/x.md").store_id == "outer"
    assert acl.decide("stephen", "persona/not/there/x.md").store_id == "top"
    assert acl.decide("stephen", "memories/x.md").matched_entry == "default → mode='deny'"


def test_a_store_without_the_section_is_only_warned(store):
    acl = Acl(store, parse_json, binding=False)
    refused = acl.decide("scheduled-importer", "memories/locked/x.md")
    assert (refused.refused, refused.allowed, refused.warn_only) == (True, True, True)
    assert refused.row_extra("move")["warn_only"] is True
    assert not acl.decide("stephen", "memories/locked/x.md").warn_only


def test_the_list_of_sessions_always_binds(store):
    (store / "sessions").mkdir()
    (store / "sessions" / "STORE.yaml").write_bytes(dump(LOCKED))
    decision = Acl(store, parse_json, binding=False).decide("scheduled-importer", "sessions/2026-05-19/x.binlog.zst")
    assert not decision.allowed
    assert not decision.warn_only


def test_lists_are_read_once(store):
    acl = Acl(store, parse_json, binding=True)
    acl.decide("x", "memories/locked/deep/x.md")
    os.unlink(store / "memories" / "locked" / "STORE.yaml")
    assert acl.decide("x", "memories/locked/y.md").store_id == "locked"
    assert Acl(store, parse_json, binding=True).decide("x", "memories/locked/y.md").store_id is None


MALFORMED = [
    (b"{", "not YAML"),
    (b"\xff", "not YAML"),
    (dump(None), "must be a mapping"),
    (dump([]), "must be a mapping"),
    (dump({}), "store_id"),
    (dump({"store_id": "Big"}), "store_id"),
    (dump({"store_id": "a" * 65}), "store_id"),
    (dump({"store_id": "a\n"}), "store_id"),
    (dump({"store_id": 1}), "store_id"),
    (dump({"store_id": "a", "default_mode": "write"}), "default_mode must be one of"),
    (dump({"store_id": "a", "default_mode": None}), "default_mode must be one of"),
    (dump({"store_id": "a", "default_mod": "deny"}), "unknown key 'default_mod'"),
    (dump({"store_id": "a", "acl": {}}), "acl must be a list"),
    (dump({"store_id": "a", "acl": None}), "acl must be a list"),
    (dump({"store_id": "a", "acl": ["x"]}), r"acl\[0\] must be a mapping"),
    (dump({"store_id": "a", "acl": [{"actor": "x"}]}), r"acl\[0\]\.mode must be one of"),
    (dump({"store_id": "a", "acl": [{"actor": 7, "mode": "deny"}]}), r"acl\[0\]\.actor"),
    (dump({"store_id": "a", "acl": [{"actor": "", "mode": "deny"}]}), r"acl\[0\]\.actor"),
    (dump({"store_id": "a", "acl": [{"actor": "x", "mode": "deny", "path": "y"}]}), "unknown key 'path'"),
    (b" " * (256 * 1024 + 1), "larger than"),
]


@pytest.mark.parametrize("binding", [True, False])
@pytest.mark.parametrize(("raw", "why"), MALFORMED)
def test_a_malformed_list_refuses_every_write_below_it(store, raw, why, binding):
    (store / "memories" / "locked" / "STORE.yaml").write_bytes(raw)
    acl = Acl(store, parse_json, binding=binding)
    with pytest.raises(BadConfig, match=why) as caught:
        acl.decide("stephen", "memories/locked/deep/x.md")
    assert caught.value.file == "memories/locked/STORE.yaml"
    assert acl.decide("stephen", "memories/x.md").allowed


def test_errors_of_our_own_yaml_parser_are_malformed_lists_too():
    def fail(_raw):
        raise CyberosError("line 3: no")

    with pytest.raises(BadConfig, match="line 3: no"):
        parse(b"", "STORE.yaml", fail)


def test_a_list_that_cannot_be_read_refuses_too(store):
    file = store / "memories" / "locked" / "STORE.yaml"
    file.unlink()
    file.symlink_to("elsewhere")
    with pytest.raises(BadConfig, match="symbolic link"):
        Acl(store, parse_json, binding=True).decide("stephen", "memories/locked/x.md")
    file.unlink()
    file.mkdir()
    with pytest.raises(BadConfig, match="cannot be read"):
        Acl(store, parse_json, binding=True).decide("stephen", "memories/locked/x.md")


def test_the_least_list_is_a_name():
    assert parse(dump({"store_id": "a"}), "STORE.yaml", parse_json) == AccessList("STORE.yaml", "a", "read-write", ())


def glob(pattern, text):
    """What a pattern means, as plainly as it can be said: `*`, `?`, `[set]`, `[!set]`, and anything else itself."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == "*":
        return any(glob(rest, text[skipped:]) for skipped in range(len(text) + 1))
    if not text:
        return False
    if head == "[":
        negated = rest.startswith("!")
        body = rest[1:] if negated else rest
        end = body.find("]", 1)  # a ] that comes first is in the set
        if end >= 0:
            return (text[0] in members(body[:end])) is not negated and glob(body[end + 1 :], text[1:])
    return head in ("?", text[0]) and glob(rest, text[1:])


def members(body):
    found, at = set(), 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            found |= {chr(code) for code in range(ord(body[at]), ord(body[at + 2]) + 1)}
            at += 3
        else:
            found.add(body[at])
            at += 1
    return found


PATTERNS = st.lists(
    st.sampled_from(
        ["*", "?", "a", "b", "B", "-", ".", "\n", "[ab]", "[!a]", "[a-c]", "[]]", "[!]a]", "[", "]", "[-a]"]
    ),
    max_size=6,
).map("".join)


@given(PATTERNS, st.text("abB-.]\n[c", max_size=6))
def test_patterns_mean_what_the_plain_reading_says(pattern, actor):
    assert fnmatchcase(actor, pattern) == glob(pattern, actor)


@given(
    st.lists(st.builds(Entry, PATTERNS.filter(bool), st.sampled_from(MODES)), max_size=5),
    st.sampled_from(MODES),
    st.text("abB-.", max_size=6),
)
def test_decisions_agree_with_a_plain_loop(tmp_path_factory, entries, default, actor):
    store = tmp_path_factory.getbasetemp() / "loop"
    (store / "memories").mkdir(parents=True, exist_ok=True)
    document = {
        "store_id": "a",
        "default_mode": default,
        "acl": [{"actor": e.pattern, "mode": e.mode} for e in entries],
    }
    (store / "memories" / "STORE.yaml").write_bytes(dump(document))
    expected = default
    for entry in entries:
        if glob(entry.pattern, actor):
            expected = entry.mode
            break
    decision = Acl(store, parse_json, binding=True).decide(actor, "memories/x.md")
    assert decision.mode == expected
    assert decision.allowed == (expected == "read-write")
