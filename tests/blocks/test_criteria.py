"""Every criterion of the list is held by a test of its name, on both databases."""

import pytest

from tests.blocks import criteria

LIST = criteria.load()


@pytest.fixture(scope="module")
def held():
    return criteria.collect()


@pytest.mark.parametrize("criterion", LIST, ids=lambda each: each.name)
def test_a_criterion_has_a_test_on_both_databases(held, criterion):
    tests = held.get(criterion.name, [])
    assert tests, f"no test is named after {criterion.name}: {criterion.what}"
    if not criterion.of_code:
        on = {database for test in tests for database in test.databases}
        assert on == set(criteria.DATABASES), f"{criterion.name} is tested on {sorted(on)} alone"


def test_no_test_is_named_after_what_is_not_in_the_list(held):
    assert set(held) - {each.name for each in LIST} == set()


def test_names_name_criteria():
    assert criteria.named_in("test_i3_2_a_branch") == ["I-3.2"]
    assert criteria.named_in("test_c3_what_is_written") == ["C-3"]
    assert criteria.named_in("test_i5_1_and_c8_who_asks") == ["I-5.1", "C-8"]
    assert criteria.named_in("test_v1_2_and_v1_3_a_and_b2_c") == ["V-1.2", "V-1.3"]
    assert criteria.named_in("test_a_key_of_one") == []
    assert len({each.name for each in LIST}) == len(LIST)
