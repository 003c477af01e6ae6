"""What is measured of recording conversations: adding turns, listing sessions, and transcripts of 100 MB."""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

import measure
import stores
from measure import Stats, seconds
from report import Case, single
from stores import Built

from cyberos.core import protocol, session
from cyberos.core import store as core_stores
from cyberos.core.session import TurnInput
from cyberos.core.writer import Writer
from cyberos.crypto import rotation
from cyberos.crypto.keystore import Keystore
from cyberos.crypto.keystore_file import Wrapped
from cyberos.operations import sessions as operations

_PROGRAM = str(Path(sys.executable).parent / "cyberos")
_PHRASE = "APPROVE protocol change P22 §18"
_ID = "bench"
_EARLY, _LATE = 10, 10_000
_TURN = 4_096
_SHORT = 50_000
_LISTED = 10_000
_LONG = 100_000_000


def appends(small: Built, large: Built, work: Path, runs: int) -> Iterator[Case]:
    """One durable turn of 4 KB at a time, in turns at both lengths of the log and both of the transcript."""
    places = [(built, turns) for built in (small, large) for turns in (_EARLY, _LATE)]
    texts = _texts(runs + 5)
    taken: dict[tuple[int, int], list[float]] = {(built.size, turns): [] for built, turns in places}
    folders = [stores.copy(built, work / f"append-{built.size}-{turns}") for built, turns in places]
    writers = [_begun(folder, turns) for folder, (_, turns) in zip(folders, places, strict=True)]
    for number, text in enumerate(texts):
        for writer, (built, turns) in zip(writers, places, strict=True):
            start = time.perf_counter()
            session.append(writer, _ID, "user", text)
            if number >= 5:
                taken[built.size, turns].append(time.perf_counter() - start)
    floor = _floor(folders[0], texts)
    for writer, folder, (_, turns) in zip(writers, folders, places, strict=True):
        said = [turn.content for turn in session.read(writer, _ID)][turns:]
        writer.close()
        _expect(said, texts)
        shutil.rmtree(folder.parent)
    yield Case("append: writing and syncing as many bytes", 0, "ms", floor)
    best = min(median(values) for values in taken.values())
    for (rows, turns), values in taken.items():
        stats = Stats.of(values)
        ratio = stats.median / best
        name, target = f"append a turn of 4 KB behind {turns:,}", "median <= 1.2 x the least of these"
        yield Case(name, rows, "ms", stats, target, f"{ratio:.2f} x", ratio <= 1.2)


def _begun(folder: Path, turns: int) -> Writer:
    protocol.save(folder, protocol.amended(protocol.load(folder), protocol.amendment_for(_PHRASE)))
    writer = Writer(folder, actor="bench")
    session.start(writer, _ID)
    batch = [TurnInput("user", text) for text in _texts(10)]
    for _ in range(turns // len(batch)):
        session.append_many(writer, _ID, batch)
    return writer


def _floor(folder: Path, texts: list[str]) -> Stats:
    """What the same bytes take without a transcript; they are about as long when they are compressed."""
    made = folder / "floor"
    with made.open("wb", buffering=0) as file:
        taken = []
        for text in texts:
            start = time.perf_counter()
            file.write(text.encode()[: _TURN // 2])
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    made.unlink()
    return Stats.of(taken)


def batches(work: Path, runs: int) -> Iterator[Case]:
    """JSON Lines with short turns, in one append: parsed, checked, written, synced."""
    store = _new(work / "batch")
    lines = [
        json.dumps({"role": ("user", "assistant")[number % 2], "content": f"Short turn {number}, and what it says."})
        for number in range(_SHORT)
    ]
    raw = ("\n".join(lines) + "\n").encode()
    operations.start(
        str(store), _ID, classification="confidential", retention_days=None, correlates_with=None, actor="bench",
        keystore=None,
    )  # fmt: skip
    parsing, rates = [], []
    for run in range(runs + 1):
        parsing.append(_SHORT / seconds(lambda: [json.loads(line) for line in raw.splitlines()]))
        start = time.perf_counter()
        turns = operations.parse_turns(raw.splitlines())
        done = operations.append(str(store), _ID, turns, actor="bench", keystore=None)
        if run:
            rates.append(_SHORT / (time.perf_counter() - start))
        _expect(done.first_turn, run * _SHORT)
    with Writer(store) as writer:
        last = list(session.read(writer, _ID))[runs * _SHORT :]
    _expect([turn.content for turn in last], [json.loads(line)["content"] for line in lines])
    shutil.rmtree(store)
    stats = Stats.of(rates)
    yield Case("append of short turns: json.loads alone", _SHORT, "rows/s", Stats.of(parsing))
    measured = f"{stats.median:,.0f} turns/s"
    met = stats.median >= 50_000
    yield Case("append of short turns, JSON Lines", _SHORT, "rows/s", stats, "median >= 50,000 turns/s", measured, met)


def keys(work: Path, runs: int) -> Iterator[Case]:
    """What a keystore takes of a start, and of an append, the more sessions it has the keys of."""
    for count in (10, 10_000, 100_000):
        keystore, first = _filled(work / "keys", count)
        starts, opens = [], []
        for run in range(runs):
            starts.append(seconds(partial(keystore.create, "store", f"new-{run}")))
            opens.append(seconds(partial(keystore.open, "store", _ID)))
        _expect((len(keystore.load().keys), keystore.open("store", _ID).key_ref), (count + runs, first))
        stats = Stats.of(starts)
        measured, met = f"{stats.median * 1e3:.1f} ms", stats.median <= 0.02
        target = ("median <= 20 ms", measured, met) if count <= _LISTED else ()
        yield Case("key of a session that starts", count, "ms", stats, *target)
        yield Case("key of a session found", count, "ms", Stats.of(opens))
    shutil.rmtree(work / "keys")


def _filled(config: Path, count: int) -> tuple[Keystore, str]:
    """Returns a keystore with the keys of so many sessions, and what names the first one's."""
    shutil.rmtree(config, ignore_errors=True)
    keystore = Keystore(str(config), {})
    rotation.init(keystore, "file")
    first = keystore.create("store", _ID).key_ref
    state = keystore.load()
    others = (("store", _name(number), os.urandom(60).hex()[:80]) for number in range(1, count))
    keystore.save(state._replace(keys=Wrapped.of([*state.keys.all(keystore.path), *others])))
    return keystore, first


def listing(work: Path, runs: int) -> Iterator[Case]:
    """`cyberos session list` of many sessions, beside that of none."""
    many, none = work / f"sessions-{_LISTED}", work / "sessions-0"
    for store, count in ((many, _LISTED), (none, 0)):
        if not (store / "filled").is_file():
            _fill(store, count)
    commands = {
        name: [_PROGRAM, "--store", str(store), "session", "list", "--since", "all"]
        for name, store in (("none", none), ("many", many))
    }
    ids = {json.loads(line)["session_id"] for line in measure.run(commands["many"]).splitlines()}
    _expect(ids, {_name(number) for number in range(_LISTED)})
    taken = measure.processes({"start": [_PROGRAM, "--version"], **commands}, runs)
    yield Case("cyberos --version", 0, "ms", taken["start"])
    yield Case("cyberos session list", 0, "ms", taken["none"])
    beyond = taken["many"].median - taken["start"].median
    target, measured = "<= 150 ms beyond start-up", f"{beyond * 1e3:.0f} ms beyond"
    yield Case("cyberos session list", _LISTED, "ms", taken["many"], target, measured, beyond <= 0.15)


def _fill(store: Path, count: int) -> None:
    _new(store)
    turns = [TurnInput("user", "What is left to do?"), TurnInput("assistant", "Nothing.")]
    with Writer(store, actor="bench") as writer:
        for number in range(count):
            session.record(writer, _name(number), turns)
    (store / "filled").touch()


def _name(number: int) -> str:
    return f"s-{number:05d}"


# What the measured process does, and prints: seconds, and what shows that it did it.
_SEAL = """
import sys, time
from cyberos.core import session
from cyberos.core.writer import Writer
with Writer(sys.argv[1], actor="bench") as writer:
    start = time.perf_counter()
    session.end(writer, "bench")
    print(time.perf_counter() - start)
"""
_READ = """
import sys, time
from cyberos.crypto.keystore import Keystore
from cyberos.crypto.keystore_file import Wrapped
from cyberos.operations import transcripts
start = time.perf_counter()
found = transcripts.read(sys.argv[1], "bench", decrypt=True, keystore=Keystore(sys.argv[2], {}))
size = sum(len(turn.content) for turn in found.turns)
print(time.perf_counter() - start, size, *found.warnings)
"""
_IDLE = "import cyberos.core.session, cyberos.operations.transcripts, cyberos.crypto.keystore, sys"


def transcripts(work: Path, runs: int) -> Iterator[Case]:
    """Sealing and reading 100 MB in turns of 4 KB: how fast, and what a process holds over its start."""
    config = work / "config"
    shutil.rmtree(config, ignore_errors=True)
    keystore = Keystore(str(config), {})
    rotation.init(keystore, "file")
    for name, keys, least in (("plain", None, 200), ("encrypted", keystore, 100)):
        open_, sealed = work / f"long-{name}", work / "sealed"
        _long(open_, keys)
        idle = measure.peak_mib([sys.executable, "-c", _IDLE + "\nimport cryptography" * (keys is not None)])
        yield single(f"process that does nothing, {name}", 0, "MiB", idle)
        sealing, reading, peaks = [], [], {"seal": 0.0, "read": 0.0}
        for _ in range(runs + 1):
            shutil.rmtree(sealed, ignore_errors=True)
            shutil.copytree(open_, sealed)
            sealing.append(_LONG / float(measure.run([sys.executable, "-c", _SEAL, str(sealed)])) / 1e6)
            took, *found = measure.run([sys.executable, "-c", _READ, str(sealed), str(config)]).split()
            _expect(found, [str(_LONG // _TURN * _TURN).encode()])
            reading.append(_LONG / float(took) / 1e6)
        peaks["read"] = measure.peak_mib([sys.executable, "-c", _READ, str(sealed), str(config)]) - idle
        shutil.rmtree(sealed)
        shutil.copytree(open_, sealed)
        peaks["seal"] = measure.peak_mib([sys.executable, "-c", _SEAL, str(sealed)]) - idle
        for what, rates in (("seal", sealing), ("read", reading)):
            stats = Stats.of(rates[1:])
            measured = f"{stats.median:,.0f} MB/s"
            target = f"median >= {least} MB/s"
            yield Case(f"{what} 100 MB, {name}", 0, "MB/s", stats, target, measured, stats.median >= least)
            met = peaks[what] <= 64
            yield single(f"{what} 100 MB, {name}, over idle", 0, "MiB", peaks[what], "<= 64 MiB", met=met)
        shutil.rmtree(open_)
        shutil.rmtree(sealed)


def _long(store: Path, keystore: Keystore | None) -> None:
    _new(store)
    texts = _texts(1_000)
    classification = "confidential" if keystore is None else "restricted"
    with Writer(store, actor="bench", keystore=keystore) as writer:
        session.start(writer, _ID, classification)
        left = _LONG // _TURN
        while left:
            turns = [TurnInput("assistant", text) for text in texts[:left]]
            left -= len(turns)
            session.append_many(writer, _ID, turns)


def _new(store: Path) -> Path:
    shutil.rmtree(store, ignore_errors=True)
    core_stores.init(store)
    protocol.save(store, protocol.amended(protocol.load(store), protocol.amendment_for(_PHRASE)))
    return store


def _texts(count: int) -> list[str]:
    """Texts of 4 KB as agents exchange them, code and prose: the interpreter's own library and its documentation."""
    library = Path(os.__file__).parent
    sources = [file.read_text("utf-8") for file in [*sorted(library.glob("*.py")), *library.glob("pydoc_data/*.py")]]
    text = "".join(source for source in sources if source.isascii())
    return [text[at : at + _TURN] for at in range(0, count * _TURN, _TURN)]


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{str(found)[:300]}, not {str(wanted)[:300]}")
