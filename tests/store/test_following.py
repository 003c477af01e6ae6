"""Reading a log on from where it was left."""

import json
import random

import pytest

from cyberos.core import following
from cyberos.core.following import START, Cursor
from cyberos.core.reader import AuditChainReader
from cyberos.errors import BadArgument, CorruptLog, LogRewritten, UnknownFilter
from tests.conformance.naive import Log, read_rows

A, B = "memories/a.md", "memories/b.md"


def collect(store, after=START, **options):
    stretches = list(following.follow(AuditChainReader(store), after, **options))
    return [row for stretch in stretches for row in stretch.rows], stretches[-1].cursor


@pytest.fixture(scope="module")
def long_log():
    log, rng = Log(), random.Random(7)
    for number in range(3_000):
        extra = {"session_id": f"s-{number % 5}"} if number % 3 else {"n": number, "ü\n": [None, 1.5]}
        log.add(rng.choice(["note", "put", "äöü"]), f"memories/{number % 9}.md", extra, actor="ann\t")
    return log


def test_rows_are_what_the_plain_reader_says(long_log, tmp_path):
    store = long_log.write(tmp_path)
    found, cursor = collect(store, most=701)
    assert len(found) == 3_000
    for row, naive in zip(found, read_rows(store), strict=True):
        assert (row.seq, row.ts_ns, row.kind, row.actor) == tuple(naive[key] for key in ("seq", "ts_ns", "op", "actor"))
        assert (row.path, row.chain, row.prev_chain) == tuple(naive[key] for key in ("path", "chain", "prev_chain"))
        assert (row.content_sha256 or "", row.extra) == (naive["content_sha256"], naive["extra"])
    assert cursor == (3_000, found[-1].chain) == following.head(AuditChainReader(store))
    assert repr(found[0]).startswith("Row(seq=1, kind=")


@pytest.mark.parametrize("most", [1, 7, 1_000, 10_000])
def test_kinds_and_filters_keep_rows_and_the_cursor_passes_the_others(long_log, tmp_path, most):
    store = long_log.write(tmp_path)
    naive = read_rows(store)
    found, cursor = collect(store, kinds=["put", "never"], filters=[("session_id", "s-1")], most=most)
    expected = [row["seq"] for row in naive if row["op"] == "put" and row["extra"].get("session_id") == "s-1"]
    assert [row.seq for row in found] == expected
    assert cursor.seq == 3_000
    assert collect(store, kinds=["never"]) == ([], cursor)


def test_a_cursor_is_a_plain_value_from_which_another_process_goes_on(long_log, tmp_path):
    store = long_log.write(tmp_path)
    cursor, seen = START, []
    for last in (1, 2, 1_000, 2_999, 3_000):
        reader = AuditChainReader(store)
        rows = [row for stretch in following.follow(reader, cursor, last=last, most=400) for row in stretch.rows]
        seen += [row.seq for row in rows]
        kept = json.dumps(following.at(reader, last))
        cursor = Cursor(*json.loads(kept))
    assert seen == list(range(1, 3_001))
    assert collect(store, cursor) == ([], cursor)


def test_what_is_written_meanwhile_comes_with_the_next_call(writer):
    writer.put(A, "one\n")
    reader = AuditChainReader(writer.store_path)
    (first,) = following.follow(reader)
    assert [row.kind for row in first.rows] == ["put"]
    (none,) = following.follow(reader, first.cursor)
    assert (none.rows, none.cursor) == ([], first.cursor)
    writer.move(A, B)
    (second,) = following.follow(reader, first.cursor)
    assert [row.touches() for row in second.rows] == [[(A, "move_from"), (B, "move_to")]]


def test_an_empty_log_has_nothing_to_follow(store):
    (stretch,) = following.follow(AuditChainReader(store))
    assert stretch == ([], START, [])
    assert following.head(AuditChainReader(store)) == START


def test_a_log_that_is_another_one_is_noticed(writer, tmp_path):
    writer.put(A, "one\n")
    writer.put(A, "two\n")
    ours = following.head(AuditChainReader(writer.store_path))
    log = Log()
    log.put(A, b"one")
    shorter = AuditChainReader(log.write(tmp_path / "shorter"))
    log.put(A, b"two")
    log.put(A, b"three")
    other = AuditChainReader(log.write(tmp_path / "other"))
    for reader in (shorter, other):
        for look in (lambda reader: list(following.follow(reader, ours)), lambda reader: following.check(reader, ours)):
            with pytest.raises(LogRewritten, match="row 2, which was read before, is ") as raised:
                look(reader)
            assert (raised.value.size, raised.value.last_seq) == (2, reader.last_seq())
    following.check(AuditChainReader(writer.store_path), ours)


def test_damage_is_said_and_passed_over(long_log, tmp_path):
    store = long_log.write(tmp_path)
    cursors = [START, *(Cursor(row.seq, row.chain) for row in collect(store)[0])]
    data = bytearray(long_log.data)
    for row in (1_500, 1_501):
        data[long_log.ends[row - 2] + 40] ^= 1
    (store / "audit/current.binlog").write_bytes(data)
    stretches = list(following.follow(AuditChainReader(store), most=1_000))
    assert [row.seq for stretch in stretches for row in stretch.rows] == [*range(1, 1_500), *range(1_502, 3_001)]
    assert {damage.seq for stretch in stretches for damage in stretch.damages} == {1_500}
    assert [len(stretch.damages) for stretch in stretches] == [0, 1, 0]
    # Behind a damaged row, the next one says what it was; of the first of two nothing is left.
    following.check(AuditChainReader(store), cursors[1_501])
    with pytest.raises(CorruptLog):
        following.check(AuditChainReader(store), cursors[1_500])


def test_what_makes_no_sense_is_refused(store):
    reader = AuditChainReader(store)
    for options in (
        {"after": Cursor(1, "")},
        {"after": Cursor(0, "0" * 64)},
        {"after": Cursor(1, "x" * 64)},
        {"most": 0},
        {"kinds": "put"},
    ):
        with pytest.raises(BadArgument):
            list(following.follow(reader, **options))
    with pytest.raises(UnknownFilter):
        list(following.follow(reader, filters=[("colour", "red")]))


def test_a_row_is_read_after_its_batch_is_gone(writer):
    writer.put(A, "one\n", {"importance": 0.5})
    (stretch,) = following.follow(AuditChainReader(writer.store_path))
    (row,) = stretch.rows
    del stretch
    assert (row.path, row.actor, row.extra["kind"]) == (A, "ann", "memory")
    assert row.extra is not row.extra
    with pytest.raises(AttributeError):
        row.seq = 2  # type: ignore[misc]
