"""Logs with damage: history shows what is whole and says what is not; nothing crashes and nothing is written."""

import json
import random
import shutil

import pytest

from cyberos.core.history import walk
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from tests.conformance.naive import Log

X, Y = "memories/facts/x.md", "memories/facts/y.md"


def flip(file, at):
    data = bytearray(file.read_bytes())
    data[at] ^= 0x10
    file.write_bytes(data)


@pytest.fixture
def log():
    log = Log()
    for number in range(20):
        log.put(X if number % 2 else Y, b"%d" % number)
    return log


@pytest.mark.parametrize("seq", [2, 3, 10, 19])
def test_the_rows_around_a_damaged_one_are_shown(log, tmp_path, cli, seq):
    store = log.write(tmp_path)
    flip(store / "audit/current.binlog", log.ends[seq - 2] + 40)
    whole = [number for number in range(20, 0, -1) if number != seq]
    for path, expected in (
        (X, [number for number in whole if number % 2 == 0]),
        (Y, [number for number in whole if number % 2]),
        (None, whole),
    ):
        walked = walk(store, path)
        assert [entry.seq for entry in walked] == expected
        assert [(damage.file, damage.offset, damage.seq) for damage in walked.damages] == [
            ("audit/current.binlog", log.ends[seq - 2], seq)
        ]
    done = cli("--store", store, "history", X, "--json", "--limit=all")
    assert done.code == 0
    assert [entry["seq"] for entry in json.loads(done.out)] == [number for number in whole if number % 2 == 0]
    assert done.err.startswith(f"warning: audit/current.binlog is damaged at byte {log.ends[seq - 2]}: ")


def test_a_torn_tail_was_never_acknowledged_and_is_no_damage(log, tmp_path, cli):
    log.data = log.data[: log.ends[-2] + 50]
    store = log.write(tmp_path)
    walked = walk(store, None)
    assert [entry.seq for entry in walked] == list(range(19, 0, -1))
    assert walked.damages == []
    assert cli("--store", store, "history", Y).err == ""


def test_every_flipped_bit_of_a_log_is_survived(log, tmp_path):
    """Whatever is flipped: what is shown is true, and what is missing is said or is the log's last row."""
    store = log.write(tmp_path)
    expected = {entry.seq: (entry.kind, entry.actor, entry.body_hash) for entry in walk(store, None)}
    file, dice = store / "audit/current.binlog", random.Random(5)
    for _ in range(150):
        at = dice.randrange(len(log.data))
        data = bytearray(log.data)
        data[at] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        walked = walk(store, None)
        shown = {entry.seq: (entry.kind, entry.actor, entry.body_hash) for entry in walked}
        assert shown.items() <= expected.items(), at
        missing = expected.keys() - shown.keys()
        # Without a tip, nothing says that the end of a log was acknowledged.
        assert walked.damages or missing <= {20}, at
        by_path = [entry.seq for path in (X, Y) for entry in walk(store, path)]
        assert set(by_path) == set(shown), at


@pytest.fixture
def indexed(store):
    """A store of ours with an index, closed."""
    with Writer(store, actor="ann") as writer:
        for number in range(30):
            writer.put(X if number % 2 else Y, f"---\nn: {number}\n---\n{number}\n")
        writer.rebuild()
    return store


def test_an_index_that_points_at_damage_hides_nothing_else(indexed):
    before = [entry.seq for entry in walk(indexed, X)]
    assert before == list(range(30, 0, -2))
    assert AuditChainReader(indexed).native.layout()[1] == 30
    rows = (indexed / "audit/current.binlog").read_bytes()
    at = rows.index(b'"n"') if b'"n"' in rows else len(rows) // 2
    flip(indexed / "audit/current.binlog", at)
    damaged = AuditChainReader(indexed)
    list(damaged.iter_rows())
    lost = {damage.seq for damage in damaged.damages}
    assert len(lost) == 1
    for path in (X, Y):
        walked = walk(indexed, path)
        expected = set(range(2, 31, 2)) if path == X else set(range(1, 31, 2))
        assert {entry.seq for entry in walked} == expected - lost
        assert {damage.seq for damage in walked.damages} == lost & expected


def test_a_log_cut_short_of_what_was_acknowledged_is_said(indexed):
    file = indexed / "audit/current.binlog"
    file.write_bytes(file.read_bytes()[:-400])
    walked = walk(indexed, X)
    assert len(walked) in (14, 15)
    assert any("acknowledged" in damage.what for damage in walked.damages)


@pytest.mark.parametrize("folder", ["index", "audit/objects"])
def test_derived_files_may_go_and_bodies_may_be_damaged(indexed, folder):
    shutil.rmtree(indexed / folder, ignore_errors=True)
    walked = walk(indexed, X)
    assert [entry.seq for entry in walked] == list(range(30, 0, -2))
    diffs = {entry.body_diff_reason for entry in walked}
    assert diffs == ({None, "first"} if folder == "index" else {"unavailable", "first"})


def test_a_damaged_body_takes_nothing_but_its_own_diffs_away(indexed, cli):
    (pack,) = (indexed / "audit/objects").glob("*.pack")
    whole = pack.read_bytes()
    seen = set()
    for at in range(len(whole) // 2, len(whole) // 2 + 80, 5):  # every part of one stored body
        flip(pack, at)
        walked = walk(indexed, None)
        reasons = [entry.body_diff_reason for entry in walked]
        lost = [entry for entry in walked if entry.body_diff_reason in ("damaged", "unavailable")]
        findings = json.loads(cli("--store", indexed, "verify", "--deep", "--json").out)["findings"]
        assert (len(walked), reasons.count("first")) == (30, 2)
        assert len(lost) == 2 * len(findings) <= 2  # the version's own diff, and that of the next
        assert all(entry.frontmatter_diff is None for entry in lost)
        assert all((finding["check"], finding["file"]) == ("body", "audit/objects/001.pack") for finding in findings)
        for entry in lost:
            seen.add(entry.body_diff_reason)
            out = cli("--store", indexed, "history", entry.path, "--limit", "all").out
            assert out.count("(the content is damaged: `cyberos verify --deep` says where)") == reasons.count("damaged")
            shown = cli("--store", indexed, "show", f"{lost[-1].path}@{lost[-1].seq}")
            assert (shown.code, shown.out) == (7 if reasons.count("damaged") else 3, "")
        assert cli("--store", indexed, "verify").code == 0
        pack.write_bytes(whole)
    assert "damaged" in seen
