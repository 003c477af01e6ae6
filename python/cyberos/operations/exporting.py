"""Taking a store out, and making one of what was taken out."""

import os
from collections.abc import Callable
from typing import NamedTuple

from cyberos import clock
from cyberos.core.reader import AuditChainReader
from cyberos.exchange import archive, unpacking
from cyberos.operations.automatic import Signer
from cyberos.operations.checkpoints import Head

Progress = Callable[[int, int | None], None]


class Exported(NamedTuple):
    """What is in an archive: all up to row `rows`, whose chain is `chain`.

    `missing` of the `versions` are purged or were never kept. `absent` are memories whose content is not there. `head`
    is the signed head of these rows, null where there was no key to sign with.
    """

    file: str
    rows: int
    chain: str | None
    versions: int
    missing: int
    memories: int
    absent: tuple[str, ...]
    checkpoints: int
    bytes: int
    with_bodies: bool
    head: Head | None = None


class ImportedZip(NamedTuple):
    """The store that was made of an archive; `root` is the Merkle root over its rows."""

    store: str
    rows: int
    chain: str | None
    root: str | None
    bodies: int
    memories: int
    checkpoints: int


def export(
    store: str,
    file: str,
    *,
    at: clock.At | None = None,
    bodies: bool = True,
    signer: Signer | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Exported:
    """Writes an archive of the store as it was at a point in the past (`None`: now).

    The `signer` first signs the head of what goes out; with the other signed heads of the store it goes along.
    `progress` is called with how many bytes are written.
    """
    reader = AuditChainReader(store)
    seq, ts_ns = reader.moment(at)
    last = seq if seq is not None else reader.last_seq() if ts_ns is None else reader.native.last_row(ts_ns)
    full = os.path.abspath(file)
    archive.check_new(full)
    head = signer.sign(last) if signer is not None and last else None
    packed = archive.write(store, full, last, bodies=bodies, progress=progress)
    return Exported(full, *packed, with_bodies=bodies, head=head)


def import_zip(file: str, folder: str, *, progress: Progress = lambda _done, _total: None) -> ImportedZip:
    """Makes a store of an archive, in a folder that is new or empty; verifies all of it first."""
    full = os.path.abspath(folder)
    return ImportedZip(full, *unpacking.unpack(os.path.abspath(file), full, progress))
