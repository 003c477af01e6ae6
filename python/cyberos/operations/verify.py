"""Verifying a store's log."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cyberos.core.reader import AuditChainReader
from cyberos.errors import CorruptLog

if TYPE_CHECKING:
    from cyberos.crypto.keys import Keys


class Finding(NamedTuple):
    """One thing that is not as it must be, or that is worth saying."""

    check: str
    file: str
    offset: int | None
    seq: int | None
    what: str


class Verified(NamedTuple):
    """What a check of the whole log found. `ok` is whether there are no findings; notes are no faults.

    `heads` is how many signed heads the log was held against, null where that was not asked for.
    """

    ok: bool
    rows: int
    bytes: int
    segments: int
    last_seq: int
    chain: str | None
    root: str | None
    bodies: int | None
    purged: int
    heads: int | None
    truncated: bool
    findings: list[Finding]
    notes: list[Finding]


def verify(
    store: str,
    *,
    deep: bool = False,
    against: Sequence[str] = (),
    held: "Keys | None" = None,
    trusted: Sequence[str] = (),
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Verified:
    """Checks frames, order, canonical form, links, hashes and Merkle peaks; with `deep` hashes every kept body again.

    `against` are places with signed heads that the log must continue (see `operations.checkpoints.hold`), `held` the
    user's keys, `trusted` the public keys that count instead. `progress` is called with what is counted, how many are
    done, and of how many where that is known.
    """
    reader = AuditChainReader(store)
    total = reader.last_seq()

    def report(what: str, done: int) -> None:
        if progress is not None:
            progress(what, done, total if what == "rows" else None)

    found = reader.native.verify(report, deep=deep)
    findings = [Finding(f.check, f.file, f.offset, f.seq, f.what) for f in found.findings]
    heads = None
    if against and held is not None:
        from cyberos.operations import checkpoints  # only where somebody has signed heads

        try:
            said = checkpoints.hold(store, held, against, named=trusted)
        except CorruptLog:
            if not findings:
                raise
        else:
            heads = said.heads
            findings += [Finding("checkpoint", c.place, None, c.size, c.what) for c in said.contradictions]
    return Verified(
        ok=not findings,
        rows=found.rows,
        bytes=found.bytes,
        segments=found.segments,
        last_seq=found.last_seq,
        chain=found.chain,
        root=found.root,
        bodies=found.bodies,
        purged=found.purged,
        heads=heads,
        truncated=found.truncated,
        findings=findings,
        notes=[Finding(f.check, f.file, f.offset, f.seq, f.what) for f in found.notes],
    )
