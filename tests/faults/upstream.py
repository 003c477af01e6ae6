"""A program that writes as upstream does: it knows the frame, the chain, HEAD and the lock, and nothing else of ours.

`python -m tests.faults.upstream STORE` appends rows, one or two at a time, until its standard input ends, and prints
the number of each.
"""

import fcntl
import hashlib
import json
import select
import struct
import sys
import time
from pathlib import Path
from typing import Any

from tests.conformance.naive import HEADER, ZERO, canonical, crc32c

ACTOR = "upstream"


def append(store: Path, count: int) -> list[int]:
    """Appends rows under the lock; returns their numbers."""
    with (store / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = store / "audit/current.binlog"
        data, at, seq, chain = log.read_bytes(), 0, 0, ZERO
        while at < len(data):
            length, _, seq, _ = HEADER.unpack_from(data, at)
            chain = json.loads(data[at + HEADER.size : at + HEADER.size + length])["chain"]
            at += HEADER.size + length
        numbers = range(seq + 1, seq + 1 + count)
        with log.open("ab") as stream:
            for number in numbers:
                ts_ns = time.time_ns()
                row: dict[str, Any] = {
                    "actor": ACTOR, "chain": "", "content_sha256": "", "extra": {"n": number}, "op": "episode.logged",
                    "path": "memories/a.md", "prev_chain": chain, "ts_ns": ts_ns,
                }  # fmt: skip
                chain = row["chain"] = hashlib.sha256(canonical(row) + bytes.fromhex(chain)).hexdigest()
                payload = canonical(row)
                stream.write(HEADER.pack(len(payload), crc32c(payload), number, ts_ns) + payload)
        (store / "HEAD").write_bytes(struct.pack("<Q", numbers[-1] if numbers else seq))
        return list(numbers)


def main(store: Path) -> None:
    """Appends until there is nothing more to read, which it waits for between two rounds."""
    turn = 0
    while not select.select([sys.stdin], [], [], 0.003)[0]:
        turn += 1
        for number in append(store, 1 + turn % 2):
            sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
