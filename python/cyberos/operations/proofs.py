"""Proving a row to somebody who has no store, and checking such a proof."""

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core import checkpoints, history, proofs
from cyberos.core.reader import AuditChainReader
from cyberos.crypto import keys, retired
from cyberos.crypto.keys import Keys
from cyberos.crypto.signing import Verifier
from cyberos.errors import BadArgument, BadNote, BadProof, VersionNotFound
from cyberos.operations import checkpoints as signed


class Proof(NamedTuple):
    """A proof as a file, and what it is about."""

    path: str
    seq: int
    origin: str
    size: int
    content: bytes


class Proved(NamedTuple):
    """What a proof proves: the log `origin` had row `seq` when its head of `size` rows was signed with `key`."""

    origin: str
    size: int
    seq: int
    at: str
    kind: str
    path: str
    actor: str
    content_sha256: str
    row: dict[str, Any]
    body: bytes | None
    key: str


def prove(
    store: str, path: str, at: clock.At, held: Keys | None, reference: str = keys.DEFAULT, *, with_body: bool = False
) -> Proof:
    """Proves the row that wrote a version of a memory, or row `at.seq` itself where it is about that memory.

    The newest signed head in the store that has the row is taken; where there is none, one is made. Without keys
    (`held` is `None`) none can be made: then `VersionNotFound` is raised.
    """
    reader = AuditChainReader(store)
    seq, body = _row_of(reader, path, at, with_body=with_body)
    origin = checkpoints.origin_of(store)
    heads = [head for head in checkpoints.stored(store) if head.origin == origin and head.size >= seq]
    ours = [head for head in heads if held is not None and _is_ours(head.note, origin, held)]
    if not heads:
        if held is None:
            raise VersionNotFound(
                f"no signed head has row {seq} yet",
                path=path,
                seq=seq,
                hint="its owner makes one: cyberos checkpoint create",
            )
        signed.create(store, held, reference)
        ours = [head for head in checkpoints.stored(store) if head.size >= seq]
    head = (ours or heads)[-1]
    return Proof(path, seq, origin, head.size, proofs.encode(proofs.make(reader, seq, head, body)))


def verify(content: bytes, held: Keys, *, named: Sequence[str] = (), file: str | None = None) -> Proved:
    """Checks a proof; needs no store. `named` are the public keys that are trusted, else those of this user's keys."""
    try:
        proof = proofs.decode(content)
        origin = checkpoints.parse(proof.note).origin
        proved = proofs.verify(content, signed.trusted(held, origin, named))
    except (BadNote, BadProof) as error:
        error.file = error.file or file
        raise
    row = proved.row
    return Proved(
        proved.origin, proved.size, proved.seq, clock.iso_exact(row["ts_ns"]), row["op"], row["path"], row["actor"],
        row["content_sha256"], row, proved.body, proved.key,
    )  # fmt: skip


class Consistency(NamedTuple):
    """That the log of `size` rows begins with that of `from_size`: their roots in hexadecimal, and the proof's hashes.

    `hashes` are in base64, in the order of RFC 6962.
    """

    from_size: int
    size: int
    from_root: str
    root: str
    hashes: list[str]


def consistency(store: str, old: int, new: int | None = None, *, reader: AuditChainReader | None = None) -> Consistency:
    """Proves that the log of `new` rows (`None`: of all there are) continues that of `old` rows.

    Raises `VersionNotFound` for rows that are not written yet, `BadArgument` where `new` is less than `old`.
    """
    reader = reader or AuditChainReader(store)
    last = reader.last_seq()
    size = last if new is None else new
    if max(old, size) > last:
        raise VersionNotFound(f"there are no {max(old, size)} rows: the log ends with row {last}", seq=max(old, size))
    if not 0 <= old <= size:
        raise BadArgument(f"a log of {size} rows does not begin with {old} rows", argument="from")
    native = reader.native
    hashes = native.consistency_proof(old, size) if old else []
    texts = [base64.b64encode(each).decode() for each in hashes]
    return Consistency(old, size, native.root(old).hex(), native.root(size).hex(), texts)


def _row_of(reader: AuditChainReader, path: str, at: clock.At, *, with_body: bool) -> tuple[int, bytes | None]:
    """Returns the row that is meant, and the content that its hash is of where that was asked for."""
    if at.seq is not None and not with_body:
        row = reader.row(at.seq)
        if path in (row["path"], row["payload"].get("to")):
            return at.seq, None
    found = history.version(reader, path, at)
    if not with_body:
        return found.seq, None
    if reader.row(found.seq)["content_sha256"] != found.content_sha256:
        raise BadArgument(
            f"row {found.seq} does not carry the hash of a content", argument="body", hint="leave --body out"
        )
    return found.seq, history.content(reader, found, path)


def _is_ours(note: bytes, origin: str, held: Keys) -> bool:
    for public in retired.current_publics(held):
        try:
            checkpoints.verified(note, [Verifier(origin, public)])
        except BadNote:
            continue
        return True
    return False
