from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos import clock
from cyberos.clock import NS, At, parse_at, parse_time
from cyberos.errors import BadArgument

MOMENT = 1_779_177_642 * NS  # 2026-05-19T08:00:42Z
MAX_NS = 2**63 - 1


@pytest.mark.parametrize(
    ("age", "seconds"), [("0s", 0), ("45s", 45), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600)]
)
def test_an_age_counts_back_from_now(mock_time, age, seconds):
    assert parse_time(age) == mock_time.ns - seconds * NS


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2026-05-19T08:00:42Z", MOMENT),
        ("2026-05-19t08:00:42z", MOMENT),
        ("2026-05-19 08:00:42", MOMENT),
        (" 2026-05-19T08:00:42+00:00 ", MOMENT),
        ("2026-05-19T15:00:42+07:00", MOMENT),
        ("2026-05-19T15:00:42+0700", MOMENT),
        ("2026-05-19T08:00", MOMENT - 42 * NS),
        ("2026-05-19", MOMENT - (8 * 3_600 + 42) * NS),
        ("2026-05-19T08:00:42.5Z", MOMENT + NS // 2),
        ("2026-05-19T08:00:42,000000001Z", MOMENT + 1),
        ("1970-01-01", 0),
    ],
)
def test_iso_times_are_utc_unless_they_say_otherwise(text, ns):
    assert parse_time(text) == ns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h",
        "24",
        "-1d",
        "1.5h",
        "24 h",
        "1y",
        "yesterday",
        "2026-13-01",
        "2026-02-30",
        "2026-05-19T25:00",
        "2026-05-19T08:00:42.1234567890Z",
        "2026-05-19T08:00:42 Z",
        "2026-W20-2",
        "20260519T080042Z",
        "1969-12-31T23:59:59Z",
        "2263-01-01",
        "٢٤h",
        "2026-05-19T08:00:42Z\n2026",
    ],
)
def test_what_is_not_a_time_is_an_error_that_shows_one(text):
    with pytest.raises(BadArgument, match="time") as caught:
        parse_time(text)
    assert caught.value.hints or "1970" in caught.value.message


def test_an_age_from_before_1970_is_the_beginning(mock_time):
    mock_time.set("1970-01-02")
    assert parse_time("2w") == 0


@given(st.integers(0, MAX_NS))
def test_exact_text_reads_back_to_the_nanosecond(ns):
    assert parse_time(clock.iso_exact(ns)) == ns
    assert parse_time(clock.iso_seconds(ns)) == ns // NS * NS


@given(st.integers(0, MAX_NS), st.integers(-14 * 60, 14 * 60))
def test_every_zone_names_the_same_moment(ns, offset_minutes):
    there = clock.to_datetime(ns).astimezone(timezone(timedelta(minutes=offset_minutes)))
    assert parse_time(there.isoformat(timespec="microseconds")) == ns // 1_000 * 1_000


@given(st.integers(0, MAX_NS))
def test_datetimes_keep_microseconds(ns):
    assert clock.from_datetime(clock.to_datetime(ns)) == ns // 1_000 * 1_000


def test_a_datetime_without_a_zone_is_utc():
    assert clock.from_datetime(datetime(2026, 5, 19, 8, 0, 42)) == MOMENT


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1", At(seq=1)),
        ("4319", At(seq=4319)),
        ("20260519", At(seq=20_260_519)),
        ("2026-05-19", At(ts_ns=parse_time("2026-05-19"))),
    ],
)
def test_digits_alone_are_a_sequence_number(text, at):
    assert parse_at(text) == at


@pytest.mark.parametrize("text", ["0", "00", "-1", "1" * 5_000, "٣", "seq", ""])
def test_what_is_neither_is_an_error(text):
    with pytest.raises(BadArgument):
        parse_at(text)


def test_the_real_clock_runs():
    assert clock.iso_seconds(clock.now_ns()) >= "2026"
