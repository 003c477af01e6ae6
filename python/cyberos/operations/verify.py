"""Verifying a store's log."""

from collections.abc import Callable
from typing import NamedTuple

from cyberos.core.reader import AuditChainReader


class Finding(NamedTuple):
    """One thing that is not as it must be, or that is worth saying."""

    check: str
    file: str
    offset: int | None
    seq: int | None
    what: str


class Verified(NamedTuple):
    """What a check of the whole log found. `ok` is whether there are no findings; notes are no faults."""

    ok: bool
    rows: int
    bytes: int
    segments: int
    last_seq: int
    chain: str | None
    root: str | None
    bodies: int | None
    purged: int
    truncated: bool
    findings: list[Finding]
    notes: list[Finding]


def verify(
    store: str, *, deep: bool = False, progress: Callable[[str, int, int | None], None] | None = None
) -> Verified:
    """Checks frames, order, canonical form, links, hashes and Merkle peaks; with `deep` hashes every kept body again.

    `progress` is called with what is counted, how many are done, and of how many where that is known.
    """
    reader = AuditChainReader(store)
    total = reader.last_seq()

    def report(what: str, done: int) -> None:
        if progress is not None:
            progress(what, done, total if what == "rows" else None)

    found = reader.native.verify(report, deep=deep)
    return Verified(
        ok=not found.findings,
        rows=found.rows,
        bytes=found.bytes,
        segments=found.segments,
        last_seq=found.last_seq,
        chain=found.chain,
        root=found.root,
        bodies=found.bodies,
        purged=found.purged,
        truncated=found.truncated,
        findings=[Finding(f.check, f.file, f.offset, f.seq, f.what) for f in found.findings],
        notes=[Finding(f.check, f.file, f.offset, f.seq, f.what) for f in found.notes],
    )
