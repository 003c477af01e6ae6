"""V-1.1: what happens at once, in both orders, on both databases."""

import threading

import pytest

from cyberos.blocks import administration, lifecycle
from cyberos.blocks.access import Caller
from cyberos.blocks.connector.postgres import PostgresTransaction
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from tests.blocks.home import outcome
from tests.blocks.racing import Act, Race, Stop

ORDERS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["as written", "the other way"])


@pytest.fixture
def race(home):
    made = Race(home)
    yield made
    made.close()


@pytest.fixture
def lone_race(alone):
    """In a database of its own, where who waits is one of ours."""
    made = Race(alone)
    yield made
    made.close()


def in_order(race, order, *acts):
    """Runs two acts in an order; returns their results as they are written."""
    results = race.run(acts[order[0]], acts[order[1]])
    return [results[order.index(place)] for place in (0, 1)]


def test_v1_1_and_i1_2_first_starts_of_an_empty_project(race):
    home = race.home
    one, two = race.run(lambda **to: home.start("x:1", **to), lambda **to: home.start("x:2", **to))
    assert (one.base_epoch, two.base_epoch) == (0, 0)
    assert one.session_id != two.session_id
    assert home.all("SELECT count(*) FROM block WHERE project_id=? AND kind='baseline'", home.project_id) == [(1,)]
    assert home.blocks(one)[0].parents == home.blocks(two)[0].parents


def test_v1_1_starts_of_a_project_that_has_history(race):
    home = race.home
    home.end(home.append("x:0", "a"))
    one, two = race.run(lambda **to: home.start("x:1", **to), lambda **to: home.start("x:2", **to))
    assert (one.base_epoch, two.base_epoch, home.project().epoch) == (1, 1, 1)


@pytest.mark.parametrize("key", [None, "k"])
def test_v1_1_two_starts_of_one_native_reference(race, key):
    home = race.home
    one, two = race.run(lambda **to: home.start("x:1", key=key, **to), lambda **to: home.start("x:1", key=key, **to))
    assert one.session_id == two.session_id
    assert (one.created, two.created, two.replayed) == (True, key is not None, key is not None)


@ORDERS
def test_v1_1_append_and_end(race, order):
    home = race.home
    session = home.append("x:1", "a")
    appended, ended = in_order(
        race, order, lambda **to: home.append(session, "b", **to), lambda **to: home.end(session, **to)
    )
    assert ended.epoch == 1
    if order == (0, 1):
        assert [block.text for block in home.blocks(session)][1:3] == ["a", "b"]
    else:
        assert appended == "session_ended"
    assert home.blocks(session)[-1].kind == "session_end"


@ORDERS
def test_v1_1_and_i3_3_two_ends_from_one_baseline(race, order):
    home = race.home
    sessions = [home.append("x:b", "sentinel b"), home.append("x:c", "sentinel c")]
    home.append("x:e", "sentinel e")
    tips = {home.session(each).tip_block_id for each in sessions}
    ended = in_order(race, order, *[lambda each=each, **to: home.end(each, **to) for each in sessions])
    assert [ended[place].epoch for place in order] == [1, 2]
    assert [ended[place].parents for place in order] == [1, 2]
    assert tips <= home.ancestors(home.project().head)
    told = home.bootstrap(home.start("x:d"))
    assert [item.text for item in told.history] == [f"sentinel {'bc'[place]}" for place in order]


@ORDERS
def test_v1_1_resume_after_dormancy_and_end(race, order, time):
    home = race.home
    session = home.append("x:1", "a")
    time.pass_(1e7)
    resumed, ended = in_order(
        race, order, lambda **to: home.resume(session, **to), lambda **to: home.end(session, **to)
    )
    assert ended.epoch == 1
    assert resumed == "session_ended" if order == (1, 0) else resumed.was == "dormant"


@ORDERS
@pytest.mark.parametrize("other", ["append", "end"])
def test_v1_1_and_s3_3_abandon_and_another(race, order, other):
    home = race.home
    session = home.append("x:1", "a")
    acts = {"append": lambda **to: home.append(session, "b", **to), "end": lambda **to: home.end(session, **to)}
    abandoned, result = in_order(race, order, lambda **to: home.abandon(session, **to), acts[other])
    kinds = [block.kind for block in home.blocks(session)]
    assert sum(kind in ("abandon", "session_end") for kind in kinds) == 1
    if order == (0, 1):
        assert (result, home.project().epoch) == ("session_abandoned", 0)
    elif other == "end":
        assert (abandoned, result.epoch) == ("session_ended", 1)
    else:
        assert (kinds, home.project().epoch) == (["session_start", "note", "note", "abandon"], 0)


@pytest.mark.parametrize("act", ["end", "abandon"])
def test_v1_1_and_i5_2_one_key_twice_at_once(race, act):
    home = race.home
    session = home.append("x:1", "a")
    do = getattr(home, act)
    one, two = race.run(lambda **to: do(session, key="k", **to), lambda **to: do(session, key="k", **to))
    assert two == one._replace(replayed=True)


def test_v1_1_one_key_for_two_requests_at_once(race):
    home = race.home
    session = home.append("x:1", "a")
    one, two = race.run(
        lambda **to: home.append(session, "b", key="k", **to), lambda **to: home.append(session, "c", key="k", **to)
    )
    assert len(one.blocks) == 1
    assert two == "idempotency_conflict"
    assert len(home.blocks(session)) == 3


def test_v1_1_another_principal_neither_waits_nor_sees(race, neighbour):
    """On a server a row of somebody else's is not waited for; a file has one writer, and who waited sees nothing."""
    home = race.home
    session = home.append("x:1", "a")
    stop = Stop("precommit")
    first = Act(lambda: home.end(session, key="k", engine=home.with_hook(stop)))
    stop.wait()
    strangers = [neighbour.caller, Caller("eve", "garbage")]
    asked = (
        lambda who: lifecycle.end(home.engine, who, home.project_id, Target(session.session_id), key="k"),
        lambda who: lifecycle.append(home.engine, who, home.project_id, Target(native_ref="x:1"), [Fact("b")]),
        lambda who: lifecycle.start(home.engine, who, home.project_id, "x:1"),
    )
    acts = [Act(lambda ask=ask, who=who: ask(who)) for who in strangers for ask in asked]
    if home.kind == "postgres":
        assert {act.result for act in acts} == {"absent"}
        assert first.is_alive()
    stop.go()
    assert first.result.epoch == 1
    assert {act.result for act in acts} == {"absent"}
    assert len(home.blocks(session)) == 3


def test_v1_1_a_tail_that_is_being_imported_is_not_in_any_bootstrap(broken):
    from tests.blocks.test_sessions import add_old

    home = broken
    home.end(home.append("x:1", "accepted"))
    add_old(home, "ended", "import", home.project().head)
    assert [item.text for item in home.bootstrap().history] == ["accepted"]
    assert [item.text for item in home.bootstrap(home.start("x:2")).history] == ["accepted"]


def revoke(home):
    administration.revoke_token(home.admin, f"second-{home.number}")


def disable(home):
    administration.disable_principal(home.admin, home.principal)


def switch_off(home):
    administration.switch(home.admin, enabled=False, actor="root", reason="now")


MEANWHILE = {"absent": [revoke, disable], "blocks_disabled": [switch_off]}
CASES = [(act, code) for code, acts in MEANWHILE.items() for act in acts]


def ends(home, session):
    """An end that has been answered under its key, by a second credential."""
    home.add_credential("second", f"second-{home.number}")
    caller = Caller("bob", f"second-{home.number}")

    def end(engine):
        return lifecycle.end(engine, caller, home.project_id, Target(session.session_id), key="k")

    end(home.engine)
    return end


@pytest.mark.parametrize(("meanwhile", "code"), CASES)
def test_i5_1_and_c8_who_asks_is_looked_up_again_behind_the_lock(lone_race, meanwhile, code):
    home = lone_race.home
    end = ends(home, home.append("x:1", "a"))
    stop = Stop("authed")
    late = Act(lambda: end(home.with_hook(stop)))
    stop.wait()
    meanwhile(home)
    stop.go()
    assert late.result == code  # and not the answer that is kept


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
@pytest.mark.parametrize(("meanwhile", "code"), CASES)
def test_i5_1_what_changes_while_a_request_waits_counts_for_it(lone_race, meanwhile, code):
    home, race = lone_race.home, lone_race
    end = ends(home, home.append("x:1", "a"))
    stop = Stop("precommit")
    first = Act(lambda: home.start("x:2", engine=home.with_hook(stop)))
    stop.wait()
    engine, waits = race.other()
    late = Act(lambda: end(engine))
    race.until_waiting(waits, late)
    admin = Act(lambda: meanwhile(home))
    race.until_waiting(waits, admin, 2)
    stop.go()
    assert first.result.created
    assert (late.result, admin.result) == (code, None)


def test_a_request_that_waits_too_long_is_told(home):
    race = Race(home)
    stop = Stop("precommit")
    first = Act(lambda: home.start("x:1", engine=home.with_hook(stop)))
    stop.wait()
    from cyberos.blocks import connector

    url = home.url.replace("postgres@", "app@")
    hasty = connector.connect(url, patience=0.05)
    assert outcome(lambda: home.start("x:2", engine=home.engine._replace(database=hasty))) == "blocks_busy"
    stop.go()
    assert first.result.created
    assert [row[3] for row in home.snapshot()["session"]] == ["x:1"]
    assert home.start("x:2", engine=home.engine._replace(database=hasty)).created
    hasty.close()
    race.close()


def test_projects_do_not_wait_for_each_other_on_a_server(home, kind, new_home):
    if kind == "sqlite":
        pytest.skip("a file has one writer")
    other = new_home(kind)
    stop = Stop("precommit")
    first = Act(lambda: home.start("x:1", engine=home.with_hook(stop)))
    stop.wait()
    assert other.start("x:1").created
    stop.go()
    assert first.result.created


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_project_is_locked_for_two_trips(home, monkeypatch):
    """One before it to look up who asks; one locks and looks, and one writes and commits."""
    session = home.start("x:1")
    trips = []
    real = PostgresTransaction.batch

    def counted(self, sent):
        trips.append([sql for sql, _ in sent])
        return real(self, sent)

    monkeypatch.setattr(PostgresTransaction, "batch", counted)
    assert home.append(session, "a", "b", "c", key="k").blocks
    assert len(trips) == 3
    assert "FOR NO KEY UPDATE" in trips[1][0]
    assert trips[2][-1] == "COMMIT"


def test_many_at_once_leave_no_hole(home):
    """Eight clients, each with its own branches; every answer that was given is in the graph, once."""
    answers, lock = [], threading.Lock()

    def client(number):
        for turn in range(6):
            session = home.append(f"x:{number}-{turn}", f"{number} {turn}", key=f"a{number}-{turn}")
            home.append(session, "more")
            act = home.abandon if turn % 3 == 2 else home.end
            done = act(session, key=f"e{number}-{turn}")
            with lock:
                answers.append((session, done, act == home.end))

    acts = [Act(lambda number=number: client(number)) for number in range(8)]
    for act in acts:
        assert act.result is None
    assert len(answers) == 48
    reached = home.ancestors(home.project().head)
    for session, done, ended in answers:
        assert (done.block_id in reached) == ended
        assert (session.blocks[0] in reached) == ended
    assert home.project().epoch == 32
