"""A store filled with made-up work, the same for the same seed: for the demo and for benchmarks."""

import random
from collections.abc import Callable
from typing import Final, NamedTuple

from cyberos.core.changes import Change, Delete, Move, Put, Record
from cyberos.core.writer import Writer

_ACTORS: Final = ("coding-agent", "claude-code-hook", "dream-applier", "reviewer", "stephen")
_WORDS: Final = (
    "alpha", "branch", "cache", "deploy", "error", "fallback", "gateway", "handler", "index", "journal", "kernel",
    "ledger", "metric", "node", "offset", "policy", "queue", "retry", "schema", "token", "upload", "vault", "worker",
    "zone",
)  # fmt: skip
# Shares of all rows; the rest are puts.
_MOVES, _DELETES, _RECORDS = 0.04, 0.03, 0.10
_KINDS: Final = ("put", "move", "delete", "memory.importance_scored")
_LINES: Final = 4_096
_CHUNK: Final = 16_384
_NS: Final = 1_000_000_000
# The made-up work fills these days, so that segments, ages and months differ.
_DAYS: Final = 60


class Probe(NamedTuple):
    """A path to ask about, and what the answer must be: how many rows, and the kinds of the newest ten."""

    path: str
    rows: int
    newest: tuple[str, ...]


class Sample(NamedTuple):
    """What a sample store holds: how many rows, and a path of each sort to ask about."""

    rows: int
    hot: Probe
    cold: Probe
    moved: Probe
    never: Probe


class _Memory:
    """One memory that the generator keeps changing."""

    __slots__ = ("last", "lines", "moves", "name", "path", "revision", "rows")

    def __init__(self, number: int, lines: list[str]) -> None:
        self.name = f"fact-{number:05d}"
        self.path = f"memories/facts/{number % 50:02d}/{self.name}.md"
        self.lines, self.revision, self.moves = lines, 0, 0
        self.last, self.rows = 0, bytearray()

    def note(self, kind: str, place: int) -> None:
        self.rows.append(_KINDS.index(kind))
        self.last = place

    def probe(self) -> Probe:
        return Probe(self.path, len(self.rows), tuple(_KINDS[kind] for kind in self.rows[:-11:-1]))

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
    return Sample(rows, work.hot(), work.cold(), work.moved(), Probe("memories/facts/never-was.md", 0, ()))


class _Work:
    """Makes up one change after the other."""

    def __init__(self, dice: random.Random, memories: int, body_lines: int) -> None:
        self._dice = dice
        self._lines = [" ".join(dice.choices(_WORDS, k=9)) for _ in range(_LINES)]
        self._all = [_Memory(number, [self._line() for _ in range(body_lines)]) for number in range(memories)]
        self._living: set[int] = set()
        self._done = 0
        self._sessions = [f"session-{number:04d}" for number in range(200)]

    def _line(self) -> str:
        return self._lines[int(_LINES * self._dice.random())]

    def actor(self) -> str:
        return _ACTORS[int(len(_ACTORS) * self._dice.random() ** 2)]

    def next(self) -> Change:
        # Cubing crowds the numbers at zero: a few memories are written all the time, most of them hardly ever.
        number = int(len(self._all) * self._dice.random() ** 3)
        memory = self._all[number]
        change = self._change(number, memory)
        self._done += 1
        memory.note(change.row_kind if isinstance(change, Record) else change.kind, self._done)
        return change

    def _change(self, number: int, memory: _Memory) -> Change:
        sort = self._dice.random()
        if number in self._living:
            # The hottest memory lives for ever, under one name.
            if sort < _MOVES and number:
                return self._move(memory)
            if sort < _MOVES + _DELETES and number:
                self._living.discard(number)
                return Delete(memory.path, reason="superseded")
            if sort < _MOVES + _DELETES + _RECORDS:
                score = {"score": round(self._dice.random(), 3), "path": memory.path, "reason": "used again"}
                return Record("memory.importance_scored", score)
        self._living.add(number)
        memory.revision += 1
        memory.lines[int(len(memory.lines) * self._dice.random())] = self._line()
        session = self._sessions[int(len(self._sessions) * self._dice.random())]
        return Put(memory.path, memory.body(), extra={"note": self._line(), "session_id": session})

    def _move(self, memory: _Memory) -> Move:
        memory.moves += 1
        source = memory.path
        memory.path = f"memories/facts/moved/{memory.name}-{memory.moves}.md"
        return Move(source, memory.path)

    def hot(self) -> Probe:
        return self._all[0].probe()

    def cold(self) -> Probe:
        """The memory that was not written for longest."""
        return min((memory for memory in self._all if memory.rows), key=lambda memory: memory.last).probe()

    def moved(self) -> Probe:
        """The living memory with the most former names."""
        living = (self._all[number] for number in self._living)
        return max(living, key=lambda memory: (memory.moves, -memory.revision)).probe()
