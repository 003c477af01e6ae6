"""Several processes at one store: killed at any moment, or writing as upstream does, or holding the lock."""

import fcntl
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import CorruptLog, StoreLocked

# Puts memories for ever, and says of each when it is acknowledged.
_PUTTER = """
import sys
from cyberos.core.writer import Writer
store, name, generation = sys.argv[1:]
writer = Writer(store, actor=name, patience=60)
number = 0
while True:
    path = f"memories/{name}/{number % 7}.md"
    receipt = writer.put(path, f"{name} {generation} {number}\\n")
    sys.stdout.write(f"{receipt.seq} {path} {receipt.sha256}\\n")
    sys.stdout.flush()
    number += 1
"""


def _verify(store: Path) -> None:
    report = AuditChainReader(store).native.verify()
    assert list(report.findings) == []


def test_every_acknowledged_row_survives_sigkill_at_random_moments(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    dice = random.Random(11)
    acknowledged: dict[int, tuple[str, str]] = {}
    for generation in range(4):
        outputs = [tmp_path / f"out-{generation}-{place}" for place in range(3)]
        putters = []
        for place, output in enumerate(outputs):
            with output.open("wb") as stream:
                command = [
                    sys.executable,
                    "-W",
                    "ignore",
                    "-c",
                    _PUTTER,
                    os.fspath(store),
                    f"p{place}",
                    str(generation),
                ]
                putters.append(subprocess.Popen(command, stdout=stream))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not all(output.stat().st_size for output in outputs):
            time.sleep(0.02)
        for putter in putters:
            time.sleep(dice.random() * 0.3)
            putter.send_signal(signal.SIGKILL)
        for putter in putters:
            assert putter.wait() == -signal.SIGKILL
        for output in outputs:
            for line in output.read_text().splitlines(keepends=True):
                if line.endswith("\n"):
                    number, path, sha = line.split()
                    acknowledged[int(number)] = (path, sha)
    assert len(acknowledged) > 12
    with Writer(store, patience=60) as writer:
        rows = {row["seq"]: row for row in writer.reader().iter_rows()}
        for seq, (path, sha) in acknowledged.items():
            assert (rows[seq]["path"], rows[seq]["content_sha256"]) == (path, sha)
        writer.put("memories/after.md", "the next writer goes on\n")
    _verify(store)


def _append_as_upstream_does(store: Path, count: int) -> None:
    """Appends rows with nothing but the format: no tip, only frames, HEAD, and the lock."""
    with (store / ".lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = store / "audit/current.binlog"
        data, at, seq, chain = log.read_bytes(), 0, 0, "0" * 64
        while at < len(data):
            length, _, seq, _ = struct.unpack_from(">IIQQ", data, at)
            chain = json.loads(data[at + 24 : at + 24 + length])["chain"]
            at += 24 + length
        with log.open("ab") as stream:
            for _ in range(count):
                seq += 1
                ts_ns = time.time_ns()
                row: dict[str, Any] = {
                    "actor": "upstream", "chain": "", "content_sha256": "", "extra": {"n": seq}, "op": "episode.logged",
                    "path": "memories/a.md", "prev_chain": chain, "ts_ns": ts_ns,
                }  # fmt: skip
                blank = json.dumps(row, sort_keys=True, separators=(",", ":")).encode()
                chain = row["chain"] = hashlib.sha256(blank + bytes.fromhex(chain)).hexdigest()
                payload = json.dumps(row, sort_keys=True, separators=(",", ":")).encode()
                stream.write(struct.pack(">IIQQ", len(payload), _crc32c(payload), seq, ts_ns) + payload)
        (store / "HEAD").write_bytes(struct.pack("<Q", seq))


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_writer_goes_on_behind_a_program_that_writes_as_upstream_does(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    with Writer(store, actor="ann") as writer:
        for number in range(5):
            writer.put("memories/a.md", f"{number}\n")
            _append_as_upstream_does(store, number)
        assert writer.head_seq() == 5 + 10
        peaks = (store / "audit/mmr/peaks.bin").read_bytes()
    _verify(store)
    assert struct.unpack_from(">Q", peaks, 21)[0] == 11, "the peaks take in what others wrote at the next commit"
    assert struct.unpack("<Q", (store / "HEAD").read_bytes())[0] == 15
    with Writer(store, actor="ann") as writer:
        assert writer.recovery()[0] == 4, "rows beyond the tip are accepted"


def _refused(store: Path, lease: bytes | None) -> StoreLocked:
    """What a writer is told while another holds the lock, having written `lease` or nothing."""
    with Writer(store, actor="first", patience=0.05) as writer:
        writer.put("memories/a.md", "a\n")
        with (store / ".lock").open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if lease is not None:
                lock.truncate(0)
                lock.write(lease)
                lock.flush()
            with pytest.raises(StoreLocked) as caught:
                writer.put("memories/a.md", "b\n")
    return caught.value


def _lease(**changed: Any) -> bytes:
    known = {"actor": "ann", "pid": os.getpid(), "host": os.uname().nodename, "since": "2026-11-30T15:28:48Z"}
    return json.dumps(known | changed).encode()


def test_a_locked_store_says_who_holds_it(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    error = _refused(store, _lease())
    who = f"ann, process {os.getpid()} on {os.uname().nodename}, since 2026-11-30T15:28:48Z"
    assert error.message == f"the store is locked by another process: {who}"
    assert (error.store, error.actor, error.pid) == (str(store), "ann", os.getpid())
    assert (error.host, error.since) == (os.uname().nodename, "2026-11-30T15:28:48Z")
    with Writer(store) as writer:
        assert writer.head_seq() == 1, "what was refused is not written"


@pytest.mark.parametrize(
    "lease",
    [None, b"", b'{"actor":"ann","pi', b"\xff" * 5000, _lease(pid=(1 << 31) - 1), b"[" * 4000],
    ids=["a program that says nothing", "empty", "half", "no text", "gone", "deep"],
)
def test_a_holder_that_is_not_known_is_not_named(tmp_path: Path, lease: bytes | None) -> None:
    error = _refused(stores.init(tmp_path / "store"), lease)
    assert error.message == "the store is locked by another process"
    assert (error.actor, error.pid, error.host, error.since) == (None, None, None, None)
    assert error.hints == ("try again when it has finished",)


def test_damage_is_refused_and_never_cut_off(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    with Writer(store) as writer:
        for number in range(10):
            writer.put("memories/a.md", f"{number}\n")
    log = store / "audit/current.binlog"
    whole = log.read_bytes()
    log.write_bytes(whole[:-10])
    with pytest.raises(CorruptLog):
        Writer(store)
    assert log.read_bytes() == whole[:-10], "an acknowledged row is missing: nothing is touched"
    log.write_bytes(whole + b"\0\0\1\0torn")
    with Writer(store) as writer:
        kept = writer.recovery()[2]
        assert kept is not None
        assert (store / "audit" / kept).read_bytes() == b"\0\0\1\0torn"
        assert log.read_bytes() == whole
