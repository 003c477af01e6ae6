"""I-4: what a session is told, and what it is never told."""

import json
from itertools import count

import pytest

from cyberos.answers import encode_json, to_dict
from cyberos.blocks import facts, ids
from cyberos.blocks.facts import Fact
from cyberos.errors import BadArgument, SessionEnded
from tests.blocks.home import Home, outcome


def texts(items):
    return [item.text for item in items]


def test_i4_1_accepted_history_and_no_other_branch(home, time):
    home.end(home.append("x:1", "accepted"), summary="it went well")
    home.append("x:dormant", "dormant secret")
    time.pass_(1e7)
    home.append("x:open", "open secret")
    home.append("x:gone", "abandoned secret")
    home.abandon("x:gone", reason="abandoned reason")
    session = home.start("x:new")
    told = home.bootstrap(session)
    assert texts(told.history) == ["accepted", "it went well"]
    assert told.branch == []
    assert "secret" not in json.dumps(to_dict(told))
    assert "reason" not in json.dumps(to_dict(told.history))
    assert home.bootstrap().history == told.history


def test_i4_2_a_session_that_goes_on_gets_its_branch_and_its_base(home, time):
    home.end(home.append("x:1", "before"))
    session = home.append("x:2", "mine", "mine, too")
    home.end(home.append("x:3", "after"))
    time.pass_(1e7)
    home.resume(session)
    told = home.bootstrap(session)
    assert (texts(told.history), texts(told.branch)) == (["before"], ["mine", "mine, too"])
    assert (told.base_epoch, told.epoch) == (1, 2)
    assert home.session(session).base_epoch == 1  # nothing was rebased
    assert {item.epoch for item in told.branch} == {None}


def test_i4_3_the_newest_that_fit_and_an_honest_count_of_the_rest(home):
    for number in range(30):
        home.end(home.append(f"x:{number}", *(f"{number}/{each} {'word ' * (number % 7)}" for each in range(3))))
    session = home.append("x:own", *(f"own {each} {'word ' * each}" for each in range(20)))
    every = home.bootstrap(session, budget=1_000_000)
    assert (len(every.history), len(every.branch)) == (90, 20)
    assert every.omitted[1:] == (0, 0, 0, 0, 0)
    for budget in (0, 1, 9, 10, 11, 50, 99, 100, 500, 1_000, 10_000):
        told = home.bootstrap(session, budget=budget)
        # Whole blocks, the newest, without gaps.
        assert told.history == every.history[len(every.history) - len(told.history) :]
        assert told.branch == every.branch[len(every.branch) - len(told.branch) :]
        assert told.tokens == sum(item.tokens for item in [*told.history, *told.branch]) <= budget
        omitted = told.omitted
        assert omitted.history_blocks + len(told.history) == 90
        assert omitted.history_tokens + sum(item.tokens for item in told.history) == sum(
            item.tokens for item in every.history
        )
        assert omitted.branch_blocks + len(told.branch) == 20
        assert omitted.branch_tokens + sum(item.tokens for item in told.branch) == sum(
            item.tokens for item in every.branch
        )
        if omitted.history_blocks:  # the next one would not have fitted
            assert told.tokens + every.history[-len(told.history) - 1].tokens > budget
        assert told.omitted.reason == "token_budget"


def test_i4_3_the_same_state_gets_the_same_bytes(home):
    home.end(home.append("x:1", "a"))
    session = home.append("x:2", "b")
    first = encode_json(to_dict(home.bootstrap(session)))
    assert encode_json(to_dict(home.bootstrap(session))) == first
    home.start("x:3")  # what others do changes nothing
    home.append("x:3", "c")
    assert encode_json(to_dict(home.bootstrap(session))) == first


def test_both_databases_hand_out_the_same_bytes(new_home, time, monkeypatch):
    told = []
    for kind in ("sqlite", "postgres"):
        numbers = count(1)
        monkeypatch.setattr(Home, "new_id", lambda self, kind, numbers=numbers: f"{kind}_same_{next(numbers):04}")
        home = new_home(kind, alone=True)
        for number in range(12):
            home.append(
                f"x:{number}", Fact(f"{number} Ünïcode \u200d", f"topic {number % 3}", data={"z": 1, "a": ["ß", None]})
            )
            if number % 4:
                home.end(f"x:{number}", summary="done" if number % 2 else None)
        for budget in (0, 10, 40, 100, 400, 4_000):
            told += [
                (kind, budget, ref, encode_json(to_dict(home.bootstrap(ref, budget=budget))))
                for ref in (None, "x:0", "x:4", "x:8")
            ]
    half = len(told) // 2
    assert [each[1:] for each in told[:half]] == [each[1:] for each in told[half:]]
    assert len({each[3] for each in told[:half]}) > half // 2


def test_i4_4_nothing_is_called_agreed_that_nobody_looked_at(home):
    home.end(home.append("x:1", "a"))
    told = home.bootstrap(home.start("x:2"))
    assert told.analysis == {"topics": "compared_at_end", "meaning": "not_analysed"}
    assert "no conflict" not in json.dumps(to_dict(told)).lower().replace("_", " ")


def test_i4_2_what_was_settled_since_is_still_open_to_who_branched_before(home):
    home.append("x:b", Fact("two", "t")), home.append("x:c", Fact("one", "t"))
    home.end("x:b")
    (name,) = home.end("x:c").conflicts
    before = home.start("x:before")
    home.end(home.append("x:d", Fact("two it is", "t", resolves=(name,))))
    assert [each.conflict_id for each in home.bootstrap(before).conflicts] == [name]
    assert home.bootstrap(home.start("x:after")).conflicts == []


def test_v1_3_a_new_session_sees_what_ended_and_not_what_is_open(home):
    for name in ("b", "c", "e"):
        home.append(f"x:{name}", f"sentinel {name}")
    home.end("x:b")
    home.end("x:c")
    session = home.start("x:d")
    assert home.blocks(session)[0].parents == [home.project().head]
    told = home.bootstrap(session)
    assert texts(told.history) == ["sentinel b", "sentinel c"]
    assert "sentinel e" not in json.dumps(to_dict(told))
    assert home.session("x:e").status == "open"


def test_what_was_handed_out_is_kept(home):
    home.end(home.append("x:1", "a", "b"))
    session = home.start("x:2")
    first = home.bootstrap(session)
    again = home.bootstrap(session)
    assert again.receipt_id == first.receipt_id
    home.append(session, "c")
    second = home.bootstrap(session, budget=30)
    kept = receipts(home, session)
    assert [each.receipt_id for each in kept] == [first.receipt_id, second.receipt_id]
    assert kept[0].blocks == [item.block_id for item in first.history]
    assert kept[1].blocks == [item.block_id for item in [*second.history, *second.branch]]
    assert (kept[0].content_sha256, kept[0].tokens) == (first.content_sha256, first.tokens)
    assert (kept[1].omitted_blocks, kept[1].tip_seq) == (second.omitted.history_blocks, 2)
    assert home.block(first.history[0].block_id).handed_to == [session.session_id]
    home.end(session)
    assert receipts(home, session) == kept  # also when it is over


def receipts(home, session):
    from cyberos.blocks import views
    from tests.blocks.home import target

    return views.receipts(home.engine, home.caller, home.project_id, target(session))


def test_a_session_that_is_over_is_told_nothing(home):
    home.end(home.append("x:1", "a"))
    with pytest.raises(SessionEnded):
        home.bootstrap("x:1")
    assert outcome(lambda: home.bootstrap("x:none")) == "absent"


def test_a_project_where_nothing_ended_yet(home):
    told = home.bootstrap()
    assert (told.history, told.base_epoch, told.omitted.history_blocks) == ([], None, 0)
    assert home.bootstrap(home.start("x:1")).base_epoch == 0


@pytest.mark.parametrize("budget", [-1, 1_000_001])
def test_budgets_have_bounds(home, budget):
    with pytest.raises(BadArgument):
        home.bootstrap(budget=budget)


def test_more_history_than_fits_into_a_page(home):
    for number in range(5):
        home.end(home.append(f"x:{number}", *(f"{number}.{each}" for each in range(50))))
    told = home.bootstrap(budget=100_000)
    assert texts(told.history) == [f"{number}.{each}" for number in range(5) for each in range(50)]


@pytest.mark.parametrize(
    "fact",
    [
        Fact(""), Fact("  \n "), Fact("\ud800"), Fact("x" * 70_000), Fact("a", "\x07"), Fact("a", "t" * 201),
        Fact("a", key=""), Fact("a", key="k" * 201), Fact("a", data={"x": 1.5}), Fact("a", data={"x": 2**60}),
        Fact("a", data={"x": float("nan")}), Fact("a", data={"x": {1: 2}}), Fact("a", data={"x": "y" * 300_000}),
        Fact("a", data={"x": {1, 2}}), Fact("a", resolves=("cft_none",)),
    ],
    ids=range(15),
)  # fmt: skip
def test_facts_that_no_block_can_have(home, fact):
    before = home.snapshot()
    assert outcome(lambda: home.append("x:1", "good", fact)) in ("fact_refused", "bad_argument", "absent")
    assert home.snapshot() == before


def test_any_text_comes_back_as_it_was(home):
    stated = [
        *("plain", "Ünïcode ✓ 𝄞", "two\nlines\r\n", '"quotes" \\ and \x00 \x1b[31m', "' OR 1=1; --", "%s %d ?"),
        *("\u202eabc", "e\u0301"),
    ]
    home.append("x:1", *(Fact(text, data={"same": text}) for text in stated))
    blocks = home.blocks("x:1")[1:]
    assert [block.text for block in blocks] == stated
    assert [block.data for block in blocks] == [{"same": text} for text in stated]


def test_topics_have_one_spelling(home):
    home.append("x:b", Fact("1", "café  Rules")), home.append("x:c", Fact("2", "cafe\u0301 Rules "))
    home.end("x:b")
    assert len(home.end("x:c").conflicts) == 1


def test_an_estimate_is_never_nothing():
    assert facts.tokens_of("x") == 9
    assert facts.tokens_of("ä" * 10) == 13


def test_ids_sort_by_time_and_are_new(time):
    made = []
    for _ in range(50):
        made.append(ids.new("blk"))
        time.pass_(0.002)
    assert sorted(made) == made
    assert len({*made, *(ids.new("blk") for _ in range(1000))}) == 1050
