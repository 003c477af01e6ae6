"""The criteria of block memory that a machine checks, and the tests that are named after them.

A test says in its name what it holds: `test_i3_2_…` criterion I-3.2, `test_v1_2_and_v1_3_…` two of them.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("criteria.txt")
WHERE = ("tests/blocks", "tests/surfaces/cli/test_blocks.py")
DATABASES = ("postgres", "sqlite")

_NAME = re.compile(r"([a-z])(\d+)(?:_(\d+))?_(and_(?=[a-z]\d))?")


class Criterion(NamedTuple):
    """A criterion; one of the `code` alone needs no database."""

    name: str
    what: str
    of_code: bool


class Held(NamedTuple):
    """A test function, and the databases that it runs on."""

    file: str
    test: str
    databases: frozenset[str]


def load() -> list[Criterion]:
    """Returns the list."""
    found = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        head, what = line.split("  ", 1)
        name, _, flag = head.partition(" ")
        found.append(Criterion(name, what, flag == "code"))
    return found


def named_in(test: str) -> list[str]:
    """Returns the criteria that a test's name names."""
    rest, found = test.removeprefix("test_"), []
    while match := _NAME.match(rest):
        letter, first, second, more = match.groups()
        found.append(f"{letter.upper()}-{first}" + (f".{second}" if second else ""))
        rest = rest[match.end() :]
        if not more:
            break
    return found


def collect() -> dict[str, list[Held]]:
    """Returns the tests of each criterion, as pytest finds them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *WHERE],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    databases: dict[tuple[str, str], set[str]] = {}
    for line in done.stdout.splitlines():
        file, _, rest = line.partition("::")
        test, _, parameters = rest.partition("[")
        if test.startswith("test_"):
            on = {name for name in DATABASES if name in re.split(r"[-\[\]]", parameters)}
            databases.setdefault((file, test), set()).update(on)
    found: dict[str, list[Held]] = {}
    for (file, test), on in databases.items():
        for name in named_in(test):
            found.setdefault(name, []).append(Held(file, test, frozenset(on)))
    return found
