"""What the hashes of blocks and of the integration log cover, and that they stay what they are."""

import hashlib

import pytest

from cyberos.blocks import canonical, growth, integration

HEADER = (
    "blk_1",
    "prj_1",
    "p",
    "ses_1",
    2,
    7,
    "note",
    1,
    b"\x01" * 32,
    10,
    3,
    "key",
    "ann",
    1_800_000_000_000_000_001,
    5,
)
PARENTS = [b"\x02" * 32, b"\x03" * 32]
ENTRY = ("prj_1", 3, "blk_1", b"\x01" * 32, 2, "blk_0", b"\x02" * 32, "end", "ses_1", None, 4, 50, "ann", 10**18 + 1)


def test_a_blocks_hash_is_what_it_was():
    spelled = (
        '["block",1,"blk_1","prj_1","p","ses_1","2","7","note","1","' + "01" * 32 + '","10","3","key","ann",'
        '"1800000000000000001","5",["' + "02" * 32 + '","' + "03" * 32 + '"]]'
    )
    assert growth.hash_of(HEADER, PARENTS) == hashlib.sha256(spelled.encode()).digest()


def test_a_log_entrys_hash_is_what_it_was():
    spelled = (
        '["integration",1,"prj_1","3","blk_1","' + "01" * 32 + '","2","blk_0","' + "02" * 32 + '","end","ses_1",null,'
        '"4","50","ann","1000000000000000001"]'
    )
    assert integration.entry_hash(ENTRY) == hashlib.sha256(spelled.encode()).digest()


@pytest.mark.parametrize("place", range(len(HEADER)))
def test_every_column_of_a_block_counts(place):
    changed = [*HEADER]
    changed[place] = None
    assert growth.hash_of(tuple(changed), PARENTS) != growth.hash_of(HEADER, PARENTS)


@pytest.mark.parametrize("parents", [[], PARENTS[:1], PARENTS[::-1]])
def test_the_parents_of_a_block_count(parents):
    assert growth.hash_of(HEADER, parents) != growth.hash_of(HEADER, PARENTS)


@pytest.mark.parametrize("place", range(len(ENTRY)))
def test_every_column_of_a_log_entry_counts(place):
    changed = [*ENTRY]
    changed[place] = "other"
    assert integration.entry_hash(tuple(changed)) != integration.entry_hash(ENTRY)


def test_json_has_one_spelling():
    assert canonical.encode({"b": [1, None, True], "a": "ü\n"}) == '{"a":"ü\\n","b":[1,null,true]}'.encode()
