"""`cyberos verify`: what it finds, what it merely notes, and that it changes nothing."""

import json
import re
import shutil
import struct
from pathlib import Path

import pytest

from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from tests.conformance.naive import HEADER, Log, canonical, crc32c

PEER = Path(__file__).parents[2] / "fixtures" / "peer-store"
X = "memories/facts/x.md"


@pytest.fixture
def verify(cli):
    def verify(store, *args):
        done = cli("--store", store, "verify", "--json", *args)
        assert done.err == ""
        result = json.loads(done.out)
        assert result["ok"] == (done.code == 0) == (not result["findings"])
        assert done.code in (0, 1)
        return result

    return verify


@pytest.fixture
def peer(tmp_path):
    return Path(shutil.copytree(PEER, tmp_path / "peer"))


def places(found):
    return [(finding["check"], finding["seq"]) for finding in found]


def test_upstreams_store_is_whole_and_its_peaks_recompute(verify, peer, cli):
    result = verify(peer, "--deep")
    assert (result["rows"], result["last_seq"], result["segments"], result["bodies"]) == (424, 424, 1, 0)
    assert result["bytes"] == (peer / "audit/current.binlog").stat().st_size
    assert result["notes"] == []
    out = cli("--store", peer, "verify").out
    assert out.startswith("ok: 424 rows in 1 segment, ")
    assert f"Merkle root {result['root']}" in out


def test_our_store_is_whole_and_deep_hashes_every_body(verify, store):
    with Writer(store, actor="ann") as writer:
        for number in range(5):
            writer.put(X, f"{number}\n")
        writer.put("memories/facts/gone.md", "secret\n")
        writer.delete("memories/facts/gone.md", mode="purge", reason="why")
    result = verify(store, "--deep")
    assert (result["rows"], result["bodies"], result["purged"]) == (7, 5, 1)
    assert verify(store)["bodies"] is None
    assert result["chain"] == AuditChainReader(store).row(7)["chain"]


def test_an_empty_store_is_whole(verify, store):
    assert verify(store)["last_seq"] == 0


def log_of(rows):
    log = Log()
    for number in range(rows):
        log.put(X, b"%d" % number)
    return log


def test_a_flipped_bit_is_found_where_it_is(verify, tmp_path, cli):
    log = log_of(20)
    store = log.write(tmp_path)
    data = bytearray(log.data)
    data[log.ends[9] + 50] ^= 1
    (store / "audit/current.binlog").write_bytes(data)
    result = verify(store)
    assert places(result["findings"]) == [("frame", 11)]
    assert result["findings"][0]["offset"] == log.ends[9]
    assert (result["rows"], result["root"]) == (19, None)
    done = cli("--store", store, "verify")
    assert done.code == 1
    assert f"frame: audit/current.binlog at byte {log.ends[9]} (row 11): " in done.out


def test_a_torn_tail_is_a_note(verify, tmp_path):
    log = log_of(20)
    log.data = log.data[:-10]
    result = verify(log.write(tmp_path))
    assert (result["ok"], result["rows"]) == (True, 19)
    assert [note["check"] for note in result["notes"]] == ["torn_tail", "head", "peaks"]


def rewritten(log, seq, change):
    """The log's bytes with one row changed and framed again with a right checksum."""
    start = log.ends[seq - 2]
    payload = log.data[start + HEADER.size : log.ends[seq - 1]]
    _, _, _, ts_ns = HEADER.unpack_from(log.data, start)
    changed = change(payload)
    frame = HEADER.pack(len(changed), crc32c(changed), seq, ts_ns) + changed
    return log.data[:start] + frame + log.data[log.ends[seq - 1] :]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # An actor that is not who it was: the row's own hash does not hold.
        (lambda payload: payload.replace(b'"actor":"stephen"', b'"actor":"mallory"'), [("chain", 10)]),
        # The hash of another row in its place: that hash does not hold, and the next row continues another.
        (
            lambda payload: re.sub(b'"chain":"[0-9a-f]+"', b'"chain":"%s"' % (b"a" * 64), payload),
            [("chain", 10), ("link", 11)],
        ),
        (lambda payload: payload.replace(b'{"actor"', b'{ "actor"'), [("canonical", 10)]),
        (lambda payload: payload.replace(b'"kind":"fact"', b'"kind":"fact","kind":"fact"'), [("canonical", 10)]),
        (lambda payload: canonical({"nothing": 1}), [("canonical", 10)]),
    ],
)
def test_a_changed_row_with_a_right_checksum_is_found(verify, tmp_path, change, expected):
    log = log_of(20)
    store = log.write(tmp_path)
    (store / "audit/current.binlog").write_bytes(rewritten(log, 10, change))
    assert places(verify(store)["findings"]) == expected


def test_a_row_that_was_written_again_whole_breaks_the_link_behind_it(verify, tmp_path):
    log, other = log_of(20), log_of(9)
    other.put(X, b"other")
    store = log.write(tmp_path)
    forged = other.data[other.ends[8] :]
    (store / "audit/current.binlog").write_bytes(log.data[: log.ends[8]] + forged + log.data[log.ends[9] :])
    assert places(verify(store)["findings"]) == [("link", 11)]


def test_a_removed_row_is_found(verify, tmp_path):
    log = log_of(20)
    store = log.write(tmp_path)
    (store / "audit/current.binlog").write_bytes(log.data[: log.ends[8]] + log.data[log.ends[9] :])
    assert verify(store)["findings"]


def test_a_log_without_its_acknowledged_end_is_found(verify, store):
    with Writer(store, actor="ann") as writer:
        for number in range(5):
            writer.put(X, f"{number}\n")
    file = store / "audit/current.binlog"
    file.write_bytes(file.read_bytes()[:-100])
    assert "tip" in {finding["check"] for finding in verify(store)["findings"]}


def test_a_log_of_ours_without_a_tip_does_not_verify(verify, store):
    with Writer(store, actor="ann") as writer:
        for number in range(3):
            writer.put(X, f"{number}\n")
    (store / "audit/tip").unlink()
    assert [finding["check"] for finding in verify(store)["findings"]] == ["tip"]
    file = store / "audit/current.binlog"
    file.write_bytes(file.read_bytes()[:-10])
    assert [finding["check"] for finding in verify(store)["findings"]] == ["missing", "tip"]


def test_head_and_peaks_are_compared(verify, peer):
    (peer / "HEAD").write_bytes(struct.pack("<Q", 425))
    found = verify(peer)["findings"]
    assert [(finding["check"], finding["file"], finding["seq"]) for finding in found] == [("missing", "HEAD", 425)]
    (peer / "HEAD").write_bytes(struct.pack("<Q", 400))
    assert [note["check"] for note in verify(peer)["notes"]] == ["head"]
    peaks = peer / "audit/mmr/peaks.bin"
    data = bytearray(peaks.read_bytes())
    data[-1] ^= 1
    peaks.write_bytes(data)
    assert [finding["check"] for finding in verify(peer)["findings"]] == ["peaks"]
    peaks.unlink()
    assert [note["check"] for note in verify(peer)["notes"]] == ["head", "peaks"]


def test_nothing_is_written(verify, peer):
    before = {file: file.read_bytes() for file in peer.rglob("*") if file.is_file()}
    verify(peer, "--deep")
    assert {file: file.read_bytes() for file in peer.rglob("*") if file.is_file()} == before


def test_progress_is_told_and_can_stop_the_work(tmp_path, monkeypatch):
    store = log_of(3_000).write(tmp_path)
    reader = AuditChainReader(store)
    told = []

    def stop(what, done):
        told.append((what, done))
        raise KeyboardInterrupt

    # Told every tenth of a second: a log this short may be done before.
    for _ in range(3):
        try:
            assert reader.native.verify(stop).rows == 3_000
        except KeyboardInterrupt:
            assert told[-1][0] == "rows"
