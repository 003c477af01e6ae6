"""S-1 to S-3: what a session goes through, and what nobody but its owner's deliberate act changes."""

import pytest

from cyberos.blocks import lifecycle, states, views
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import DAY_NS
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from cyberos.errors import Absent, BadArgument, SessionAbandoned, SessionEnded, SessionReconciled
from tests.blocks import attacks
from tests.blocks.home import outcome
from tests.blocks.test_forbidden import REFUSED

WEEK = 7 * DAY_NS / 1e9


def test_s1_1_an_open_session_takes_append_resume_and_end(home):
    session = home.start("x:1")
    assert home.append(session, "a").blocks
    assert home.resume(session).blocks == 1
    assert home.end(session).epoch == 1


def test_s1_2_a_quiet_session_is_shown_as_dormant_and_stays_open(home, time):
    session = home.start("x:1")
    home.append(session, "a")
    before = home.snapshot()
    time.pass_(WEEK)
    assert home.session(session).status == states.DORMANT
    assert [tip.status for tip in home.graph().tips] == [states.DORMANT]
    assert home.graph().counts["dormant"] == 1
    assert home.snapshot() == before  # it is nowhere written down
    assert home.append(session, "b").blocks
    assert home.session(session).status == states.OPEN
    time.pass_(WEEK)
    assert home.resume(session).was == states.DORMANT
    time.pass_(WEEK)
    assert home.end(session).epoch == 1


def test_s1_2_lists_of_one_state_are_not_cut_short_by_the_other(home, time):
    """A limit counts what is asked for: however many sessions of the other kind are newer."""
    for number in range(3):
        home.start(f"x:{number}")
    time.pass_(DAY_NS / 1e9)  # not more than the threshold: still open
    home.resume("x:1")
    time.pass_(1)
    for number in range(3):
        home.start(f"y:{number}")

    def listed(status, limit):
        found = views.sessions(home.engine, home.caller, home.project_id, status=status, limit=limit)
        assert {each.status for each in found} <= {status}
        return [each.native_ref for each in found]

    assert listed("dormant", 2) == ["x:2", "x:0"]
    assert listed("dormant", 1) == ["x:2"]
    assert sorted(listed("open", 9)) == ["x:1", "y:0", "y:1", "y:2"]
    assert listed("ended", 9) == []
    home.end("x:0")
    assert (listed("ended", 9), listed("dormant", 9)) == (["x:0"], ["x:2"])


def test_s1_3_another_start_ends_nobodys_session(home, time):
    others = [home.start("x:1"), home.start("x:2")]
    home.append(others[0], "a")
    time.pass_(100 * WEEK)
    before = [home.session(each)._replace(status="") for each in others]
    for number in range(5):
        home.start(f"y:{number}")
    assert [home.session(each)._replace(status="") for each in others] == before
    assert {home.session(each).status for each in others} == {states.DORMANT}


def add_old(home, status, origin, tip):
    """Adds a session as an import or a migration does."""
    connection = home.raw()
    mark = "?" if home.kind == "sqlite" else "%s"
    project = home.project_id
    connection.execute("INSERT INTO admin_run(run_id, project_id, kind, state, actor, started_ns)"
                       f" VALUES('r', {mark}, 'import', 'executing', 'x', 1)", (project,))  # fmt: skip
    connection.execute("BEGIN")
    block = f"""INSERT INTO block(block_id, project_id, principal_id, session_id, session_seq, project_seq, kind,
        parent_count, payload_sha256, payload_bytes, token_est, actor, occurred_ns, created_ns, hash)
        SELECT 'old_tip', project_id, principal_id, 'old', 1, 900, 'session_start', 0, payload_sha256,
        payload_bytes, 0, 'x', 1, 1, hash FROM block WHERE block_id={mark}"""
    session = f"""INSERT INTO session(session_id, project_id, principal_id, native_ref, generation, origin, status,
        tip_block_id, tip_seq, actor, started_ns, last_activity_ns, terminal_ns, terminal_block_id, terminal_actor)
        SELECT 'old', project_id, principal_id, 'x:old', 1, {mark}, {mark}, 'old_tip', 1, 'x', 1, 1, 1, 'old_tip', 'x'
        FROM project WHERE project_id={mark}"""
    connection.execute(block, (tip,))
    connection.execute(session, (origin, status, project))
    connection.execute("COMMIT")
    connection.execute("UPDATE admin_run SET state='completed', finished_ns=2")
    connection.close()


@pytest.mark.parametrize(
    ("status", "origin", "error"),
    [("ended", "import", SessionEnded), ("reconciled", "legacy", SessionReconciled)],
)
def test_s1_4_and_s1_5_old_sessions_stay_what_they_are(broken, status, origin, error):
    home = broken
    first = home.start("y:1")
    tip = home.session(first).tip_block_id
    add_old(home, status, origin, tip)
    assert home.session("old").status == status  # added just now, and long over
    for act in (home.append, home.resume, home.end, home.abandon):
        with pytest.raises(error):
            act("old", *(["text"] if act == home.append else []))
    after = home.start("x:old")
    assert (after.created, after.generation, after.successor_of) == (True, 2, "old")
    assert home.session("old").status == status


def test_s1_5_nothing_that_runs_makes_a_session_reconciled(home):
    """No command leads there, and the tables take it from nobody but a migration."""
    assert states.RECONCILED not in {each.after for each in states.SESSION}
    home.end(home.append("x:1", "a"))
    home.append("x:open", "b")
    names = {"ended": home.session("x:1").session_id, "open": home.session("x:open").session_id}
    before = home.snapshot()
    connection = home.raw()
    for attack in ("reconcile an open session", "a session born reconciled"):
        with pytest.raises(REFUSED, match="session_"):
            connection.execute(attacks.ATTACKS[attack].format_map(names))
    connection.close()
    assert home.snapshot() == before


def test_s2_1_one_open_session_for_a_native_reference(home):
    first = home.start("claude-code:1")
    assert (first.created, first.base_epoch) == (True, 0)
    home.append(first, "a")
    again = home.start("claude-code:1")
    assert (again.session_id, again.created) == (first.session_id, False)
    by_ref = home.append("claude-code:1", "b")
    assert (by_ref.session_id, by_ref.started) == (first.session_id, False)
    assert len(home.blocks(first)) == 3
    assert home.start("codex:1").session_id != first.session_id


def test_s2_1_a_session_is_the_principals_whatever_the_credential(home, neighbour):
    """Another machine goes on with it; another principal's harness of the same name has one of its own."""
    first = home.append("claude-code:1", "a")
    home.add_credential("laptop", f"laptop-{home.number}")
    laptop, to = Caller("bob", f"laptop-{home.number}"), Target(native_ref="claude-code:1")
    again = lifecycle.start(home.engine, laptop, home.project_id, "claude-code:1")
    assert (again.session_id, again.created) == (first.session_id, False)
    assert lifecycle.append(home.engine, laptop, home.project_id, to, [Fact("b")]).session_id == first.session_id
    assert [block.actor for block in home.blocks(first)] == ["ann", "ann", "bob"]
    assert neighbour.start("claude-code:1").session_id != first.session_id


def test_s2_1_append_by_reference_starts_a_session(home):
    appended = home.append("x:lazy", "a")
    assert appended.started
    assert home.start("x:lazy").session_id == appended.session_id


def test_s2_2_resuming_makes_and_ends_nothing(home):
    session = home.start("x:1")
    home.append(session, "a")
    before = home.snapshot()
    for _ in range(3):
        home.resume("x:1")
        home.start("x:1")
    after = home.snapshot()
    assert {table for table in before if before[table] != after[table]} <= {"session"}
    unchanged = slice(0, 9)  # all but the tip, the counts and the times
    assert [row[unchanged] for row in before["session"]] == [row[unchanged] for row in after["session"]]
    assert home.session(session).status == states.OPEN


def test_s2_2_resuming_what_is_not_there_makes_nothing(home):
    with pytest.raises(Absent):
        home.resume("x:never")
    assert home.snapshot()["session"] == []


@pytest.mark.parametrize("over", ["end", "abandon"])
def test_s2_3_a_successor_only_by_start_and_to_be_seen(home, over):
    first = home.start("x:1")
    getattr(home, over)(first)
    with pytest.raises((SessionEnded, SessionAbandoned)):
        home.resume("x:1")
    with pytest.raises((SessionEnded, SessionAbandoned)):
        home.append(first, "late")
    second = home.start("x:1")
    assert (second.generation, second.successor_of) == (2, first.session_id)
    assert home.session(second).successor_of == first.session_id
    getattr(home, over)(second)
    third = home.append("x:1", "lazily")
    assert third.started
    assert home.session(third).successor_of == second.session_id


def test_s3_1_abandoning_leaves_evidence_and_refuses_more(home):
    session = home.start("x:1")
    home.append(session, "a")
    done = home.abandon(session, reason="it led nowhere")
    block = home.block(done.block_id)
    assert (block.kind, block.actor, block.text) == ("abandon", "ann", "it led nowhere")
    assert block.created >= home.session(session).started
    assert home.session(session).status == states.ABANDONED
    for act in (lambda: home.append(session, "b"), lambda: home.end(session), lambda: home.abandon(session)):
        with pytest.raises(SessionAbandoned):
            act()


def test_s3_2_an_abandoned_branch_is_kept_and_not_accepted(home):
    session, other = home.start("x:1"), home.start("x:2")
    home.append(session, "never accepted")
    head = home.project()[5:7]
    home.abandon(session)
    assert home.project()[5:7] == head
    assert [block.text for block in home.blocks(session)][1] == "never accepted"
    assert all(block.epoch is None for block in home.blocks(session))
    home.end(other)
    assert "never accepted" not in str(home.bootstrap())


@pytest.mark.parametrize("order", ["abandon first", "other first"])
@pytest.mark.parametrize("other", ["append", "end"])
def test_s3_3_the_loser_is_told(home, order, other):
    session = home.start("x:1")
    acts = [
        lambda: home.abandon(session),
        lambda: home.append(session, "a") if other == "append" else home.end(session),
    ]
    first, second = [outcome(act) for act in (acts if order == "abandon first" else acts[::-1])]
    assert not isinstance(first, str)
    expected = {("abandon first", "append"): "session_abandoned", ("abandon first", "end"): "session_abandoned",
                ("other first", "end"): "session_ended"}  # fmt: skip
    if (order, other) in expected:
        assert second == expected[order, other]
    else:
        assert home.session(session).status == states.ABANDONED
    kinds = [block.kind for block in home.blocks(session)]
    assert sum(kind in ("session_end", "abandon") for kind in kinds) == 1


def test_s3_4_nothing_abandons_by_itself(home, time):
    sessions = [home.start(f"x:{number}") for number in range(3)]
    time.pass_(1000 * WEEK)
    home.start("x:new")
    home.graph()
    home.bootstrap()
    assert {home.session(each).status for each in sessions} == {states.DORMANT}
    assert home.all("SELECT count(*) FROM block WHERE project_id=? AND kind='abandon'", home.project_id) == [(0,)]


def test_activity_never_goes_back(home, time):
    session = home.start("x:1")
    late = home.session(session).last_activity
    time.pass_(-WEEK)
    home.append(session, "a")
    home.resume(session)
    assert home.session(session).last_activity == late
    home.end(session)


@pytest.mark.parametrize("ref", ["", "x", ":x", "x:", "x:\n", "x:a  b", " x:1", "x:\x00", "x:" + "y" * 300])
def test_what_is_no_native_reference(home, ref):
    with pytest.raises(BadArgument):
        home.start(ref)


def test_the_table_says_what_the_engine_does(home):
    """Every state with every command."""
    made = {
        "none": lambda ref: None,
        states.OPEN: home.start,
        states.ENDED: lambda ref: home.end(home.start(ref)),
        states.ABANDONED: lambda ref: home.abandon(home.start(ref)),
    }
    commands = {
        "start": home.start, "append": lambda ref: home.append(ref, "a"), "resume": home.resume, "end": home.end,
        "abandon": home.abandon,
    }  # fmt: skip
    for state, make in made.items():
        for name, command in commands.items():
            ref = f"{state}:{name}"
            before = make(ref)
            answer = outcome(lambda command=command, ref=ref: command(ref))
            after = states.after(state, name)
            if name == "append" and state in states.TERMINAL:
                after = states.OPEN  # by a native reference: start, then append
            if after is None:
                assert isinstance(answer, str), (state, name, answer)
                continue
            assert home.session(answer).status == after, (state, name, before)
