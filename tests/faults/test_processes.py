"""Several processes at one store: killed at any moment, or writing as upstream does, or holding the lock."""

import fcntl
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import CorruptLog, StoreLocked
from tests.conformance.naive import read_rows
from tests.faults import upstream

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
    sys.stdout.write(f"{receipt.seq} {path} {receipt.content_sha256}\\n")
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


def test_a_writer_goes_on_behind_a_program_that_writes_as_upstream_does(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    with Writer(store, actor="ann") as writer:
        for number in range(5):
            writer.put("memories/a.md", f"{number}\n")
            upstream.append(store, number)
        assert writer.head_seq() == 5 + 10
        peaks = (store / "audit/mmr/peaks.bin").read_bytes()
    _verify(store)
    assert struct.unpack_from(">Q", peaks, 21)[0] == 11, "the peaks take in what others wrote at the next commit"
    assert struct.unpack("<Q", (store / "HEAD").read_bytes())[0] == 15
    with Writer(store, actor="ann") as writer:
        assert writer.recovery()[0] == 4, "rows beyond the tip are accepted"


def test_two_writers_of_ours_and_one_of_upstreams_at_once_lose_nothing(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")

    def put(name: str) -> dict[int, tuple[str, str]]:
        with Writer(store, actor=name, patience=60) as writer:
            receipts = [writer.put(f"memories/{name}/{number % 7}.md", f"{name} {number}\n") for number in range(60)]
        return {receipt.seq or 0: (name, receipt.content_sha256 or "") for receipt in receipts}

    command = [sys.executable, "-W", "ignore", "-m", "tests.faults.upstream", os.fspath(store)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, cwd=Path(__file__).parents[2], stdin=pipe, stdout=pipe, text=True) as other,
        ThreadPoolExecutor(2) as threads,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        theirs = {int(other.stdout.readline())}  # from here on it writes until its input ends
        acknowledged = {seq: what for written in threads.map(put, ("p0", "p1")) for seq, what in written.items()}
        other.stdin.close()
        theirs |= {int(number) for number in other.stdout.read().split()}
    assert other.returncode == 0
    rows = {row["seq"]: row for row in read_rows(store)}
    assert len(acknowledged) == 120
    assert {seq: (rows[seq]["actor"], rows[seq]["content_sha256"]) for seq in acknowledged} == acknowledged
    assert {seq for seq, row in rows.items() if row["actor"] == upstream.ACTOR} == theirs
    assert set(rows) == theirs | set(acknowledged)
    turns = sum(rows[seq]["actor"] != rows[seq + 1]["actor"] for seq in range(1, len(rows)))
    assert turns > 10, "they wrote at once"
    with Writer(store) as writer:
        writer.put("memories/after.md", "the next writer goes on\n")
    _verify(store)


def test_another_program_may_be_the_first_to_write_to_a_store_of_ours(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    assert upstream.append(store, 2) == [1, 2]
    _verify(store)
    with Writer(store) as writer:
        assert writer.put("memories/a.md", "a\n").seq == 3
    _verify(store)


def test_a_writer_waits_for_the_lock(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    with (
        Writer(store, patience=60) as writer,
        (store / ".lock").open("r+b") as lock,
        ThreadPoolExecutor(1) as threads,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threads.submit(writer.put, "memories/a.md", "a\n")
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.1)
        assert writer.head_seq() == 0
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waiting.result(timeout=60).seq == 1


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
