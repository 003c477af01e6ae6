"""I-1 to I-3: one canonical head, which only the end of a session moves."""

import pytest

from cyberos.blocks.facts import Fact
from cyberos.errors import IntegrationStateInvalid, InvariantRefused
from tests.blocks.home import TABLES, outcome
from tests.blocks.test_sessions import add_old


def head(home):
    return home.project().head


def test_i1_1_one_head_of_the_same_project_and_principal(home):
    home.end(home.append("x:1", "a"))
    project = home.project()
    assert project.integration_state == "ready"
    rows = home.all("SELECT project_id, principal_id FROM block WHERE block_id=?", project.head)
    assert rows == [(home.project_id, home.principal)]
    assert project.logged_head == project.head


def test_i1_2_an_empty_project_gets_one_baseline_that_is_nobodys_work(home):
    first, second = home.start("x:1"), home.start("x:2")
    home.append(first, "mine")
    third = home.start("x:3")
    baselines = home.all("SELECT block_id FROM block WHERE project_id=? AND kind='baseline'", home.project_id)
    assert len(baselines) == 1
    for session in (first, second, third):
        assert session.base_epoch == 0
        assert home.blocks(session)[0].parents == [baselines[0][0]]


BREAKS = {
    "head_is_another": "UPDATE project SET integration_head='{other}' WHERE project_id='{project}'",
    "head_not_logged": "UPDATE project SET integration_epoch=7 WHERE project_id='{project}'",
    "log_ahead_of_head": "UPDATE project SET integration_epoch=1, integration_head='{one}'"
    " WHERE project_id='{project}'",
    "head_of_another_principal": "UPDATE block SET principal_id='stranger' WHERE block_id='{head}'",
    "head_was_changed": "UPDATE block SET hash={hash} WHERE block_id='{head}'",
    "head_is_gone": "DELETE FROM block WHERE block_id='{head}'",
    "head_is_gone: it is another project's": "UPDATE integration_log SET head_block_id='{foreign}' WHERE epoch=2 AND"
    " project_id='{project}'; UPDATE project SET integration_head='{foreign}' WHERE project_id='{project}'",
    "fenced": "UPDATE project SET integration_state='fenced' WHERE project_id='{project}'",
    "log_without_head": "UPDATE project SET integration_state='uninitialized', integration_epoch=NULL,"
    " integration_head=NULL WHERE project_id='{project}'",
}


@pytest.mark.parametrize("broken_head", BREAKS)
def test_i1_3_a_head_that_is_not_sound_stops_everything(broken, broken_head):
    home, reason = broken, broken_head.partition(":")[0]
    foreign = home.beside()
    foreign.end(foreign.append("x:1", "a"))
    still = home.append("x:open", "b")
    home.end(home.append("x:1", "a"))
    one = head(home)
    home.end(home.append("x:2", "a"))
    names = {
        "project": home.project_id, "foreign": head(foreign), "one": one, "head": head(home),
        "other": home.session(still).tip_block_id,
        "hash": "zeroblob(32)" if home.kind == "sqlite" else "decode(repeat('00', 32), 'hex')",
    }  # fmt: skip
    connection = home.raw()
    if home.kind == "sqlite":
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    else:
        connection.execute("SET session_replication_role=replica")
        for table in ("project", "block", "integration_log"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    for statement in BREAKS[broken_head].split("; "):
        connection.execute(statement.format_map(names))
    connection.close()
    foreign.close(shared=True)
    before = home.snapshot()
    acts = [
        lambda: home.start("x:new"), lambda: home.append(still, "c"), lambda: home.end(still),
        lambda: home.abandon(still), lambda: home.resume(still), lambda: home.bootstrap(still),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(IntegrationStateInvalid) as caught:
            act()
        assert caught.value.reason == reason
        assert "blocks check" in caught.value.hints[0]
    assert home.snapshot() == before
    assert "head" in {problem.id for problem in home.problems()}


def test_i1_4_each_head_descends_from_the_one_before_and_from_the_branch(home):
    heads: list[str] = []
    sessions = [home.append(f"x:{number}", "a") for number in range(4)]
    for session in sessions:
        tip = home.session(session).tip_block_id
        home.end(session)
        assert {tip, *heads} <= home.ancestors(head(home))
        heads.append(head(home))


def test_i2_1_a_session_starts_at_the_head_and_nowhere_else(home):
    home.end(home.append("x:1", "a"))
    open_tip = home.session(home.append("x:open", "b")).tip_block_id
    gone = home.append("x:gone", "c")
    home.abandon(gone)
    started = home.start("x:new")
    assert home.blocks(started)[0].parents == [head(home)]
    assert not {open_tip, home.session(gone).tip_block_id} & home.ancestors(home.session(started).tip_block_id)


def test_i2_2_a_start_does_not_move_the_head(home):
    home.end(home.append("x:1", "a"))
    before = home.project()[5:7]
    home.start("x:2")
    assert home.project()[5:7] == before


def test_i2_3_a_start_leaves_all_other_sessions_alone(home, time):
    sleeping = home.append("x:dormant", "a")
    time.pass_(1e7)
    others = [sleeping, home.append("x:open", "b"), home.append("x:ended", "c"), home.append("x:gone", "d")]
    home.end("x:ended")
    home.abandon("x:gone")
    before = home.snapshot()["session"]
    home.start("x:new")
    assert [row for row in home.snapshot()["session"] if row[3] != "x:new"] == before
    assert len(others) == len(before)


def test_i2_3_a_start_leaves_what_was_reconciled_alone(broken):
    home = broken
    add_old(home, "reconciled", "legacy", home.session(home.append("x:open", "a")).tip_block_id)
    before = home.snapshot()["session"]
    home.start("x:new")
    assert [row for row in home.snapshot()["session"] if row[3] != "x:new"] == before
    assert {row[8] for row in before} == {"open", "reconciled"}


def test_i2_4_a_start_that_is_repeated_computes_nothing_again(home):
    first = home.start("x:1")
    home.end(home.append("x:2", "a"))
    before = home.snapshot()
    again = home.start("x:1")
    assert (again.session_id, again.base_epoch, again.epoch, again.created) == (first.session_id, 0, 1, False)
    assert home.snapshot() == before


def test_i3_1_an_end_moves_the_head_to_evidence_of_both(home):
    one, two = home.append("x:1", "a"), home.append("x:2", "b")
    first = home.end(one)
    tip = home.session(two).tip_block_id
    second = home.end(two)
    assert home.block(second.block_id).parents == [tip, first.block_id]
    assert head(home) == second.block_id
    session = home.session(two)
    assert (session.status, session.integrated_epoch) == ("ended", 2)


def test_i3_2_a_branch_that_has_the_head_gets_no_second_parent(home):
    one = home.append("x:1", "a")
    tip = home.session(one).tip_block_id
    done = home.end(one)
    assert (done.parents, home.block(done.block_id).parents) == (1, [tip])
    assert tip in home.ancestors(head(home))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_i3_3_and_v1_2_both_branches_are_in_whatever_the_order(home, time, order):
    sessions = [home.append("x:b", "from b"), home.append("x:c", "from c")]
    tips = {home.session(each).tip_block_id for each in sessions}
    epochs = []
    for place in order:
        epochs.append(home.end(sessions[place]).epoch)
        time.pass_(-3600)  # callers' clocks say the opposite
    assert epochs == [1, 2]
    assert tips <= home.ancestors(head(home))
    for each in sessions:
        kinds = [block.kind for block in home.blocks(each)]
        assert kinds.count("session_end") == 1
    # Nobody has to start for that.
    assert home.all("SELECT count(*) FROM session WHERE project_id=?", home.project_id) == [(2,)]


FAILING = [table for table in TABLES if table not in ("session", "project", "receipt", "receipt_block", "resolution")]


@pytest.mark.parametrize("table", [*FAILING, "session update", "project update"])
def test_i3_4_an_end_that_fails_anywhere_changes_nothing(broken, table):
    home = broken
    session, other = home.append("x:1", Fact("a", "t")), home.append("x:2", Fact("b", "t"))
    home.end(other)
    where, _, update = table.partition(" ")
    connection = home.raw()
    event = "UPDATE" if update else "INSERT"
    if home.kind == "sqlite":
        connection.execute(
            f"CREATE TRIGGER fails BEFORE {event} ON {where} BEGIN SELECT RAISE(ABORT, 'fails: here'); END"
        )
    else:
        connection.execute("CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
                           " $$ BEGIN RAISE EXCEPTION 'fails: here' USING ERRCODE='23B01'; END $$")  # fmt: skip
        connection.execute(f"CREATE TRIGGER fails BEFORE {event} ON {where} FOR EACH ROW EXECUTE FUNCTION fails()")
    before = home.snapshot()
    with pytest.raises(InvariantRefused) as caught:
        home.end(session, summary="done", key="end")
    assert caught.value.invariant == "fails"
    assert home.snapshot() == before
    connection.execute("DROP TRIGGER fails" + ("" if home.kind == "sqlite" else f" ON {where}"))
    connection.close()
    assert home.session(session).status == "open"
    assert home.end(session, summary="done", key="end").conflicts
    assert home.problems() == []


@pytest.mark.parametrize("place", ["begun", "locked", "writing", "precommit"])
@pytest.mark.parametrize("act", ["start", "append", "end", "abandon", "resume"])
def test_i3_4_a_crash_at_any_point_before_the_commit_changes_nothing(home, place, act):
    session = home.append("x:1", "a")
    home.end(home.append("x:2", "b"))

    def hook(name):
        if name == place:
            raise RuntimeError("crash")

    engine = home.with_hook(hook)
    acts = {
        "start": lambda **more: home.start("x:3", key="k", **more),
        "append": lambda **more: home.append(session, "c", key="k", **more),
        "end": lambda **more: home.end(session, key="k", **more),
        "abandon": lambda **more: home.abandon(session, key="k", **more),
        "resume": lambda **more: home.resume(session, key="k", **more),
    }
    before = home.snapshot()
    with pytest.raises(RuntimeError, match="crash"):
        acts[act](engine=engine)
    assert home.snapshot() == before
    assert not acts[act]().replayed


def test_i3_5_an_end_is_all_it_takes(home):
    home.end(home.append("x:1", "accepted"))
    assert [item.text for item in home.bootstrap().history] == ["accepted"]


def test_what_two_branches_say_of_a_topic_is_kept_and_told(home):
    b = home.append("x:b", Fact("two", "approvals"), Fact("same", "agreed"))
    c = home.append("x:c", Fact("one", "approvals"), Fact("same", "agreed"))
    assert home.end(b).conflicts == []
    (name,) = home.end(c).conflicts
    (conflict,) = home.conflicts()
    assert (conflict.conflict_id, conflict.topic, conflict.state) == (name, "approvals", "open")
    assert [side["summary"] for side in conflict.sides] == ["one", "two"]
    assert {"two", "one"} <= {item.text for item in home.bootstrap().history}
    assert [each.conflict_id for each in home.bootstrap().conflicts] == [name]
    # A block on an open branch settles nothing yet.
    d = home.append("x:d", Fact("two it is", "approvals", resolves=(name,)))
    assert [each.state for each in home.conflicts()] == ["pending"]
    assert [each.conflict_id for each in home.bootstrap().conflicts] == [name]
    home.end(d)
    assert home.conflicts() == []
    assert [each.state for each in home.conflicts(settled=True)] == ["settled"]
    assert home.bootstrap().conflicts == []


def test_an_abandoned_block_settles_nothing(home):
    home.append("x:b", Fact("two", "t")), home.append("x:c", Fact("one", "t"))
    home.end("x:b")
    (name,) = home.end("x:c").conflicts
    home.append("x:d", Fact("none", "t", resolves=(name,)))
    home.abandon("x:d")
    assert [each.state for each in home.conflicts()] == ["open"]


def test_a_later_branch_that_saw_the_topic_disagrees_with_nobody(home):
    home.end(home.append("x:b", Fact("two", "t")))
    assert home.end(home.append("x:c", Fact("one", "t"))).conflicts == []


def test_only_a_conflict_of_the_project_can_be_settled(home, neighbour):
    other = neighbour
    other.append("x:b", Fact("two", "t")), other.append("x:c", Fact("one", "t"))
    other.end("x:b")
    (name,) = other.end("x:c").conflicts
    assert outcome(lambda: home.append("x:1", Fact("mine", resolves=(name,)))) == "absent"
    assert home.snapshot()["session"] == []


def test_what_is_canonical_is_what_the_graph_says(home):
    for number in range(6):
        home.append(f"x:{number}", f"{number}a", f"{number}b")
    for number in (3, 0, 5):
        home.end(f"x:{number}")
    home.abandon("x:1")
    home.end(home.append("x:6", "late"))
    reached = home.ancestors(head(home))
    every = home.all("SELECT block_id FROM block WHERE project_id=?", home.project_id)
    assert {name for (name,) in every if home.block(name).epoch is not None} == reached
