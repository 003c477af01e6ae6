"""What is measured of searching: 100,000 memories whose words are as unevenly common as those of a language."""

import random
import shutil
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from statistics import median

import stores
from measure import Stats, seconds
from report import Case, single

from cyberos import layout
from cyberos.core import search as searching
from cyberos.core import store as core_stores
from cyberos.core.changes import Put
from cyberos.core.search import upkeep
from cyberos.core.writer import Writer

MEMORIES = 100_000
_WORDS = 60_000
_BATCH = 25_000
_CAUGHT_UP = 500


def cases(work: Path, runs: int) -> Iterator[Case]:
    """Searches of several sorts, making the index and bringing it up, and what it costs a put."""
    folder = work / f"searched-{MEMORIES}"
    texts = list(_texts(MEMORIES))
    if not (folder / layout.MANIFEST).is_file():
        _fill(folder, texts)
    shutil.rmtree(folder / layout.INDEX, ignore_errors=True)
    with Writer(folder) as writer:
        writer.rebuild()
    took = seconds(lambda: upkeep.bring_up(folder))
    size = (folder / layout.SEARCH).stat().st_size
    yield single("search index, making it", MEMORIES, "s", took)
    yield single("search index, size", MEMORIES, "MiB", size / 2**20)
    yield from _searches(folder, texts, runs)
    yield _catching_up(folder)
    yield from _puts(work, runs)


def _searches(folder: Path, texts: list[str], runs: int) -> Iterator[Case]:
    everything: list[float] = []
    for name, queries in _queries(texts, runs).items():
        taken = []
        for query in queries:
            start = time.perf_counter()
            found = searching.search(folder, query)
            taken.append(time.perf_counter() - start)
            if not found.hits or found.warnings:
                raise AssertionError(f"{query!r} found {found}")
        everything += taken
        yield Case(f"search, {name}", MEMORIES, "ms", Stats.of(taken))
    stats = Stats.of(everything)
    measured = f"{stats.p95 * 1e3:.1f} ms"
    yield Case("search, all of these", MEMORIES, "ms", stats, "p95 <= 20 ms", measured, stats.p95 <= 0.02)


def _queries(texts: list[str], runs: int) -> dict[str, list[str]]:
    """Queries that somebody asks who remembers something of a memory: words of its text, as common as they are."""
    dice = random.Random(stores.SEED)
    bodies = [dice.choice(texts).split("---\n")[2].split() for _ in range(runs)]
    places = [dice.randrange(len(words) - 2) for words in bodies]
    return {
        "a word": [dice.choice(words) for words in bodies],
        "two words": [" ".join(dice.sample(words, 2)) for words in bodies],
        "three words": [" ".join(dice.sample(words, 3)) for words in bodies],
        "a phrase": [f'"{words[at]} {words[at + 1]}"' for words, at in zip(bodies, places, strict=True)],
        "a prefix": [f"{dice.choice([word for word in words if len(word) > 3])[:-1]}*" for words in bodies],
    }


def _catching_up(folder: Path) -> Case:
    with Writer(folder) as writer, writer.batch() as batch:
        for number in range(_CAUGHT_UP):
            batch.put(
                _path(number), f"changed at {time.time_ns()}, with number {number}\n" + "some of its words\n" * 30
            )
    took = seconds(lambda: upkeep.bring_up(folder))
    return single("search index, taking a changed memory in", MEMORIES, "us", took / _CAUGHT_UP)


def _puts(work: Path, runs: int) -> Iterator[Case]:
    """Puts of one process after the other, in turns without and with an index: opening, a put, closing."""
    folders = {name: work / f"put-{name}" for name in ("without", "with")}
    taken: dict[str, list[float]] = {name: [] for name in folders}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
        _fill(folder, list(_texts(1_000)))
    searching.search(folders["with"], "anything")
    for number in range(runs * 20):
        for name, folder in folders.items():
            start = time.perf_counter()
            with Writer(folder) as writer:
                writer.put(_path(number % 50), f"put {number} {name}\n")
            taken[name].append(time.perf_counter() - start)
    for folder in folders.values():
        shutil.rmtree(folder)
    without, with_index = (Stats.of(values) for values in taken.values())
    ratio = median(there / not_there for not_there, there in zip(*taken.values(), strict=True))
    yield Case("open, put, close, without a search index", 1_000, "ms", without)
    target = "<= 1.05 x without"
    yield Case("open, put, close, with one", 1_000, "ms", with_index, target, f"{ratio:.2f} x", ratio <= 1.05)


def _fill(folder: Path, texts: list[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    core_stores.init(folder)
    with Writer(folder, actor="bench", puts_files_off=True) as writer:
        for at in range(0, len(texts), _BATCH):
            writer.apply([Put(_path(at + place), text) for place, text in enumerate(texts[at : at + _BATCH])])


def _path(number: int) -> str:
    return f"memories/facts/{number % 100:02d}/{number:06d}.md"


def _texts(count: int) -> Iterator[str]:
    dice = random.Random(stores.SEED)
    words = _vocabulary(dice)
    weights = list(accumulate(1 / (rank + 3) ** 1.05 for rank in range(len(words))))
    for number in range(count):
        chosen = dice.choices(words, cum_weights=weights, k=max(10, int(dice.lognormvariate(4.6, 0.6))))
        lines = "\n".join(" ".join(chosen[at : at + 12]) for at in range(0, len(chosen), 12))
        head = f"kind: {('fact', 'note', 'rule')[number % 3]}\ntags: [t{number % 7}]\ntitle: {' '.join(chosen[:4])}"
        yield f"---\n{head}\n---\n{lines}\n"


def _vocabulary(dice: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < _WORDS:
        syllables = dice.choice((1, 2, 2, 3, 3, 4))
        word = "".join(dice.choice("bcdfghjklmnprstvwz") + dice.choice("aeiou") for _ in range(syllables))
        words[word + dice.choice(("", "n", "s", "r", "t", "x"))] = None
    return list(words)
