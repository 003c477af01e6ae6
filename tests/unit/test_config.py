import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos import _native, config
from cyberos.core.inspection import check_format
from cyberos.errors import BadConfig, IoFailure, UnsupportedStore

UPSTREAM = {
    "schema_version": 1,
    "audit_chain_head": "sha256:" + "0" * 64,
    "last_updated_at": "2026-05-19T00:00:00Z",
    "timezone": "UTC",
}


def parse(value):
    return config.parse(json.dumps(value).encode())


def test_a_new_manifest_reads_back():
    loaded = config.parse(config.new_manifest("an-id", 0))
    assert loaded == config.Config(store_id="an-id", created_at="1970-01-01T00:00:00Z", is_ours=True)


def test_upstreams_manifest_has_the_defaults():
    loaded = parse(UPSTREAM)
    assert loaded == config.Config()
    assert loaded.sessions.retention_days == 30
    assert loaded.memories.max_body_bytes == 1 << 20


def test_both_halves_know_the_same_format():
    assert config.FORMAT_VERSION == _native.FORMAT_VERSION


def test_settings_are_taken():
    loaded = parse({"sessions": {"retention_days": 7}, "memories": {"max_body_bytes": 8 << 20}, "later": [1]})
    assert loaded.sessions.retention_days == 7
    assert loaded.memories.max_body_bytes == 8 << 20
    loaded = parse({"redaction": {"allow": ["a@b.example"], "allow_patterns": ["[a-z]+@b"]}})
    assert loaded.redaction == (("a@b.example",), ("[a-z]+@b",))


@pytest.mark.parametrize("version", [2, 1 << 40, 10**30])
def test_a_newer_format_is_refused(bare_store, version):
    (bare_store / "manifest.json").write_text(json.dumps({"format_version": version}))
    with pytest.raises(UnsupportedStore, match="the store has format") as caught:
        check_format(bare_store)
    assert caught.value.format_version == min(version, (1 << 64) - 1)
    assert (caught.value.store, caught.value.hints) == (str(bare_store), ("install a newer cyberos",))


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"sessions": []}, "sessions"),
        ({"sessions": {"retention_days": 0}}, "sessions.retention_days"),
        ({"sessions": {"retention_days": True}}, "sessions.retention_days"),
        ({"sessions": {"retention_days": "30"}}, "sessions.retention_days"),
        ({"sessions": {"retention_days": 1.5}}, "sessions.retention_days"),
        ({"memories": {"max_body_bytes": (8 << 20) + 1}}, "memories.max_body_bytes"),
        ({"redaction": {"allow": "a"}}, "redaction.allow"),
        ({"redaction": {"allow_patterns": [1]}}, "redaction.allow_patterns"),
        ({"store_id": 7}, "store_id"),
        ({"format_version": 0}, "format_version"),
        ({"format_version": "1"}, "format_version"),
        ({"allow_network_file_system": 1}, "allow_network_file_system"),
    ],
)
def test_a_setting_that_cannot_be_names_itself(value, key):
    with pytest.raises(BadConfig) as caught:
        parse(value)
    assert caught.value.key == key
    assert key in caught.value.message


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b" " * ((1 << 20) + 1)])
def test_what_is_not_a_manifest_is_an_error(raw):
    with pytest.raises(BadConfig):
        config.parse(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_an_error_of_ours(raw):
    with contextlib.suppress(BadConfig):
        config.parse(raw)


def test_loading(bare_store):
    assert config.load(bare_store) == config.Config()
    manifest = bare_store / "manifest.json"
    manifest.write_text('{"sessions": {"retention_days": 0}}')
    with pytest.raises(BadConfig, match=str(manifest)):
        config.load(bare_store)
    manifest.unlink()
    assert config.load(bare_store) == config.Config()
    manifest.mkdir()
    with pytest.raises(IoFailure, match="cannot read"):
        config.load(bare_store)
