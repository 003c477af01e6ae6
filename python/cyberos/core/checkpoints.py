"""Signed heads of a log: C2SP checkpoints (https://c2sp.org/tlog-checkpoint) over its Merkle tree.

The text of a checkpoint is three lines: the *origin*, which is the store's id, the number of rows, and the tree's root
in base64. Those of a store lie in audit/checkpoints/, one file each. They prove something to whoever keeps a copy that
the writer of the log cannot change.
"""

import base64
import os
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from cyberos import config, layout
from cyberos.core import heads
from cyberos.core.inspection import check_format
from cyberos.core.reader import AuditChainReader
from cyberos.crypto import signing
from cyberos.crypto.signing import Verifier
from cyberos.errors import BadConfig, BadNote, LogRewritten, VersionNotFound

_HASH: Final = 32
_LINES: Final = 3
_MAX_SIZE: Final = 1 << 56
_SUFFIX: Final = ".txt"


class Checkpoint(NamedTuple):
    """A head of a log and the note that says so, whose signatures only `verified` checks. `root` is 32 bytes."""

    origin: str
    size: int
    root: bytes
    note: bytes


def origin_of(store: str | os.PathLike[str]) -> str:
    """Returns the name under which a store's heads are signed: its id."""
    check_format(store)  # the settings of a newer one need not make sense
    store_id = config.load(store).store_id
    if not store_id or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}", store_id):
        raise BadConfig(
            f"the store has no id that a signed head could carry: {store_id!r}",
            file=layout.MANIFEST, key="store_id",
            hint='give it one in manifest.json, "store_id": "NAME", a word of letters, digits, ., _ and -',
        )  # fmt: skip
    return store_id


def text_of(origin: str, size: int, root: bytes) -> str:
    """Returns the text of a checkpoint."""
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def parse(note: bytes) -> Checkpoint:
    """Returns what a note says, its signatures unchecked; raises `BadNote`."""
    return _of_text(signing.parse(note).text, note)


def verified(note: bytes, verifiers: Iterable[Verifier]) -> tuple[Checkpoint, Verifier]:
    """Returns what a note says and the key that signed it; raises `BadNote`.

    The key's name must be the origin: who trusts a key trusts it for one log.
    """
    text, verifier = signing.verify(note, verifiers)
    checkpoint = _of_text(text, note)
    if checkpoint.origin != verifier.name:
        raise BadNote(f"it is signed by {verifier.name}, and is of the log {checkpoint.origin}")
    return checkpoint, verifier


def _of_text(text: str, note: bytes) -> Checkpoint:
    origin, *rest = lines = text[:-1].split("\n")
    if len(lines) < _LINES or not all(lines) or not re.fullmatch(r"0|[1-9][0-9]{0,17}", rest[0]):
        raise BadNote("it is a signed note, but no checkpoint")
    try:
        root = base64.b64decode(rest[1], validate=True)
    except ValueError:
        root = b""
    size = int(rest[0])
    if len(root) != _HASH or size >= _MAX_SIZE:
        raise BadNote("it is a signed note, but no checkpoint")
    return Checkpoint(origin, size, root, note)


def stored(store: str | os.PathLike[str]) -> list[Checkpoint]:
    """Returns the checkpoints that lie in a store, the smallest first; what is none is passed over."""
    folder = os.path.join(store, layout.CHECKPOINTS)
    found = []
    for name in heads.names(folder, _SUFFIX):
        for note in heads.read_file(os.path.join(folder, name)):
            try:
                found.append(parse(note))
            except BadNote:
                continue
    return sorted(found, key=lambda checkpoint: checkpoint.size)


def create(
    store: str | os.PathLike[str], key: bytes, *, remembered: Sequence[bytes] = (), size: int | None = None
) -> tuple[Checkpoint, bool]:
    """Signs the log as it is, or as it was with `size` rows; returns the checkpoint and whether it is a new one.

    Nothing is signed that contradicts a checkpoint in the store or among the notes `remembered`: then `LogRewritten` is
    raised. For a head that this key has signed already the same checkpoint is returned.
    """
    reader = AuditChainReader(store)
    origin, last = origin_of(store), reader.last_seq()
    if size is not None and not 0 <= size <= last:
        raise VersionNotFound(f"there are no {size} rows: the log ends with row {last}", seq=size)
    size = last if size is None else size
    verifier = Verifier(origin, signing.public_of(key))
    # What is remembered is the signer's own word; what lies in the store may be anybody's.
    ours = [checkpoint for checkpoint in stored(store) if _is_signed_by(checkpoint.note, verifier)]
    earlier = [*ours, *map(parse, remembered)]
    # What was signed last says everything that earlier ones do.
    for checkpoint in sorted(earlier, key=lambda checkpoint: checkpoint.size)[-1:]:
        require(reader, checkpoint)
    root = reader.native.root(size)
    for checkpoint in earlier:
        if checkpoint.size == size and checkpoint.root != root:
            raise _rewritten(checkpoint, last)
    for checkpoint in ours:
        if checkpoint.size == size and checkpoint.root == root:
            return checkpoint, False
    text = text_of(origin, size, root)
    note = signing.sign(text, origin, key)
    name = f"{size:020d}-{verifier.id.hex()}{_SUFFIX}"
    heads.write_new(os.path.join(store, layout.CHECKPOINTS, name), note)
    return Checkpoint(origin, size, root, note), True


def _is_signed_by(note: bytes, verifier: Verifier) -> bool:
    try:
        verified(note, [verifier])
    except BadNote:
        return False
    return True


def require(reader: AuditChainReader, checkpoint: Checkpoint) -> None:
    """Raises `LogRewritten` where the log does not begin with the rows that a checkpoint is about."""
    last = reader.last_seq()
    if checkpoint.size > last or reader.native.root(checkpoint.size) != checkpoint.root:
        raise _rewritten(checkpoint, last)


def _rewritten(checkpoint: Checkpoint, last: int) -> LogRewritten:
    return LogRewritten(
        contradiction(checkpoint, last), origin=checkpoint.origin, size=checkpoint.size, last_seq=last,
        hint="it was cut, rewritten, or an older copy of it was put back; keep it as it is and look for the right one",
    )  # fmt: skip


def contradiction(checkpoint: Checkpoint, last: int) -> str:
    """Returns how a log that ends with row `last` contradicts a checkpoint, in one clause."""
    if checkpoint.size > last:
        return f"{checkpoint.size} rows were signed, and the log has {last}: rows are missing at its end"
    return f"the first {checkpoint.size} rows are not those that were signed"
