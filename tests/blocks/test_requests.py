"""I-5: keys, replays, and who gets which answer."""

import pytest

from cyberos.blocks import access, administration, bootstrap, graph, lifecycle, views
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import DAY_NS
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from cyberos.errors import (
    Absent,
    BlocksDisabled,
    IdempotencyConflict,
    ProjectUnavailable,
    SessionAbandoned,
    SessionEnded,
)
from tests.blocks.home import outcome


@pytest.mark.parametrize("act", ["end", "abandon"])
def test_i5_2_what_ended_a_session_is_answered_again(home, act):
    session = home.append("x:1", "a")
    first = getattr(home, act)(session, key="k")
    home.start("x:1")  # a successor changes nothing about that
    before = home.snapshot()
    again = getattr(home, act)(session, key="k")
    assert again == first._replace(replayed=True)
    assert home.snapshot() == before
    by_ref = home.append("x:2", "a")
    done = getattr(home, act)("x:2", key="k2")
    assert (getattr(home, act)("x:2", key="k2"), done.session_id) == (done._replace(replayed=True), by_ref.session_id)


def test_i5_2_every_request_can_be_repeated(home):
    started = home.start("x:1", key="1")
    assert home.start("x:1", key="1") == started._replace(replayed=True)
    appended = home.append(started, "a", Fact("b", "t", "f"), key="2")
    assert home.append(started, "a", Fact("b", "t", "f"), key="2") == appended._replace(replayed=True)
    resumed = home.resume(started, key="3")
    assert home.resume(started, key="3") == resumed._replace(replayed=True)
    assert len(home.blocks(started)) == 3
    home.end(started)
    # Whoever repeats a start is not led to append to what is over.
    assert home.start("x:1", key="1") == started._replace(replayed=True, status="ended")


@pytest.mark.parametrize(
    "other",
    [
        lambda home, one, two: home.append(one, "other", key="k"),
        lambda home, one, two: home.append(two, "a", key="k"),
        lambda home, one, two: home.append(one, Fact("a", "topic"), key="k"),
        lambda home, one, two: home.append(one, "a", "a", key="k"),
        lambda home, one, two: home.append(one, Fact("a", occurred_ns=5), key="k"),
        lambda home, one, two: home.append(one, Fact("a", key="k"), key="k"),
        lambda home, one, two: home.end(one, key="k"),
        lambda home, one, two: home.start("x:3", key="k"),
        lambda home, one, two: home.append("x:1", "a", key="k"),
    ],
    ids=["text", "session", "topic", "more", "time", "fact key", "op", "start", "by reference"],
)
def test_i5_3_a_key_is_of_one_request(home, other):
    one, two = home.start("x:1"), home.start("x:2")
    home.append(one, "a", key="k")
    before = home.snapshot()
    with pytest.raises(IdempotencyConflict) as caught:
        other(home, one, two)
    assert caught.value.key == "k"
    assert home.snapshot() == before


@pytest.mark.parametrize(
    ("act", "other"),
    [
        (lambda home, **more: home.end("x:1", **more), lambda home: home.end("x:1", summary="other", key="k")),
        (lambda home, **more: home.end("x:1", **more), lambda home: home.abandon("x:1", key="k")),
        (lambda home, **more: home.abandon("x:1", **more), lambda home: home.abandon("x:1", reason="other", key="k")),
        (lambda home, **more: home.abandon("x:1", **more), lambda home: home.end("x:1", key="k")),
        (lambda home, **more: home.end("x:1", **more), lambda home: home.start("x:2", key="k")),
    ],
    ids=["another summary", "abandon for end", "another reason", "end for abandon", "start for end"],
)
def test_i5_3_the_key_that_ended_a_session_is_of_that_request(home, act, other):
    """Also where the session is over by then: the conflict is told, and not that."""
    home.append("x:1", "a")
    act(home, key="k")
    before = home.snapshot()
    with pytest.raises(IdempotencyConflict):
        other(home)
    assert home.snapshot() == before


@pytest.mark.parametrize(("over", "error"), [("end", SessionEnded), ("abandon", SessionAbandoned)])
@pytest.mark.parametrize("act", ["append", "resume", "end", "abandon"])
def test_i5_4_only_the_owner_is_told_that_a_session_is_over(home, neighbour, over, error, act):
    session = home.append("x:1", "a")
    done = getattr(home, over)(session)
    facts = ["b"] if act == "append" else []
    with pytest.raises(error) as caught:
        getattr(home, act)(session, *facts, key="fresh")
    told = caught.value
    assert (told.session_id, told.native_ref, told.epoch) == (session.session_id, "x:1", getattr(done, "epoch", None))
    arguments = [Target(session.session_id), *([[Fact("b")]] if facts else [])]
    for stranger in (neighbour.caller, Caller("eve", "garbage")):
        with pytest.raises(Absent):
            getattr(lifecycle, act)(home.engine, stranger, home.project_id, *arguments, key="fresh")


def test_i5_5_a_key_is_kept_for_its_time_and_no_longer(home, time):
    session = home.start("x:1")
    home.append(session, "a", key="k")
    time.pass_(7 * DAY_NS / 1e9 - 1)
    assert home.append(session, "a", key="k").replayed
    time.pass_(2)
    late = home.append(session, "a", key="k")
    assert not late.replayed  # the same text twice: nothing is promised for longer
    assert len(home.blocks(session)) == 3
    end = home.end(session, key="e")
    time.pass_(8 * DAY_NS / 1e9)
    with pytest.raises(SessionEnded):  # and yet a session ends once
        home.end(session, key="e")
    assert home.project().epoch == end.epoch


def test_i5_5_keys_whose_time_is_over_are_forgotten(home, time):
    for number in range(5):
        home.start("x:1", key=f"k{number}")
    time.pass_(8 * DAY_NS / 1e9)
    home.start("x:1", key="new")
    assert home.all("SELECT idem_key FROM idempotency WHERE project_id=?", home.project_id) == [("new",)]


def test_a_facts_own_key_is_for_good(home, time):
    session = home.start("x:1")
    first = home.append(session, Fact("a", key="f"), "b")
    time.pass_(1000 * DAY_NS / 1e9)
    again = home.append(session, Fact("a", key="f"), "c", Fact("d", key="g"), Fact("d", key="g"))
    assert (again.blocks[0], again.known) == (first.blocks[0], [first.blocks[0], again.blocks[2]])
    assert [block.text for block in home.blocks(session)][1:] == ["a", "b", "c", "d"]
    with pytest.raises(IdempotencyConflict):
        home.append(session, "e", Fact("other", key="f"))
    assert len(home.blocks(session)) == 5


def requests(engine, caller, project_id, session_id, block_id):
    """Every request there is."""
    target, ref = Target(session_id=session_id), Target(native_ref="x:1")
    for to in (target, ref):
        yield lambda to=to: lifecycle.append(engine, caller, project_id, to, [Fact("a")], key="k")
        yield lambda to=to: lifecycle.resume(engine, caller, project_id, to)
        yield lambda to=to: lifecycle.end(engine, caller, project_id, to, key="k")
        yield lambda to=to: lifecycle.abandon(engine, caller, project_id, to)
        yield lambda to=to: bootstrap.for_session(engine, caller, project_id, to)
        yield lambda to=to: views.session(engine, caller, project_id, to)
        yield lambda to=to: views.receipts(engine, caller, project_id, to)
    yield lambda: lifecycle.start(engine, caller, project_id, "x:1", key="k")
    yield lambda: bootstrap.for_project(engine, caller, project_id)
    yield lambda: graph.window(engine, caller, project_id)
    yield lambda: views.block(engine, caller, project_id, block_id)
    yield lambda: views.project(engine, caller, project_id)


def told(act):
    """Returns the whole of what a caller gets to see."""
    with pytest.raises(Absent) as caught:
        act()
    return repr((caught.value.as_dict(), caught.value.hints, caught.value.__cause__))


def test_i5_4_and_c8_one_absent_answer_for_everybody_but_the_owner(home, kind, neighbour):
    session = home.append("x:1", "a", key="k")
    home.end(session, key="k2")
    block = home.project().head
    other = neighbour
    mine = other.append("x:1", "mine")
    home.add_credential("old", "expired" + kind, expires_ns=2)
    home.add_credential("gone", "revoked" + kind)
    administration.revoke_token(home.admin, f"gone-{home.number}")
    home.add_credential("reader", f"reads-{home.number}", scopes="")
    callers = [
        *(other.caller, Caller("eve", "garbage"), Caller("eve", ""), Caller("ann", "expired" + kind)),
        *(Caller("ann", "revoked" + kind), Caller("ann", f"reads-{home.number}"), Caller("eve", "\udcff\x00'; --")),
    ]
    before = home.snapshot(), other.snapshot()
    answers = set()
    for caller in callers:
        for act in requests(home.engine, caller, home.project_id, session.session_id, block):
            answers.add(told(act))
    # The owner of one project with the ids of another, and with ids of nobody.
    for project, its_session, its_block in (
        (other.project_id, session.session_id, block), ("prj_none", mine.session_id, block), ("", "", ""),
        (home.project_id, mine.session_id, mine.blocks[0]),
    ):  # fmt: skip
        for act in list(requests(other.engine, other.caller, project, its_session, its_block))[:7]:
            answers.add(told(act))
    assert len(answers) == 1
    assert (home.snapshot(), other.snapshot()) == before


def test_a_key_of_another_principal_is_another_key(home, neighbour):
    first, second = home.append("x:1", "a", key="k"), neighbour.append("x:1", "b", key="k")
    assert not second.replayed
    assert first.session_id != second.session_id


def test_a_reader_may_look_and_not_change(home):
    session = home.append("x:1", "a")
    home.add_credential("reader", f"reads-{home.number}", scopes="read")
    reader = Caller("bob", f"reads-{home.number}")
    assert views.session(home.engine, reader, home.project_id, Target(session.session_id))[0].blocks == 1
    with pytest.raises(Absent):
        lifecycle.end(home.engine, reader, home.project_id, Target(session.session_id))


def test_nothing_is_kept_of_a_token_but_its_hash(home):
    made = administration.create_token(home.admin, home.principal, "laptop", "read", 30)
    row = home.all("SELECT * FROM credential WHERE credential_id=?", made.credential_id)[0]
    assert made.token is not None
    assert made.token not in str(row)
    assert access.token_sha256(made.token) in [bytes(each) for each in row if isinstance(each, (bytes, memoryview))]
    assert all(each.token is None for each in administration.tokens(home.admin))
    with pytest.raises(Absent):
        administration.revoke_token(home.admin, "tok_none")


def test_c6_nothing_changes_while_changes_are_switched_off(alone):
    home = alone
    session = home.append("x:1", "a", key="k")
    administration.switch(home.admin, enabled=False, actor="root", reason="migration")
    before = home.snapshot()
    acts = [lambda: home.start("x:2"), lambda: home.append(session, "b"), lambda: home.end(session),
            lambda: home.abandon(session), lambda: home.resume(session),
            lambda: home.append("x:1", "a", key="k")]  # fmt: skip
    for act in acts:
        with pytest.raises(BlocksDisabled) as caught:
            act()
        assert caught.value.reason == "migration"
    assert home.session(session).status == "open"  # looking is allowed
    assert home.snapshot() == before
    assert outcome(lambda: lifecycle.end(home.engine, Caller("eve", "no"), home.project_id, Target("x"))) == "absent"
    administration.switch(home.admin, enabled=True, actor="root", reason="done")
    assert home.end(session).epoch == 1
    assert [row[2] for row in home.all("SELECT * FROM kill_switch_log ORDER BY seq")] == [0, 1]


def test_c6_a_project_that_is_being_worked_on_takes_nothing(broken):
    home = broken
    session = home.append("x:1", "a")
    for availability in ("importing", "maintenance", "purging", "destroyed"):
        with home.owner.write() as transaction:
            transaction.batch([("UPDATE project SET availability=?", (availability,))])
        with pytest.raises(ProjectUnavailable) as caught:
            home.append(session, "b")
        assert caught.value.availability == availability


def test_a_principal_that_is_disabled_is_nobody(alone):
    home = alone
    home.append("x:1", "a")
    administration.disable_principal(home.admin, home.principal)
    with pytest.raises(Absent):
        home.append("x:1", "b")
    with pytest.raises(Absent):
        home.graph()
