"""The window of the graph: what the explorer, and `blocks log`, stand on (U-1, U-2, U-3)."""

import json

from cyberos.answers import to_dict
from cyberos.blocks.graph import WINDOW_LIMIT


def grow(home):
    for number in range(12):
        home.append(f"x:{number}", f"text of {number}")
    for number in range(0, 12, 3):
        home.end(f"x:{number}")
    home.abandon("x:1")
    for number in range(20, 26):
        home.end(home.append(f"x:{number}", *(f"{each} " * 60 for each in range(5))))


def test_u1_1_the_head_and_the_tips_are_told_apart(home):
    grow(home)
    window = home.graph(limit=5)
    assert window.head == home.project().head
    assert {tip.native_ref for tip in window.tips} == {f"x:{number}" for number in (2, 4, 5, 7, 8, 10, 11)}
    assert window.head not in {tip.block_id for tip in window.tips}


def test_u1_3_and_v1_5_counts_are_of_all_sessions(home):
    grow(home)
    small, large = home.graph(limit=1), home.graph(limit=1_000)
    assert small.counts == large.counts == {"open": 7, "dormant": 0, "ended": 10, "abandoned": 1, "reconciled": 0}


def test_u2_1_head_and_open_tips_are_in_any_window(home):
    grow(home)
    window = home.graph(limit=3)
    shown = {node.block_id for node in window.nodes}
    assert {window.head, *(tip.block_id for tip in window.tips)} <= shown
    assert [node.anchor for node in window.nodes].count(False) == 3
    # More open tips than the window has room for.
    assert len(window.nodes) > 3


def test_u2_2_a_parent_that_is_cut_off_is_named(home):
    grow(home)
    window = home.graph(limit=3)
    shown = {node.block_id for node in window.nodes}
    roots = [node for node in window.nodes if not node.parents]
    assert roots == []  # the baseline is not in it: nothing poses as a root
    assert any(parent not in shown for node in window.nodes for parent in node.parents)


def test_u2_3_there_is_one_limit(home):
    assert home.graph(limit=10**6).limit == WINDOW_LIMIT


def test_u2_4_windows_follow_each_other_without_gaps_also_while_more_is_added(home):
    grow(home)
    seen = []
    before = None
    while True:
        window = home.graph(limit=7, before=before)
        seen += [node.seq for node in window.nodes if not node.anchor]
        if window.before is None:
            break
        before = window.before
        home.append("x:more", "added meanwhile")
    total = seen[0] + 1
    assert seen == list(range(total - 1, -1, -1))


def test_u3_2_no_payload_is_in_a_window(home):
    grow(home)
    window = json.dumps(to_dict(home.graph(limit=1_000)))
    assert "payload" not in window
    assert "0 " * 60 not in window  # no more than its first line, and not all of that


def test_whether_a_block_is_canonical_is_in_the_window(home):
    home.end(home.append("x:1", "a"))
    home.append("x:2", "b")
    home.abandon(home.append("x:3", "c"))
    epochs = {node.native_ref: node.epoch for node in home.graph().nodes}
    assert epochs == {None: 0, "x:1": 1, "x:2": None, "x:3": None}
