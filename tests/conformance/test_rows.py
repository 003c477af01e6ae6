"""The compiled reader and one of thirty lines of plain Python agree, on random logs and on upstream's own."""

import json
import tempfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.clock import from_datetime
from cyberos.core.reader import AuditChainReader
from cyberos.errors import CorruptLog, VersionNotFound
from tests.conformance.naive import Log, read_rows

FIXTURES = Path(__file__).parents[1] / "fixtures"

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
INTEGERS = st.integers(-(2**63), 2**64 - 1) | st.sampled_from([2**64, -(2**70), 10**30])
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
ROWS = st.tuples(TEXT, TEXT, st.dictionaries(TEXT, VALUES, max_size=4), TEXT, st.integers(0, 2**63 - 1))


def same(row, naive):
    """Whether a row of ours says what the naive reader says, under both names."""
    assert row["kind"] == row["op"] == naive["op"]
    assert row["payload"] is row["extra"]
    assert from_datetime(datetime.fromisoformat(row["ts"])) == naive["ts_ns"] // 1_000 * 1_000
    return {key: row[key] for key in naive} == naive and len(row) == len(naive) + 3


@given(st.lists(ROWS, max_size=12))
def test_random_logs_are_read_alike(rows):
    log = Log()
    for op, path, extra, actor, ts_ns in rows:
        log.add(op, path, extra, actor=actor, ts_ns=ts_ns)
    with tempfile.TemporaryDirectory() as folder:
        naive = read_rows(log.write(folder))
        reader = AuditChainReader(folder)
        read = list(reader.iter_rows())
        assert len(read) == len(rows)
        assert all(map(same, read, naive))
        assert list(reader.iter_rows(reverse=True)) == read[::-1]
        assert [reader.row(seq) for seq in range(1, len(rows) + 1)] == read
        assert not reader.damages


def test_upstreams_rows_are_what_it_says_they_are():
    reader = AuditChainReader(FIXTURES / "peer-store")
    with (FIXTURES / "peer-store.expected.jsonl").open(encoding="utf-8") as lines:
        expected = [json.loads(line) for line in lines]
    rows = list(reader.iter_rows())
    assert len(rows) == len(expected) > 400
    for row, wanted in zip(rows, expected, strict=True):
        del wanted["offset"]
        assert same(row, wanted)
    assert list(reader.iter_rows(reverse=True)) == rows[::-1]


@pytest.fixture(scope="module")
def long_log():
    log = Log()
    for number in range(10_000):
        log.add("note", f"memories/{number}.md")
    return log


def test_a_long_log_without_an_index_is_read_both_ways(long_log, tmp_path):
    reader = AuditChainReader(long_log.write(tmp_path))
    forward = [row["seq"] for row in reader.iter_rows()]
    assert forward == list(range(1, 10_001))
    assert [row["seq"] for row in reader.iter_rows(reverse=True)] == forward[::-1]
    assert [row["seq"] for row in reader.recent(3)] == [9_998, 9_999, 10_000]
    assert len(reader.recent(20_000)) == 10_000
    assert reader.row(7_777)["path"] == "memories/7776.md"


def test_damage_is_passed_over_and_said(long_log, tmp_path):
    store = long_log.write(tmp_path)
    data = bytearray(long_log.data)
    data[long_log.ends[4_999] + 30] ^= 1  # in the payload of row 5,001
    (store / "audit/current.binlog").write_bytes(data)
    for reverse in (False, True):
        reader = AuditChainReader(store)
        seqs = [row["seq"] for row in reader.iter_rows(reverse=reverse)]
        assert sorted(seqs) == [*range(1, 5_001), *range(5_002, 10_001)]
        assert [(damage.file, damage.offset, damage.seq) for damage in reader.damages] == [
            ("audit/current.binlog", long_log.ends[4_999], 5_001)
        ]
    reader = AuditChainReader(store)
    with pytest.raises(CorruptLog) as raised:
        reader.row(5_001)
    assert (raised.value.file, raised.value.offset, raised.value.seq) == (
        "audit/current.binlog",
        long_log.ends[4_999],
        5_001,
    )
    assert reader.row(5_002)["seq"] == 5_002


@pytest.mark.parametrize("seq", [-1, 0, 3, 2**64 - 1])
def test_a_row_that_is_not_there_is_said_so(seq, tmp_path):
    log = Log()
    log.add("note")
    log.add("note")
    with pytest.raises(VersionNotFound, match="the log ends with row 2"):
        AuditChainReader(log.write(tmp_path)).row(seq)


def test_a_reader_sees_what_is_appended(tmp_path):
    log = Log()
    log.add("note")
    store = log.write(tmp_path)
    reader = AuditChainReader(store)
    assert reader.last_seq() == 1
    log.add("other")
    log.write(store)
    assert (reader.last_seq(), reader.row(2)["kind"]) == (2, "other")


def test_an_empty_log_has_no_rows(tmp_path):
    reader = AuditChainReader(Log().write(tmp_path))
    assert (reader.last_seq(), list(reader.iter_rows()), reader.recent(5)) == (0, [], [])
