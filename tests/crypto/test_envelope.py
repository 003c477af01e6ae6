"""A turn opens where it was sealed, and nowhere else."""

import base64
import json
import os
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.crypto.envelope import Foreign, SessionCipher, decode, encode, foreign, joined
from cyberos.errors import BadArgument, ExtraMissing, KeyMissing, SealBroken, WrongKey

KEY = bytes(range(32))
CIPHER = SessionCipher(KEY, "store", "session")
PLACE = ("user", 3, 1_796_052_528_000_000_000)
CONTENT = "chuyện riêng".encode()


@given(st.binary(max_size=5_000), st.sampled_from(["user", "assistant", "system", "tool"]), st.integers(0, 2**32 - 1))
def test_what_is_sealed_opens(content, role, turn):
    envelope = CIPHER.seal(role, turn, 7, content)
    assert json.loads(json.dumps(envelope)) == envelope
    assert CIPHER.open(role, turn, 7, envelope) == content
    assert len(base64.b64decode(envelope["nonce"])) == 12
    assert envelope["alg"] == "aes-256-gcm"


def test_no_envelope_is_like_another():
    seen = [CIPHER.seal(*PLACE, CONTENT) for _ in range(1_000)]
    assert len({envelope["nonce"] for envelope in seen}) == 1_000
    assert len({envelope["ct"] for envelope in seen}) == 1_000
    assert not any(base64.b64encode(CONTENT)[:-4].decode() in envelope["ct"] for envelope in seen)


@pytest.mark.parametrize(
    "place",
    [
        ("assistant", *PLACE[1:]),
        ("tool", *PLACE[1:]),
        ("", *PLACE[1:]),
        ("user", 4, PLACE[2]),
        ("user", 3, PLACE[2] + 1),
    ],
)
def test_a_turn_does_not_open_under_another_role_number_or_time(place):
    role, turn, time_ns = place
    with pytest.raises(SealBroken, match="not what was sealed") as caught:
        CIPHER.open(role, turn, time_ns, CIPHER.seal(*PLACE, CONTENT))
    assert (caught.value.session_id, caught.value.turn) == ("session", turn)


@pytest.mark.parametrize(("store", "session"), [("store", "other"), ("other", "session"), ("stores", "ession")])
def test_a_turn_does_not_open_in_another_session_or_store_even_under_the_same_key(store, session):
    with pytest.raises(SealBroken, match="not what was sealed"):
        SessionCipher(KEY, store, session).open(*PLACE, CIPHER.seal(*PLACE, CONTENT))


def test_turns_that_were_swapped_do_not_open():
    one, two = (CIPHER.seal("user", turn, 7, CONTENT) for turn in (0, 1))
    with pytest.raises(SealBroken):
        CIPHER.open("user", 0, 7, two)
    with pytest.raises(SealBroken):
        CIPHER.open("user", 1, 7, one)


def test_another_key_is_told_from_a_changed_turn():
    with pytest.raises(WrongKey, match="another key") as caught:
        SessionCipher(os.urandom(32), "store", "session").open(*PLACE, CIPHER.seal(*PLACE, CONTENT))
    assert caught.value.key == CIPHER.key_ref


@pytest.mark.parametrize("field", ["alg", "ct", "kc", "key_ref", "nonce"])
def test_every_flipped_bit_of_every_field_is_told(field):
    envelope = CIPHER.seal(*PLACE, b"hello!")  # the last bits of its base64 are of no byte
    raw = envelope[field].encode()
    for position in range(len(raw)):
        for bit in range(8):
            flipped = bytearray(raw)
            flipped[position] ^= 1 << bit
            changed = {**envelope, field: flipped.decode("latin-1")}
            with pytest.raises((SealBroken, WrongKey)):
                CIPHER.open(*PLACE, changed)


@pytest.mark.parametrize("field", ["alg", "ct", "kc", "key_ref", "nonce"])
@pytest.mark.parametrize("value", [None, 7, "", "x", "QQ==", [], {}, "\ud800", "é" * 16, "A" * 16, "A" * 44])
def test_fields_of_any_kind_are_told(field, value):
    with pytest.raises((SealBroken, WrongKey)):
        CIPHER.open(*PLACE, {**CIPHER.seal(*PLACE, CONTENT), field: value})


@pytest.mark.parametrize("envelope", [None, [], "x", {}, {"alg": "aes-256-gcm"}, {"alg": "none", "ct": "QQ=="}])
def test_what_is_no_envelope_is_told(envelope):
    with pytest.raises(SealBroken):
        CIPHER.open(*PLACE, envelope)


def test_fields_that_are_missing_or_too_many_are_told():
    envelope = CIPHER.seal(*PLACE, CONTENT)
    for field in envelope:
        with pytest.raises(SealBroken):
            CIPHER.open(*PLACE, {name: value for name, value in envelope.items() if name != field})
    with pytest.raises(SealBroken):
        CIPHER.open(*PLACE, {**envelope, "more": ""})


def test_no_envelope_opens_under_two_keys():
    """The key is committed to before anything is decrypted: GCM alone would accept what is made for two keys."""
    other = SessionCipher(os.urandom(32), "store", "session")
    envelope = {**other.seal(*PLACE, CONTENT), "key_ref": CIPHER.key_ref}
    with pytest.raises(SealBroken, match="commits to another key"):
        CIPHER.open(*PLACE, envelope)


def test_places_that_cannot_be_are_refused():
    for place in [("user", -1, 0), ("user", 2**32, 0), ("user", 0, -1), ("user", 0, 2**64)]:
        with pytest.raises(BadArgument):
            CIPHER.seal(*place, CONTENT)
        with pytest.raises(SealBroken):
            CIPHER.open(*place, CIPHER.seal(*PLACE, CONTENT))


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_different_parts_are_never_joined_alike(some, others):
    assert (joined(*some) == joined(*others)) == (some == others)


@given(st.binary(max_size=100))
def test_bytes_have_one_text(raw):
    text = encode(raw)
    assert decode(text) == raw
    for number in range(1, min(len(text), 4) + 1):
        for char in "AQgw/+=9 \n":
            other = text[: len(text) - number] + char + text[len(text) - number + 1 :]
            with suppress(ValueError):
                assert decode(other) != raw or other == text


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(ExtraMissing, match="cryptography"):
        SessionCipher(KEY, "store", "session")


# From tests/fixtures/peer-store, session sess-25: what upstream wrote.
UPSTREAM = {
    "cipher": "aes-256-gcm",
    "key_id": "store-derived",
    "nonce": "f3f4257f4934d1bc5b067c29",
    "ciphertext_hash": "fdb560e9865cb83fb08bbc91a9fd35dd68bc2785ad876ee4e86214335e3b8539",
    "_ct_hex": "4e4fe30d595a54c2246bd381213e99691c54258c5e3c717d8d41eaede3babbcf"
    "6344631a13a302e48cfe671bc7393270986810cb17fe95588c",
}


def test_upstreams_envelope_tells_what_it_can():
    found = Foreign("aes-256-gcm", "store-derived", 41, intact=True)
    assert foreign(UPSTREAM) == found
    assert foreign({**UPSTREAM, "_ct_hex": UPSTREAM["_ct_hex"][:-1] + "d"}) == found._replace(intact=False)
    assert foreign({**UPSTREAM, "_ct_hex": "no"}) == ("aes-256-gcm", "store-derived", 0, False)
    assert foreign(CIPHER.seal(*PLACE, CONTENT)) is None
    with pytest.raises(KeyMissing, match="another program") as caught:
        CIPHER.open(*PLACE, UPSTREAM)
    assert caught.value.key == "store-derived"
