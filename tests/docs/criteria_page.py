"""Writes docs/criteria.md from the list and the tests: `python tests/docs/criteria_page.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.blocks import criteria

PAGE = criteria.ROOT / "docs" / "criteria.md"

HEAD = """\
# Block memory: criteria and their tests

Each criterion that a machine can check is held by tests that are named after it, on SQLite and on PostgreSQL; where one
is of the code alone, it needs no database. That each has its tests is tested, too (`tests/blocks/test_criteria.py`).
Whether those notice when the engine is wrong is shown by breaking it on purpose: `python tests/blocks/mutants.py`.

| criterion | what holds | tests |
| --- | --- | --- |
"""


def render() -> str:
    """Returns the page."""
    held = criteria.collect()
    lines = []
    for each in criteria.load():
        tests = [f"`{test.test}`{_on(test)}" for test in held.get(each.name, [])]
        lines.append(f"| {each.name} | {each.what} | {'<br>'.join(tests)} |\n")
    return HEAD + "".join(lines)


def _on(test: criteria.Held) -> str:
    return f" ({', '.join(test.databases)})" if len(test.databases) == 1 else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
