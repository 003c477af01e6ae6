"""Files stay small enough to be read at one sitting."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUDGET = 400
COMMAND_BUDGET = 200
# The compiled core is one module, so its stub is one file.
STUB_BUDGET = 800


def sources():
    for folder, pattern in (
        ("python", "*.py*"),
        ("rust", "*.rs"),
        ("tests", "*.py"),
        ("benches", "*.py"),
        ("benches", "*.rs"),
    ):
        yield from (file for file in (ROOT / folder).rglob(pattern) if file.suffix in {".py", ".pyi", ".rs"})


@pytest.mark.parametrize("file", sorted(sources()), ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_keeps_within_its_budget(file):
    budget = COMMAND_BUDGET if file.parent.name == "commands" else STUB_BUDGET if file.suffix == ".pyi" else BUDGET
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= budget, f"{lines} lines: split it by what its parts are about"
