"""Breaks the engine on purpose, one way at a time, and sees whether the tests notice: `python tests/blocks/mutants.py`.

Each mutant is a copy of the installed package with one text replaced; the tests must pass on a copy that is whole, and
a mutant is killed by a test that fails, not by a package that cannot be imported. With numbers, only those are tried.
It takes some minutes, so it is no part of the suite; run it when the engine or its tests change. Prints a table, and
exits with 1 where one survives.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import cyberos

ROOT = Path(__file__).parents[2]
INSTALLED = Path(cyberos.__file__).parent
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


def survives(number: int, mutant: Mutant | None, folder: Path) -> bool:
    """Runs the tests on a mutant, or on what is installed; returns whether none failed.

    What the tests do not even begin with is no mutant: the copy has to be a whole package, so it is one of what is
    installed, and a run that fails must name the test that did.
    """
    package = folder / str(number) / "cyberos"
    shutil.copytree(INSTALLED, package)
    if mutant is not None:
        file = package / "blocks" / mutant.file
        text = file.read_text(encoding="utf-8")
        if text.count(mutant.old) == 0:
            raise SystemExit(f"{number}: {mutant.file} has no {mutant.old!r}: bring the mutant up to date")
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    every = sorted(each.name for each in (ROOT / "tests" / "blocks").glob("test_*.py"))
    first = [each for each in [mutant.tests if mutant else "", *FIRST] if each]
    names = [*first, *(each for each in every if each not in first)]
    options = ["-x", "-q", "-p", "no:cacheprovider", "--timeout=60"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"tests/blocks/{name}" for name in dict.fromkeys(names))],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(package.parent)
    if run.returncode == 0:
        return True
    killer = re.search(r"^(?:FAILED|ERROR) tests/blocks/(\S+::\S+)", run.stdout, re.MULTILINE)
    if run.returncode != 1 or (killer is None and "Timeout" not in run.stdout + run.stderr):
        raise SystemExit(f"{number}: the tests do not run:\n{run.stdout[-2_000:]}{run.stderr[-2_000:]}")
    _tell(number, "killed", mutant, killer[1] if killer else "a test that never ended")
    return False


def _tell(number: int, verdict: str, mutant: Mutant | None, by: str = "") -> None:
    what = mutant.what if mutant else "nothing is changed"
    print(f"| {number} | {what} | {verdict} | {by} |", flush=True)  # noqa: T201


def _require_installed() -> None:
    """The package that is installed must be the one of this folder."""
    source = ROOT / "python" / "cyberos" / "blocks"
    for file in [*source.rglob("*.py"), *source.rglob("*.sql")]:
        installed = INSTALLED / "blocks" / file.relative_to(source)
        if not installed.exists() or installed.read_bytes() != file.read_bytes():
            raise SystemExit(f"{file.relative_to(ROOT)} is not what is installed: pip install '.[test]'")


def main() -> None:
    """Tries all mutants, or those whose numbers are given; first, that the tests pass where nothing is changed."""
    _require_installed()
    mutants = load()
    chosen = [int(each) for each in sys.argv[1:]] or list(range(1, len(mutants) + 1))
    started = time.monotonic()
    left = []
    with tempfile.TemporaryDirectory(prefix="cyberos-mutants-") as folder:
        if not survives(0, None, Path(folder)):
            raise SystemExit("the tests fail where nothing is changed: no mutant says anything")
        print("|  | mutant | verdict | by |\n| ---: | --- | --- | --- |")  # noqa: T201
        for number in chosen:
            if survives(number, mutants[number - 1], Path(folder)):
                _tell(number, "SURVIVES", mutants[number - 1])
                left.append(number)
    print(f"{len(chosen) - len(left)} of {len(chosen)} killed in {time.monotonic() - started:.0f} s")  # noqa: T201
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
