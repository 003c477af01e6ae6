"""A sample store, asked and checked: what there is to see before there is anything of one's own."""

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core import store as stores
from cyberos.core.history import HistoryEntry
from cyberos.core.writer import Writer
from cyberos.operations import history, sample, verify

SHOWN = 5


class Answer(NamedTuple):
    """What came of asking about a path: the newest of its `rows` rows, found in `seconds`."""

    sort: str
    path: str
    rows: int
    seconds: float
    entries: list[HistoryEntry]


class Demo(NamedTuple):
    """A sample store and what came of it."""

    store: str
    rows: int
    seed: int
    build_seconds: float
    answers: tuple[Answer, ...]
    verify_seconds: float
    verified: verify.Verified


def new_folder() -> str:
    """Makes a folder for a sample store, below the system's folder for temporary files."""
    return os.path.join(tempfile.mkdtemp(prefix="cyberos-demo-"), "store")


def run(folder: str, rows: int, seed: int, progress: Callable[[int, int], None] | None = None) -> Demo:
    """Builds a store in a new folder, asks it about a hot, a cold, a moved and a missing memory, and verifies it."""
    store = os.fspath(stores.init(folder))
    start = time.perf_counter()
    with Writer(store, puts_files_off=True) as writer:
        made = sample.fill(writer, rows, seed=seed, now_ns=clock.now_ns(), progress=progress)
    built = time.perf_counter()
    probes = (("hot", made.hot), ("cold", made.cold), ("moved", made.moved), ("never", made.never))
    answers = tuple(_ask(store, sort, probe) for sort, probe in probes)
    before = time.perf_counter()
    verified = verify.verify(store)
    verify_seconds = time.perf_counter() - before
    return Demo(store, rows, seed, built - start, answers, verify_seconds, verified)


def to_json(result: Demo) -> dict[str, Any]:
    """Returns a demonstration as JSON."""
    answers = []
    for answer in result.answers:
        fields = answer._asdict()
        entries = [history.entry_json(entry, show_body=False) for entry in fields.pop("entries")]
        answers.append({**fields, "history": entries})
    return {**result._asdict(), "answers": answers}


def _ask(store: str, sort: str, probe: sample.Probe) -> Answer:
    start = time.perf_counter()
    found = list(history.history(store, probe.path, limit=SHOWN).entries)
    return Answer(sort, probe.path, probe.rows, time.perf_counter() - start, found)
