"""Proofs that a row is in a log, as C2SP writes them (https://c2sp.org/tlog-proof): they need no store to be checked.

A proof is a text: a heading, a line `extra` with what the row says, the row's index counted from 0, the hashes of the
inclusion proof, an empty line, and a signed head. `extra` is JSON: `payload`, the row's bytes as they are in the log,
and `body`, the memory's content in base64 where it was asked for.
"""

import base64
import json
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cyberos import _native
from cyberos.core import bodies, checkpoints
from cyberos.core.checkpoints import Checkpoint
from cyberos.core.reader import AuditChainReader
from cyberos.crypto.signing import Verifier
from cyberos.errors import BadNote, BadProof, LogRewritten

HEADING: Final = "c2sp.org/tlog-proof@v1"
_HASH: Final = 32
_MOST_HASHES: Final = 64
LONGEST: Final = 64 << 20


class Proof(NamedTuple):
    """What a proof says; nothing is checked yet. `path` are 32-byte hashes from the leaf's sibling upwards."""

    seq: int
    payload: bytes
    body: bytes | None
    path: list[bytes]
    note: bytes


class Proved(NamedTuple):
    """What a proof has proved: that the log `origin` had this row when its signed head of `size` rows was made."""

    origin: str
    size: int
    seq: int
    row: dict[str, Any]
    body: bytes | None
    key: str


def make(reader: AuditChainReader, seq: int, checkpoint: Checkpoint, body: bytes | None = None) -> Proof:
    """Returns the proof that row `seq` is under a signed head; raises `LogRewritten` where the log contradicts that."""
    payload = reader.native.payload(seq)
    last = reader.last_seq()
    if checkpoint.size <= last:
        path = reader.native.inclusion_proof(seq, checkpoint.size)
        if _native.includes(seq, checkpoint.size, payload, path, checkpoint.root):
            return Proof(seq, payload, body, path, checkpoint.note)
    what = checkpoints.contradiction(checkpoint, last)
    raise LogRewritten(what, origin=checkpoint.origin, size=checkpoint.size, last_seq=last)


def encode(proof: Proof) -> bytes:
    """Returns a proof as it is written to a file."""
    extra: dict[str, Any] = {"payload": proof.payload.decode()}
    if proof.body is not None:
        extra["body"] = _base64(proof.body)
    packed = _base64(json.dumps(extra, ensure_ascii=False).encode())
    hashes = "".join(f"{_base64(sibling)}\n" for sibling in proof.path)
    return f"{HEADING}\nextra {packed}\nindex {proof.seq - 1}\n{hashes}\n".encode() + proof.note


def decode(content: bytes) -> Proof:
    """Returns what a file says; raises `BadProof` where it is no proof."""
    head, blank, note = content.partition(b"\n\n")
    try:
        heading, extra, index, *hashes = head.decode("ascii").split("\n")
    except ValueError:
        raise BadProof("it is no proof, or is cut off") from None
    if heading != HEADING:
        raise BadProof(f"it is no proof: it does not begin with {HEADING}")
    if not blank or not re.fullmatch(r"index (0|[1-9][0-9]{0,17})", index) or len(hashes) > _MOST_HASHES:
        raise BadProof("it is cut off or malformed")
    said = _extra(extra)
    path = [_bytes(line) for line in hashes]
    if any(len(sibling) != _HASH for sibling in path):
        raise BadProof("a hash in it is malformed")
    body = said.get("body")
    return Proof(int(index[6:]) + 1, said["payload"].encode(), None if body is None else _bytes(body), path, note)


def verify(content: bytes, verifiers: Iterable[Verifier]) -> Proved:
    """Checks a proof to the end; raises `BadProof` or `BadNote`. `verifiers` are the public keys that are trusted."""
    proof = decode(content)
    try:
        checkpoint, verifier = checkpoints.verified(proof.note, verifiers)
    except BadNote as error:
        raise BadNote(f"the signed head in the proof cannot be trusted: {error.message}", hint=error.hints) from None
    if not _native.includes(proof.seq, checkpoint.size, proof.payload, proof.path, checkpoint.root):
        raise BadProof("the row is not under the signed head", seq=proof.seq)
    row = json.loads(proof.payload)  # what is under the head was written by a log, and is JSON
    if proof.body is not None and bodies.sha256_of(proof.body) != row["content_sha256"]:
        raise BadProof("the content is not that of the row", seq=proof.seq)
    return Proved(checkpoint.origin, checkpoint.size, proof.seq, row, proof.body, str(verifier))


def _extra(line: str) -> dict[str, str]:
    try:
        said = json.loads(_bytes(line.removeprefix("extra ")))
    except (ValueError, RecursionError):
        said = None
    texts = isinstance(said, dict) and all(isinstance(value, str) for value in said.values())
    if not line.startswith("extra ") or not texts or "payload" not in said:
        raise BadProof("it does not carry the row")
    found: dict[str, str] = said
    return found


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise BadProof("it is cut off or malformed") from None
