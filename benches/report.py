"""What was measured, as a table for people and as JSON."""

import os
import platform
from collections.abc import Iterable
from typing import Any, NamedTuple

from measure import Stats

# How a unit is written, and what a value is multiplied by.
_UNITS = {
    "ms": ("ms", 1e3, 2),
    "us": ("µs", 1e6, 0),
    "s": ("s", 1.0, 2),
    "MiB": ("MiB", 1.0, 1),
    "rows/s": ("rows/s", 1.0, 0),
    "requests/s": ("requests/s", 1.0, 0),
    "MB/s": ("MB/s", 1.0, 0),
}
_UNITS |= {"B": ("B", 1.0, 0), "x": ("x", 1.0, 2), "KiB": ("KiB", 1 / 1024, 1)}


class Case(NamedTuple):
    """One case: its figures, and what they are held to."""

    name: str
    rows: int
    unit: str
    figures: Stats
    # The target in words, the figure that it is about, and whether it is met; `None` where there is no target.
    target: str = ""
    measured: str = ""
    met: bool | None = None

    def verdict(self) -> str:
        """Says whether the target is met."""
        return {None: "", True: "PASS", False: "MISS"}[self.met]


def single(name: str, rows: int, unit: str, value: float, target: str = "", met: bool | None = None) -> Case:
    """A case with one figure."""
    return Case(name, rows, unit, Stats.of([value]), target, "", met)


def table(cases: Iterable[Case]) -> list[str]:
    """The cases as a Markdown table."""
    head = ("case", "rows", "min", "median", "p95", "max", "target", "measured", "")
    lines = [head, ("---", *["---:"] * 5, "---", "---", "---")]
    lines += [
        (case.name, _count(case.rows), *_figures(case), case.target, case.measured, case.verdict()) for case in cases
    ]
    return ["| " + " | ".join(line) + " |" for line in lines]


def machine() -> dict[str, Any]:
    """Where the figures are from."""
    load = os.getloadavg()[0]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "python": platform.python_version(),
        "load": round(load, 1),
    }


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def to_json(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """The cases as JSON: times are in seconds, memory in MiB, what is read in bytes."""
    return [{**case._asdict(), "figures": case.figures._asdict()} for case in cases]


def _figures(case: Case) -> list[str]:
    unit, factor, digits = _UNITS[case.unit]
    figures = case.figures
    values = (figures.min, figures.median, figures.p95, figures.max)
    if figures.runs == 1:
        return ["", f"{figures.median * factor:,.{digits}f} {unit}", "", ""]
    return [f"{value * factor:,.{digits}f} {unit}" for value in values]


def _count(rows: int) -> str:
    power = len(str(rows)) - 1
    return f"10^{power}" if rows == 10**power and rows else f"{rows:,}" if rows else ""
