"""The log's format once more, in plain Python and as plainly as can be: what the compiled reader is compared with."""

import hashlib
import json
import struct
from pathlib import Path

HEADER = struct.Struct(">IIQQ")
ZERO = "0" * 64


def _table():
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        yield crc


TABLE = list(_table())


def crc32c(data):
    """Castagnoli's CRC, byte by byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[crc & 0xFF ^ byte]
    return crc ^ 0xFFFFFFFF


def canonical(value):
    """Canonical JSON, for values without floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def read_frames(data, seq=1):
    """Yields (seq, ts_ns, payload) of one segment up to the first frame that is not whole."""
    at = 0
    while at + HEADER.size <= len(data):
        length, crc, number, ts_ns = HEADER.unpack_from(data, at)
        payload = data[at + HEADER.size : at + HEADER.size + length]
        if number != seq or len(payload) < length or crc32c(payload) != crc:
            return
        yield number, ts_ns, payload
        at += HEADER.size + length
        seq += 1


def read_rows(store):
    """Returns the rows of a store with one segment, checking every link."""
    rows, chain = [], ZERO
    for seq, ts_ns, payload in read_frames(Path(store, "audit/current.binlog").read_bytes()):
        row = json.loads(payload)
        assert row["ts_ns"] == ts_ns
        assert row["prev_chain"] == chain
        bare = payload.replace(b'"chain":"%s"' % row["chain"].encode(), b'"chain":""', 1)
        chain = hashlib.sha256(bare + bytes.fromhex(row["prev_chain"])).hexdigest()
        assert row["chain"] == chain
        rows.append({"seq": seq, **row})
    return rows


class Log:
    """Builds the bytes of a log, row by row."""

    def __init__(self):
        self.data, self.chain, self.seq, self.ends = b"", ZERO, 0, []

    def add(self, op, path="", extra=None, *, actor="stephen", sha="", ts_ns=None):
        """Appends a row and returns its number."""
        self.seq += 1
        ts_ns = 1_800_000_000_000_000_000 + self.seq * 1_000_000_000 if ts_ns is None else ts_ns
        row = {"actor": actor, "chain": "", "content_sha256": sha, "extra": extra or {}, "op": op, "path": path}
        row |= {"prev_chain": self.chain, "ts_ns": ts_ns}
        row["chain"] = self.chain = hashlib.sha256(canonical(row) + bytes.fromhex(self.chain)).hexdigest()
        payload = canonical(row)
        self.data += HEADER.pack(len(payload), crc32c(payload), self.seq, ts_ns) + payload
        self.ends.append(len(self.data))
        return self.seq

    def put(self, path, body, **options):
        """Appends a put of a body that is not kept anywhere."""
        return self.add("put", path, {"kind": "fact"}, sha=hashlib.sha256(body).hexdigest(), **options)

    def write(self, store):
        """Writes a store that holds this log and nothing else."""
        audit = Path(store, "audit")
        audit.mkdir(parents=True, exist_ok=True)
        (audit / "current.binlog").write_bytes(self.data)
        return Path(store)
