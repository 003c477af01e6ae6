"""The list of mutants is up to date: what each replaces is in the engine. Whether tests kill them: see mutants.py."""

import pytest

from tests.blocks import mutants

LIST = mutants.load()


def test_there_are_enough():
    assert len(LIST) >= 25
    assert len({each.what for each in LIST}) == len(LIST)


@pytest.mark.parametrize("mutant", LIST, ids=lambda each: each.what)
def test_a_mutant_changes_something(mutant):
    text = (mutants.ROOT / "python" / "cyberos" / "blocks" / mutant.file).read_text(encoding="utf-8")
    assert mutant.old in text
    assert mutant.old != mutant.new
