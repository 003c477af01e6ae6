"""What `redact_text` makes of a text, whatever is in it."""

import importlib.util
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos import _native
from cyberos.errors import BadArgument, ExtraMissing
from cyberos.redaction import Allow, redact_text, validators

CARD = "4111 1111 1111 1111"
# What makes texts in which the rules have something to do.
PIECES = st.sampled_from(
    [
        *(
            CARD,
            "4111111111111111",
            "ann@example.com",
            "bà@例え.テスト",
            "+84 912 345 678",
            "0912345678",
            "(415) 555-2671",
        ),
        *(
            "AKIA" + "Q3EGZ7R2W5T8Y1U4",
            "sk-" + "ant-api03-" + "aB3" * 12,
            "password=",
            "token: ",
            "hộ chiếu ",
            "MST ",
            "phone ",
        ),
        *(
            "192.168.1.20",
            "fe80::1",
            "postgres://u:p@h/x",
            "-----BEGIN PRIVATE KEY-----\n",
            "MIIEvQIBADANBgkqh",
            "DE89370400440532013000",
        ),
        *(
            "\u200b",
            "\u00a0",
            "４",
            "é",
            "e\u0301",
            "𝟏",
            "🎉",
            "<EMAIL>",
            "<",
            ">",
            "\n",
            " ",
            ".",
            "-",
            ":",
            '"',
            "1",
            "@",
            "=",
            "\0",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=14).map("".join))


@given(TEXTS)
def test_doing_it_again_changes_nothing_and_nothing_is_left(text):
    done = redact_text(text)
    assert redact_text(done.text) == (done.text, {}, 0)
    left = _native.redaction_candidates(done.text)
    assert not [value for _, check, _, _, value in left if validators.confirms(check, value)]
    assert (done.text == text) == (done.total == 0)


@given(TEXTS)
def test_candidates_lie_in_the_text_and_are_how_it_reads(text):
    tags = set(_native.redaction_tags())
    last = 0
    for tag, _, start, end, value in _native.redaction_candidates(text):
        assert tag in tags
        assert last <= start < end <= len(text)
        last = start
        if text.isascii():
            assert text[start:end] == value


@given(TEXTS, TEXTS)
def test_what_is_not_found_stays_as_it_is(before, behind):
    text = f"{before} \n\n{CARD}\n\n {behind}"
    done = redact_text(text)
    # Between the tags the text is as it was, and in its order.
    at = 0
    for part in re.split("<(?:" + "|".join(_native.redaction_tags()) + ")>", done.text):
        at = text.index(part, at) + len(part)
    assert done.text.count(CARD) < text.count(CARD)


def test_of_two_that_overlap_the_more_severe_names_both():
    done = redact_text("postgres://ann:sesame@10.1.2.3:5432/db ann@example.com")
    assert done.text == "<CONNECTION_STRING> <EMAIL>"
    assert done.counts == {"CONNECTION_STRING": 1, "EMAIL": 1}
    assert done.total == 2


def test_a_value_that_only_a_replacement_lays_bare_is_found():
    # An address takes no more than 64 characters before its sign: what is left of it then ends a key.
    text = "AKIA" + "Q3EGZ7R2W5T8Y1U4" + "x" * 64 + "@example.com"
    assert [value for _, _, _, _, value in _native.redaction_candidates(text)] == [text[20:]]
    assert redact_text(text) == ("<AWS_KEY><EMAIL>", {"AWS_KEY": 1, "EMAIL": 1}, 0)


def test_what_is_allowed_stays():
    text = f"ann@example.com bob@example.com {CARD}"
    assert redact_text(text, Allow(["ann@example.com"])) == (
        "ann@example.com <EMAIL> <CARD>",
        {"CARD": 1, "EMAIL": 1},
        1,
    )
    allow = Allow(patterns=[r"[a-z]+@example\.com"])
    assert redact_text(text, allow) == ("ann@example.com bob@example.com <CARD>", {"CARD": 1}, 2)
    assert redact_text(text, Allow(patterns=["ann@"])).text == "<EMAIL> <EMAIL> <CARD>", "a part is not all of it"


def test_an_entry_counts_however_the_text_spells_it():
    assert redact_text("ａｎｎ@example.com", Allow(["ann@example.com"])).allowed == 1
    assert redact_text("ａｎｎ@example.com", Allow(["ａｎｎ@example.com"])).allowed == 1


def test_what_is_allowed_does_not_hide_what_is_not():
    text = "postgres://ann:sesame@db.example.com/x"
    assert redact_text(text, Allow(["sesame@db.example.com"])).text == "<CONNECTION_STRING>"


@pytest.mark.parametrize("entry", ["", "  ", "x" * 1_001])
def test_an_entry_that_cannot_be_meant(entry):
    for allow in ({"exact": [entry]}, {"patterns": [entry]}):
        with pytest.raises(BadArgument):
            Allow(**allow)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<x>.)(?P<x>.)", ".*", r"[\s\S]+", r"(?s).{3,}", ".*|x"])
def test_an_expression_that_cannot_be_meant(pattern):
    with pytest.raises(BadArgument, match=r"regular expression|would allow everything"):
        Allow(patterns=[pattern])


def test_a_check_that_fails_or_is_not_known_lets_nothing_through(monkeypatch):
    text = "order 4111 1111 1111 1111, 123-45-6789, DE89370400440532013000, 0912 345 678"
    tags = redact_text(text).counts
    assert tags == {"CARD": 1, "IBAN": 1, "PHONE": 1, "SSN": 1}

    def broken(name):
        raise ValueError(name)

    monkeypatch.setattr(validators, "_module", broken)
    assert redact_text(text).counts == tags
    assert validators.confirms("a check of tomorrow", "x")


@pytest.mark.parametrize("missing", ["phonenumbers", "stdnum"])
def test_without_the_validators_nothing_is_taken_for_redacted(monkeypatch, missing):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    validators.require.cache_clear()
    with pytest.raises(ExtraMissing) as caught:
        redact_text("nothing to see")
    assert caught.value.extra == "redact"
    assert caught.value.hints == ("pip install 'cyberos[redact]'",)


def test_a_text_that_is_not_valid_unicode():
    with pytest.raises(BadArgument, match="lone surrogate at character 2"):
        redact_text("ab\ud800cd")


def test_nothing_is_nothing():
    assert redact_text("") == ("", {}, 0)


def test_a_call_asks_about_each_value_once_and_remembers_no_answer(monkeypatch):
    asked = []
    confirms = validators.confirms

    def listening(check, value):
        asked.append((check, value))
        return confirms(check, value)

    monkeypatch.setattr(validators, "confirms", listening)
    # Nobody has the first number, which is therefore proposed again when the address is replaced.
    text = "(555) 555-0100 and (555) 555-0100 and ann@example.com"
    assert redact_text(text).counts == {"EMAIL": 1}
    once = list(asked)
    assert sorted(once, key=str) == [("phone_US", "(555) 555-0100"), (None, "ann@example.com")]
    redact_text(text)
    assert asked == once * 2
