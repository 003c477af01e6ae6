"""The stores that are measured: built once, and kept in the work folder."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Final, NamedTuple

from cyberos.core import store as stores
from cyberos.core.writer import Writer
from cyberos.operations import sample
from cyberos.operations.sample import Probe

SEED: Final = 7
LONG: Final = "memories/facts/long.md"
# Counted up when what a store holds changes, so that an older one is not taken for it.
_VERSION: Final = 2
_NOW_NS: Final = 1_780_000_000_000_000_000


class Built(NamedTuple):
    """A store, and what it must answer."""

    folder: Path
    # As it was asked for, and with what was written besides.
    size: int
    rows: int
    probes: dict[str, Probe]


def build(work: Path, rows: int) -> Built:
    """Returns the store of that many rows, building it where it is not there."""
    folder = work / f"v{_VERSION}-{rows}"
    answers = folder / "answers.json"
    if not answers.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _fill(folder, rows)
    known = json.loads(answers.read_text())
    probes = {name: Probe(path, count, tuple(newest)) for name, (path, count, newest) in known["probes"].items()}
    return Built(folder / "store", rows, known["rows"], probes)


def _fill(folder: Path, rows: int) -> None:
    store = stores.init(folder / "store")
    with Writer(store, actor="benchmark", puts_files_off=True) as writer:
        made = sample.fill(writer, rows, seed=SEED, now_ns=_NOW_NS)
        write_long(writer)
        last = writer.head_seq()
    probes = {"hot": made.hot, "cold": made.cold, "moved": made.moved, "never": made.never}
    text = json.dumps({"rows": last, "probes": probes, "built": time.time()})
    (folder / "answers.json").write_text(text)


def write_long(writer: Writer) -> None:
    """Writes eleven versions of a memory with a body of 4 KB, two of whose lines change each time."""
    lines = [f"line {number:03d} says nothing that anyone would want to read twice" for number in range(68)]
    for version in range(11):
        lines[version * 5] = f"line {version * 5:03d} was changed in version {version}"
        lines[67 - version * 2] = f"line {67 - version * 2:03d} was changed as well, in version {version}"
        writer.put(LONG, "---\nkind: note\n---\n" + "\n".join(lines) + "\n")


def copy(built: Built, work: Path) -> Path:
    """Returns a copy of a store that may be written to."""
    folder = work / f"copy-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built.folder, folder)
    return folder
