"""Breaks the engine on purpose, one way at a time, and sees whether the tests notice: `python tests/blocks/mutants.py`.

Each mutant is a copy of the package with one text replaced. With numbers, only those are tried. It takes some minutes,
so it is no part of the suite; run it when the engine or its tests change. Exits with 1 where one survives.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.txt")
FIRST = ["test_integration.py", "test_requests.py", "test_sessions.py", "test_bootstrap.py"]


class Mutant(NamedTuple):
    """What is done to the engine; `tests` are those that are tried first."""

    what: str
    file: str
    old: str
    new: str
    tests: str = ""


def load() -> list[Mutant]:
    """Returns the mutants: what each does, its file and tests, the lines that are replaced, and those that replace."""
    found = []
    for section in LIST.read_text(encoding="utf-8").strip().split("\n\n"):
        what, where, *lines = section.split("\n")
        file, _, tests = where.partition(" ")
        old, new = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        found.append(Mutant(what.removeprefix("# "), file, old, new, tests))
    return found


def survives(number: int, mutant: Mutant, folder: Path) -> bool:
    """Runs the tests on a mutant; returns whether none failed."""
    package = folder / str(number) / "cyberos"
    shutil.copytree(ROOT / "python" / "cyberos", package)
    file = package / "blocks" / mutant.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.old) == 0:
        raise SystemExit(f"{number}: {mutant.file} has no {mutant.old!r}: bring the mutant up to date")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    every = sorted(each.name for each in (ROOT / "tests" / "blocks").glob("test_*.py"))
    first = [each for each in [mutant.tests or "", *FIRST] if each]
    names = [*first, *(each for each in every if each not in first)]
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--timeout=60",
            *(f"tests/blocks/{name}" for name in names),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(package.parent)
    killer = next((line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    print(  # noqa: T201
        f"{number:>3} {'SURVIVES' if run.returncode == 0 else 'killed'}  {mutant.what}  {killer[:100]}", flush=True
    )
    return run.returncode == 0


def main() -> None:
    """Tries all mutants, or those whose numbers are given."""
    mutants = load()
    chosen = [int(each) for each in sys.argv[1:]] or list(range(1, len(mutants) + 1))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cyberos-mutants-") as folder:
        left = [number for number in chosen if survives(number, mutants[number - 1], Path(folder))]
    print(f"{len(chosen) - len(left)} of {len(chosen)} killed in {time.monotonic() - started:.0f} s")  # noqa: T201
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
