"""Taking times, memory and bytes read."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Stats(NamedTuple):
    """What a number of runs took, in seconds (or whatever else was measured)."""

    runs: int
    min: float
    median: float
    p95: float
    max: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Stats":
        """Sums up values; with a single one all figures are that one."""
        ordered = sorted(values)
        last = len(ordered) - 1
        # The nearest rank from above: with 20 runs the p95 is the 19th.
        p95 = ordered[min(last, -(-95 * len(ordered) // 100) - 1)]
        middle = (ordered[last // 2] + ordered[-(-last // 2)]) / 2
        return cls(len(ordered), ordered[0], middle, p95, ordered[last])


def seconds(call: Callable[[], object]) -> float:
    """Returns what one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def calls(call: Callable[[], object], runs: int) -> Stats:
    """Times a call, after one that is not counted."""
    call()
    return Stats.of([seconds(call) for _ in range(runs)])


def processes(commands: Mapping[str, Sequence[str]], runs: int) -> dict[str, Stats]:
    """Times whole processes, taking turns, so that what else the machine does meets all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            took = seconds(lambda command=command: run(command))
            if turn:
                taken[name].append(took)
    return {name: Stats.of(values) for name, values in taken.items()}


def run(command: Sequence[str]) -> bytes:
    """Runs a program that must succeed, in an environment without the developer's settings; returns what it prints."""
    # Bytecode is cached as for any user: the cache must not be told to stay empty.
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env).stdout


# A small parent: a process begins with the peak of the one that started it.
_LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_mib(command: Sequence[str]) -> float:
    """Returns the most memory that a program held, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1_024
    return int(run([sys.executable, "-c", _LAUNCHER, *command])) * unit / 2**20


def bytes_read(call: Callable[[], object]) -> int | None:
    """Returns how many bytes a call reads from files, cached or not; `None` where the system does not say."""
    before = _read_so_far()
    call()
    after = _read_so_far()
    if before is None or after is None:
        return None
    # Looking at the counter is counted as well.
    return after - before - ((_read_so_far() or after) - after)


def _read_so_far() -> int | None:
    try:
        with open("/proc/self/io", encoding="ascii") as handle:
            return next(int(line.split()[1]) for line in handle if line.startswith("rchar:"))
    except OSError:
        return None
