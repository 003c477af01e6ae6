"""What is measured of proofs."""

import random

import measure
from report import Case
from stores import SEED, Built

from cyberos._native import Reader, includes, is_consistent

_AIM = 1_000_000


def proofs(built: Built, runs: int) -> list[Case]:
    """Opening a store and proving one row or the beginning of the log, each time anew, in this process."""
    rng = random.Random(SEED)
    root = Reader(built.folder).root(built.rows)

    def row() -> None:
        reader, seq = Reader(built.folder), rng.randrange(1, built.rows)
        path = reader.inclusion_proof(seq, built.rows)
        if not includes(seq, built.rows, reader.payload(seq), path, root):
            raise SystemExit(f"row {seq} is not proved")

    def beginning() -> None:
        reader, old = Reader(built.folder), rng.randrange(1, built.rows)
        path = reader.consistency_proof(old, built.rows)
        if not is_consistent(old, reader.root(old), built.rows, root, path):
            raise SystemExit(f"the first {old} rows are not proved")

    cases = []
    for name, call in (("open and prove a row", row), ("open and prove the beginning", beginning)):
        stats = measure.calls(call, runs)
        aim = built.size >= _AIM
        target, met = ("p95 <= 50 ms", stats.p95 <= 0.05) if aim else ("", None)
        cases.append(Case(name, built.size, "us", stats, target, f"{stats.p95 * 1e3:.2f} ms", met))
    return cases
