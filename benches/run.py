"""The benchmark: `python benches/run.py [--rows 10000 100000 1000000] [--quick] [--json FILE] [--work FOLDER]`.

It measures the installed package, so build that as users get it (`pip install .`). Rust programs are built with cargo.
Stores are built once, and kept where --work says. Figures on a machine that does other work are upper bounds.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import branching
import dreaming
import exchange
import proofs
import reading
import redacting
import report
import rest
import searching
import sessions
import stores
import writing
from report import Case

import rust
from cyberos._native import is_debug

_GROUPS = (
    "process",
    "walk",
    "proofs",
    "scan",
    "dream",
    "verify",
    "memory",
    "put",
    "import",
    "exchange",
    "threads",
    "rest",
    "search",
    "redact",
    "sessions",
    "blocks",
)


def main() -> None:
    """Runs what is asked for and prints the table."""
    options = _options()
    if is_debug:
        sys.exit("this is a debug build of cyberos; its times say nothing: pip install .")
    with tempfile.TemporaryDirectory(prefix="cyberos-bench-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        cases = []
        for case in _cases(options, work):
            cases.append(case)
            print(report.table([case])[-1], file=sys.stderr, flush=True)
    machine = report.machine()
    print(", ".join(f"{key} {value}" for key, value in machine.items()) + "\n")
    print("\n".join(report.table(cases)))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "cases": report.to_json(cases)}, indent=2) + "\n")


def _cases(options: argparse.Namespace, work: Path) -> Iterator[Case]:
    runs = 5 if options.quick else 20
    groups = set(options.only or _GROUPS)
    sizes = sorted(options.rows)
    built = {rows: stores.build(work, rows) for rows in sizes}
    floors = {rows: rust.floors(store, runs // 4) for rows, store in built.items()}
    for rows, found in floors.items():
        yield report.single("payload, average", rows, "B", found["bytes"] / found["rows"] - 24)
    if "process" in groups:
        for store in built.values():
            yield from reading.whole_process(store, runs)
    if "walk" in groups:
        yield from reading.cold_walks(list(built.values()), runs * 5)
        for store in built.values():
            yield from reading.warm_walks(store, runs * 10)
    if "proofs" in groups:
        for store in built.values():
            yield from proofs.proofs(store, runs * 10)
    for rows, store in built.items():
        if "scan" in groups:
            yield from reading.without_index(store, floors[rows], max(2, runs // 4))
        if "dream" in groups:
            yield from dreaming.cursors(store, max(2, runs // 4))
        if "verify" in groups:
            yield from reading.verify(store, floors[rows], max(2, runs // 4))
        if "memory" in groups:
            yield from reading.memory(store)
    if "put" in groups:
        yield from writing.one_put(stores.build(work, 1_000), built[sizes[-1]], work, runs * 10)
    if "import" in groups:
        yield from writing.batch_import(work, runs=1 if options.quick else 5)
    if "rest" in groups:
        yield from rest.histories(built[sizes[-1]], 3.0 if options.quick else 10.0)
    if "exchange" in groups:
        yield exchange.git_import(work, 1 if options.quick else 5)
        yield exchange.export(built[sizes[-1]], work, 1 if options.quick else 5)
    if "search" in groups:
        yield from searching.cases(work, runs * 5)
    if "redact" in groups:
        yield from redacting.cases(runs * 10)
    if "sessions" in groups:
        yield from sessions.appends(stores.build(work, 1_000), built[sizes[-1]], work, runs * 10)
        yield from sessions.batches(work, max(2, runs // 4))
        yield from sessions.keys(work, runs)
        yield from sessions.listing(work, runs)
        yield from sessions.transcripts(work, 1 if options.quick else 5)
    if "blocks" in groups:
        yield from branching.cases(work, sizes[-1], 1.0 if options.quick else 5.0)
    if "threads" in groups:
        yield writing.group_commit(50 if options.quick else 200)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="sizes of the stores")
    parser.add_argument("--quick", action="store_true", help="a quarter of the runs")
    parser.add_argument("--only", nargs="+", metavar="GROUP", help=" ".join(_GROUPS))
    parser.add_argument("--work", type=Path, help="keep the stores here, for the next time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
