"""What is measured of writing."""

import random
import shutil
import time
from pathlib import Path
from typing import Any

import stores
from measure import Stats
from report import Case, single
from stores import Built

import rust
from cyberos.core import store as core_stores
from cyberos.core.changes import Put
from cyberos.core.writer import Writer

_IMPORTED = 100_000
_BATCH = 25_000


def batch_import(work: Path, rows: int = _IMPORTED, runs: int = 3) -> list[Case]:
    """Puts with bodies, in batches, into an empty store, through the Python API; working files and closing included."""
    dice = random.Random(stores.SEED)
    skewed = [int(5_000 * dice.random() ** 3) for _ in range(rows)]
    return [
        _import(work, "batch import, skewed popularity", skewed, runs, wanted=50_000),
        _import(work, "batch import, skewed, working files after each batch", skewed, runs, puts_files_off=False),
        _import(work, "batch import, every memory new", list(range(rows)), runs),
    ]


def _import(
    work: Path, name: str, memories: list[int], runs: int, *, wanted: int | None = None, puts_files_off: bool = True
) -> Case:
    texts = [
        (f"memories/import/{memory % 100:02d}/{memory:06d}.md", _text(place)) for place, memory in enumerate(memories)
    ]
    rates = [len(texts) / _import_once(work / "import", texts, puts_files_off=puts_files_off) for _ in range(runs)]
    figures = Stats.of(rates)
    rate = f"{figures.median:,.0f} rows/s"
    if wanted is None:
        return Case(name, len(texts), "rows/s", figures, "", rate)
    return Case(name, len(texts), "rows/s", figures, f"median >= {wanted:,} rows/s", rate, figures.median >= wanted)


def _import_once(folder: Path, texts: list[tuple[str, str]], *, puts_files_off: bool) -> float:
    shutil.rmtree(folder, ignore_errors=True)
    core_stores.init(folder)
    start = time.perf_counter()
    with Writer(folder, actor="import", puts_files_off=puts_files_off) as writer:
        for at in range(0, len(texts), _BATCH):
            writer.apply([Put(path, text) for path, text in texts[at : at + _BATCH]])
    took = time.perf_counter() - start
    _expect(writer.head_seq(), len(texts))
    files = {file.relative_to(folder).as_posix(): file.read_text() for file in folder.glob("memories/import/*/*.md")}
    _expect(files == dict(texts), True)
    shutil.rmtree(folder)
    return took


def one_put(small: Built, large: Built, work: Path, runs: int) -> list[Case]:
    """One acknowledged put at a time, in turns on a small and on a large store."""
    copies = {built.size: stores.copy(built, work / str(built.size)) for built in (small, large)}
    taken: dict[int, list[float]] = {rows: [] for rows in copies}
    writers = {rows: Writer(folder, actor="bench") for rows, folder in copies.items()}
    for number in range(runs + 10):
        for rows, writer in writers.items():
            start = time.perf_counter()
            receipt = writer.put(f"memories/facts/put-{number % 50:02d}.md", _text(number))
            if number >= 10:
                taken[rows].append(time.perf_counter() - start)
            _expect(receipt.warnings, [])
    for rows, writer in writers.items():
        writer.close()
        shutil.rmtree(work / str(rows))
    before, after = (Stats.of(taken[built.size]) for built in (small, large))
    ratio = after.median / before.median
    target = f"median <= 1.1 x the same at {small.size:,}"
    return [
        Case("one put, in process", small.size, "ms", before),
        Case("one put, in process", large.size, "ms", after, target, f"{ratio:.2f} x", ratio <= 1.1),
    ]


def group_commit(puts: int) -> Case:
    """Eight threads against one, on a disk whose every sync takes 2 ms."""
    found: dict[str, Any] = rust.group_commit(puts)
    ratio = found["many_rows_per_s"] / found["one_rows_per_s"]
    name = "eight threads putting against one, syncs of 2 ms"
    case = single(name, 0, "x", ratio, ">= 4 x", met=ratio >= 4)
    rates = f"{found['many_rows_per_s']:,.0f} against {found['one_rows_per_s']:,.0f} rows/s"
    return case._replace(
        measured=f"{rates}, {found['many_syncs_per_row']:.2f} against {found['one_syncs_per_row']:.2f} syncs a row"
    )


def _text(number: int) -> str:
    lines = "\n".join(f"line {line} of text {number}, which says what the one before it did not" for line in range(8))
    return f"---\nkind: fact\nnumber: {number}\n---\n{lines}\n"


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r}, not {wanted!r}")
