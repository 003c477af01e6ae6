"""JSON across the border: the compiled reader and writer against Python's own."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos._native import canonical_json, parse_json
from cyberos.errors import BadArgument

TEXT = st.text(st.characters(codec="utf-8"))
INTEGERS = st.integers(-(2**63), 2**64 - 1)
LEAVES = st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30)


def same(left, right):
    """Equality that tells 1 from 1.0 and True, and 0.0 from -0.0."""
    return repr(left) == repr(right)


def sorted_keys(value):
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_both_ways_give_back_the_same(value):
    canonical = canonical_json(value)
    assert same(json.loads(canonical), sorted_keys(value))
    assert same(parse_json(canonical), sorted_keys(value))
    assert same(parse_json(json.dumps(value, indent=1).encode()), sorted_keys(value))


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "9" * 4300])
def test_integers_of_any_length_are_read(digits):
    assert parse_json(digits.encode()) == int(digits)


def test_an_integer_that_the_interpreter_refuses_stays_text():
    assert parse_json(b"[" + b"9" * 4301 + b"]") == ["9" * 4301]


def nested(levels):
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": [1, {"b": math.nan}]}, ".a[1].b: a number that is not finite"),
        ({"a": 2**64}, ".a: an integer of more than 64 bits"),
        (-(2**63) - 1, "an integer of more than 64 bits"),
        ({1: 2}, "a key that is not a text"),
        ({"a": "\ud800"}, ".a: a text that is not Unicode"),
        ({"\ud800": 1}, "a text that is not Unicode"),
        (["x", b"y"], "[1]: a bytes"),
        (nested(129), "nesting beyond 128 levels"),
    ],
)
def test_what_is_not_json_is_refused_and_named(value, says):
    with pytest.raises(BadArgument) as raised:
        canonical_json(value)
    assert raised.value.message.startswith(f"not a JSON value: {says}")


def test_a_value_that_holds_itself_is_refused():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(BadArgument, match="nesting"):
        canonical_json(value)


def test_the_deepest_that_fits_is_taken():
    assert parse_json(canonical_json(nested(128))) == nested(128)


@pytest.mark.parametrize("text", [b"", b"{", b'{"a":1,"a":2}', b'"\\ud800"', b"\xff", b"1 2", b"1e999"])
def test_what_cannot_be_read_is_said(text):
    with pytest.raises(BadArgument, match="not JSON: "):
        parse_json(text)
