"""What is measured of reading."""

import json
import sys
from pathlib import Path
from typing import Any

import measure
import report
import stores
from measure import Stats
from report import Case, single
from stores import Built

from cyberos.core import history
from cyberos.core.reader import AuditChainReader

_PROGRAM = str(Path(sys.executable).parent / "cyberos")
_LIMIT = 10
# The size that most targets are about, and the one that a contract is about.
_AIM, _CONTRACT = 1_000_000, 100_000
# Bytes that a cold walk may read, whatever the size of the store.
_MOST_READ = 256 * 1024


def whole_process(built: Built, runs: int) -> list[Case]:
    """`cyberos history P --limit 10 --json` beside the interpreter and click."""
    commands = {name: _history(built, name) for name in built.probes}
    for name, command in commands.items():
        _check(built, name, [entry["kind"] for entry in json.loads(measure.run(command))])
    floors = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import click'": [sys.executable, "-c", "import click"],
    }
    taken = measure.processes(floors | commands, runs)
    click = taken["python -c 'import click'"].median
    cases = [Case(name, built.size, "ms", taken[name]) for name in floors]
    for name in commands:
        stats = taken[name]
        ratio = stats.median / click
        measured = f"p95 {stats.p95 * 1e3:.0f} ms, {ratio:.2f} x import click"
        target, met = "", None
        if built.size >= _AIM:
            target, met = "median <= 1.3 x import click", ratio <= 1.3
        elif built.size >= _CONTRACT:
            target, met = "p95 <= 200 ms", stats.p95 <= 0.2
        cases.append(Case(f"cyberos history, {name}", built.size, "ms", stats, target, measured, met))
    return cases


def cold_walks(all_built: list[Built], runs: int) -> list[Case]:
    """Opening a store and walking ten entries, each time anew, in this process."""
    cases = []
    # By the number of entries: the memory not written for longest has one in a small store and ten in a large one.
    smallest: dict[int, float] = {}
    for built in all_built:
        for name, probe in built.probes.items():

            def walk(built: Built = built, path: str = probe.path) -> Any:
                return history.walk(built.folder, path, limit=_LIMIT)

            _check(built, name, [entry.kind for entry in walk()])
            stats = measure.calls(walk, runs)
            read = measure.bytes_read(walk)
            first = smallest.setdefault(len(probe.newest), stats.median)
            ratio = stats.median / first
            bounded = read is None or read <= _MOST_READ
            measured = f"{stats.median * 1e3:.2f} ms, {ratio:.2f} x, {(read or 0) / 1024:,.0f} KiB read"
            target = f"median <= 1 ms, <= 1.3 x as many in the smallest store, <= {_MOST_READ // 1024} KiB read"
            met = stats.median <= 0.001 and ratio <= 1.3 and bounded
            cases.append(Case(f"cold open and walk, {name}", built.size, "us", stats, target, measured, met))
    return cases


def warm_walks(built: Built, runs: int) -> list[Case]:
    """Ten entries from an open reader, without and with their diffs."""
    reader = AuditChainReader(built.folder)
    cases = []
    for name, probe in built.probes.items():

        def walk(path: str = probe.path) -> Any:
            return history.walk(built.folder, path, limit=_LIMIT, reader=reader)

        _check(built, name, [entry.kind for entry in walk()])
        stats = measure.calls(walk, runs)
        met = stats.p95 <= 0.0003
        cases.append(
            Case(f"warm walk, {name}", built.size, "us", stats, "p95 <= 300 µs", f"{stats.p95 * 1e6:.0f} µs", met)
        )

    def diffs() -> list[str]:
        return [entry.body_diff for entry in history.walk(built.folder, stores.LONG, limit=_LIMIT, reader=reader)]

    _expect([len([line for line in diff.splitlines() if line.startswith("+line")]) for diff in diffs()], [2] * 10)
    stats = measure.calls(diffs, runs)
    name, target = "warm walk with ten body diffs of 4 KB", "p95 <= 3 ms"
    cases.append(Case(name, built.size, "us", stats, target, f"{stats.p95 * 1e3:.2f} ms", stats.p95 <= 0.003))
    return cases


def without_index(built: Built, floor: dict[str, Any], runs: int) -> list[Case]:
    """The same walk where there is no index, against reading the log as fast as one thread can."""
    scan = Stats.of(floor["scan_s"])
    cases = [Case("floor: pread, CRC and scan on one thread", built.size, "ms", scan)]
    index, away = built.folder / "index", built.folder.parent / "index-away"
    index.rename(away)
    try:
        for name, probe in built.probes.items():

            def walk(path: str = probe.path) -> Any:
                return history.walk(built.folder, path, limit=_LIMIT)

            _check(built, name, [entry.kind for entry in walk()])
            stats = measure.calls(walk, runs)
            ratio = stats.median / scan.median
            target = "median <= 2.5 x the floor"
            cases.append(
                Case(f"walk without any index, {name}", built.size, "ms", stats, target, f"{ratio:.2f} x", ratio <= 2.5)
            )
    finally:
        if index.exists():
            raise AssertionError("reading has written an index")
        away.rename(index)
    return cases


def verify(built: Built, floor: dict[str, Any], runs: int) -> list[Case]:
    """Checking the whole chain, against hashing as many bytes on all cores."""
    hashing = Stats.of([floor["bytes"] / rate / report.cores() for rate in floor["sha256_bytes_per_s"]])
    cases = [Case("floor: SHA-256 of the log on all cores", built.size, "ms", hashing)]
    for name, peaks, most in (("verify, links only", False, 2.0), ("verify, with peaks", True, 4.5)):
        reader = AuditChainReader(built.folder)

        def check(reader: AuditChainReader = reader, peaks: bool = peaks) -> Any:
            return reader.native.verify(peaks=peaks)

        found = check()
        _expect((found.rows, list(found.findings)), (built.rows, []))
        stats = measure.calls(check, runs)
        ratio = stats.median / hashing.median
        target, met = (f"<= {most} x the floor", ratio <= most) if built.size >= _AIM else ("", None)
        cases.append(Case(name, built.size, "ms", stats, target, f"{ratio:.2f} x", met))
    return cases


def memory(built: Built) -> list[Case]:
    """The most memory that a command holds."""
    commands = {
        "history, peak memory": (_history(built, "hot"), 48),
        "verify, peak memory": (_command(built, "verify"), 64),
    }
    cases = [single("python -c pass, peak memory", 0, "MiB", measure.peak_mib([sys.executable, "-c", "pass"]))]
    for name, (command, most) in commands.items():
        peak = max(measure.peak_mib(command) for _ in range(3))
        cases.append(single(name, built.size, "MiB", peak, f"<= {most} MiB", met=peak <= most))
    return cases


def _command(built: Built, *args: str) -> list[str]:
    return [_PROGRAM, "--store", str(built.folder), *args]


def _history(built: Built, name: str) -> list[str]:
    return _command(built, "history", built.probes[name].path, "--limit", str(_LIMIT), "--json")


def _check(built: Built, name: str, kinds: list[str]) -> None:
    _expect(tuple(kinds), built.probes[name].newest)


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r}, not {wanted!r}")
