"""A store filled with made-up work, the same for the same seed: for the demo and for benchmarks."""

import random
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from cyberos.core.changes import Change, Delete, Move, Put, Record
from cyberos.core.writer import Writer

_ACTORS: Final = ("coding-agent", "claude-code-hook", "dream-applier", "reviewer", "stephen")
_WORDS: Final = (
    "alpha", "branch", "cache", "deploy", "error", "fallback", "gateway", "handler", "index", "journal", "kernel",
    "ledger",
    "metric", "node", "offset", "policy", "queue", "retry", "schema", "token", "upload", "vault", "worker", "zone",
)  # fmt: skip
# Shares of all rows; the rest are puts.
_MOVES, _DELETES, _RECORDS = 0.04, 0.03, 0.10
_CHUNK: Final = 4_096
_NS: Final = 1_000_000_000
# The made-up work fills these days, so that segments, ages and months differ.
_DAYS: Final = 60


class Sample(NamedTuple):
    """What a sample store holds: how many rows, and a path of each sort to ask about."""

    rows: int
    hot: str
    cold: str
    moved: str
    never: str


class _Memory:
    """One memory that the generator keeps changing."""

    __slots__ = ("lines", "moves", "name", "path", "revision")

    def __init__(self, number: int, lines: list[str]) -> None:
        self.name = f"fact-{number:05d}"
        self.path = f"memories/facts/{number % 50:02d}/{self.name}.md"
        self.lines, self.revision, self.moves = lines, 0, 0

    def body(self) -> str:
        head = f"---\nimportance: 0.{self.revision % 90 + 10}\nkind: fact\nrevision: {self.revision}\n---\n"
        return head + "\n".join(self.lines) + "\n"


def fill(
    writer: Writer,
    rows: int,
    *,
    seed: int = 7,
    memories: int = 5_000,
    body_lines: int = 8,
    now_ns: int,
    progress: Callable[[int, int], None] | None = None,
) -> Sample:
    """Writes `rows` rows: 83 % puts with skewed popularity, 4 % moves, 3 % deletes, 10 % rows that only record."""
    work = _Work(random.Random(seed), memories, body_lines)  # noqa: S311, the same numbers again are the point
    start = now_ns - _DAYS * 86_400 * _NS
    step = (now_ns - start) // max(rows, 1)
    done = 0
    while done < rows:
        count = min(_CHUNK, rows - done)
        changes = [work.next() for _ in range(count)]
        times = [start + (done + place) * step for place in range(count)]
        writer.apply(changes, actors=[work.actor() for _ in changes], times=times)
        done += count
        if progress is not None:
            progress(done, rows)
    return Sample(rows, work.hot(), work.cold(), work.moved(), "memories/facts/never-was.md")


class _Work:
    """Makes up one change after the other."""

    def __init__(self, dice: random.Random, memories: int, body_lines: int) -> None:
        self._dice = dice
        self._all = [_Memory(number, list(self._text(body_lines))) for number in range(memories)]
        self._living: set[int] = set()
        self._touched: list[int] = []
        self._sessions = [f"session-{number:04d}" for number in range(200)]

    def _text(self, lines: int) -> Iterator[str]:
        for _ in range(lines):
            yield " ".join(self._dice.choices(_WORDS, k=9))

    def actor(self) -> str:
        return _ACTORS[int(len(_ACTORS) * self._dice.random() ** 2)]

    def next(self) -> Change:
        # Cubing crowds the numbers at zero: a few memories are written all the time, most of them hardly ever.
        number = int(len(self._all) * self._dice.random() ** 3)
        memory = self._all[number]
        sort = self._dice.random()
        if number in self._living:
            if sort < _MOVES:
                return self._move(memory)
            if sort < _MOVES + _DELETES and number:  # the hottest memory lives for ever
                self._living.discard(number)
                return Delete(memory.path, reason="superseded")
            if sort < _MOVES + _DELETES + _RECORDS:
                score = {"score": round(self._dice.random(), 3), "path": memory.path, "reason": "used again"}
                return Record("memory.importance_scored", score)
        self._living.add(number)
        self._touched.append(number)
        memory.revision += 1
        memory.lines[self._dice.randrange(len(memory.lines))] = " ".join(self._dice.choices(_WORDS, k=9))
        session = self._sessions[int(len(self._sessions) * self._dice.random())]
        return Put(memory.path, memory.body(), extra={"session_id": session})

    def _move(self, memory: _Memory) -> Move:
        memory.moves += 1
        source = memory.path
        memory.path = f"memories/facts/moved/{memory.name}-{memory.moves}.md"
        return Move(source, memory.path)

    def hot(self) -> str:
        return self._all[0].path

    def cold(self) -> str:
        """A living memory that was last written early on."""
        last: dict[int, int] = {number: place for place, number in enumerate(self._touched)}
        living = [number for number in last if number in self._living and not self._all[number].moves]
        return self._all[min(living or last, key=last.__getitem__)].path

    def moved(self) -> str:
        """The living memory with the most former names."""
        return max((self._all[n] for n in self._living), key=lambda memory: (memory.moves, -memory.revision)).path
