"""Any order of commands, on both databases at once and against a model of a few lines: answers, errors and rows agree.

Keys, references and topics come from small pools, so that they meet often.
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from cyberos.blocks import lifecycle
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import DAY_NS
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from tests.blocks.home import next_number, outcome

REFS = st.sampled_from(["x:1", "x:2", "y:1"])
KEYS = st.sampled_from([None, None, "k1", "k2", "k3"])
TEXTS = st.sampled_from(["a", "b", "ä"])
TOPICS = st.sampled_from([None, "t", "u"])
FACT_KEYS = st.sampled_from([None, None, "f1", "f2"])
PLACES = st.sampled_from(["begun", "locked", "writing", "precommit"])
# Which of the sessions that there ever were is meant; the model wraps it.
WHICH = st.integers(0, 30)


class Kept(NamedTuple):
    digest: tuple[Any, ...]
    answer: Any
    until: int


class Session:
    """What the model knows of a session."""

    def __init__(self, name: str, ref: str, base: int) -> None:
        self.name, self.ref, self.base = name, ref, base
        self.status = "open"
        self.epoch: int | None = None
        self.texts: list[str] = []
        self.facts: dict[str, tuple[str, str | None]] = {}


class Machine(RuleBasedStateMachine):
    """Both databases, and the model."""

    def __init__(self, new_home: Any, time: Any) -> None:
        super().__init__()
        number = next_number()
        self.homes = [new_home(kind, number=number) for kind in ("sqlite", "postgres")]
        self.time = time
        self.sessions: list[Session] = []
        self.kept: dict[str, Kept] = {}
        self.epoch: int | None = None

    def both(self, act: Any) -> Any:
        """Carries a command out on both; returns what they agree on."""
        first, second = [outcome(lambda home=home: act(home)) for home in self.homes]
        assert first == second
        return first

    def newest(self, ref: str) -> Session | None:
        return next((each for each in reversed(self.sessions) if each.ref == ref), None)

    def pick(self, which: int) -> Session | None:
        return self.sessions[which % len(self.sessions)] if self.sessions else None

    def carry_out(self, digest: tuple[Any, ...], key: str | None, act: Any, expect: Any) -> None:
        """Carries a change out, and holds its answer to the model; `expect` changes the model, or returns an error."""
        kept = self.kept.get(key or "")
        answer = self.both(act)
        if kept is not None and self.time.ns < kept.until:
            if kept.digest != digest:
                assert answer == "idempotency_conflict"
                return
            assert answer.replayed
            again = kept.answer._replace(replayed=True)
            if digest[0] == "start":
                again = again._replace(status=self.of(again.session_id).status)
            assert answer == again
            return
        expected = expect(answer)
        if expected is not None:
            assert answer == expected
            return
        assert not isinstance(answer, str), answer
        assert not answer.replayed
        if key is not None:
            self.kept[key] = Kept(digest, answer, self.time.ns + 7 * DAY_NS)

    def of(self, name: str) -> Session:
        return next(each for each in self.sessions if each.name == name)

    def begin(self, name: str, ref: str) -> Session:
        self.epoch = self.epoch or 0
        self.sessions.append(Session(name, ref, self.epoch))
        return self.sessions[-1]

    @initialize(side_by_side=st.booleans())
    def begin_side_by_side(self, *, side_by_side: bool) -> None:
        """Half of the runs begin with two branches from one head, so that what converges is not left to luck."""
        for ref in ("x:1", "x:2") if side_by_side else ():
            self.start(ref, None)
            self.append(ref, None, ref, None, None, None)

    @rule(ref=REFS, key=KEYS)
    def start(self, ref: str, key: str | None) -> None:
        def expect(answer: Any) -> None:
            newest = self.newest(ref)
            if newest is not None and newest.status == "open":
                assert (answer.session_id, answer.created) == (newest.name, False)
                return
            assert answer.created
            assert answer.successor_of == (newest.name if newest else None)
            assert answer.base_epoch == self.begin(answer.session_id, ref).base

        self.carry_out(("start", ref), key, lambda home: home.start(ref, key=key), expect)

    @rule(ref=REFS, which=st.none() | WHICH, text=TEXTS, topic=TOPICS, fact_key=FACT_KEYS, key=KEYS)
    def append(
        self, ref: str, which: int | None, text: str, topic: str | None, fact_key: str | None, key: str | None
    ) -> None:
        chosen = None if which is None else self.pick(which)
        target = ref if chosen is None else chosen.name
        fact = Fact(text, topic, fact_key)

        def expect(answer: Any) -> str | None:
            session = chosen or self.newest(ref)
            if chosen is not None and chosen.status != "open":
                return f"session_{chosen.status}"
            if session is not None and session.status == "open" and fact_key in session.facts:
                if session.facts[fact_key] != (text, topic):
                    return "idempotency_conflict"
                assert answer.known == answer.blocks
                return None
            if session is None or session.status != "open":
                assert answer.started
                session = self.begin(answer.session_id, ref)
            session.texts.append(text)
            if fact_key is not None:
                session.facts[fact_key] = (text, topic)
            return None

        self.carry_out(("append", target, fact), key, lambda home: home.append(target, fact, key=key), expect)

    def over(self, op: str, which: int, key: str | None, act: Any, settle: Any) -> None:
        session = self.pick(which)
        name = session.name if session else "ses_none"

        def expect(answer: Any) -> str | None:
            if session is None:
                return "absent"
            if session.status != "open":
                return f"session_{session.status}"
            settle(session, answer)
            return None

        self.carry_out((op, name), key, lambda home: act(home, name), expect)

    @rule(which=WHICH, key=KEYS)
    def end(self, which: int, key: str | None) -> None:
        def settle(session: Session, answer: Any) -> None:
            assert answer.parents == (1 if session.base == self.epoch else 2)
            self.epoch = (self.epoch or 0) + 1
            session.status, session.epoch = "ended", self.epoch
            assert answer.epoch == self.epoch

        self.over("end", which, key, lambda home, name: home.end(name, key=key), settle)

    @rule(which=WHICH, key=KEYS)
    def abandon(self, which: int, key: str | None) -> None:
        def settle(session: Session, _: Any) -> None:
            session.status = "abandoned"

        self.over("abandon", which, key, lambda home, name: home.abandon(name, key=key), settle)

    @rule(which=WHICH, key=KEYS)
    def resume(self, which: int, key: str | None) -> None:
        def settle(session: Session, answer: Any) -> None:
            assert (answer.blocks, answer.base_epoch) == (len(session.texts), session.base)

        self.over("resume", which, key, lambda home, name: home.resume(name, key=key), settle)

    @rule(seconds=st.sampled_from([1, -3_600, 2 * 86_400, 8 * 86_400]))
    def time_passes(self, seconds: int) -> None:
        before = self.homes[0].snapshot()
        self.time.pass_(seconds)
        assert self.homes[0].snapshot() == before

    @rule(which=WHICH, place=PLACES)
    def crash(self, which: int, place: str) -> None:
        def hook(name: str) -> None:
            if name == place:
                raise RuntimeError(place)

        session = self.pick(which)
        if session is None or session.status != "open":
            return
        for home in self.homes:
            with pytest.raises(RuntimeError):
                home.end(session.name, engine=home.with_hook(hook))

    @rule(which=WHICH, ref=REFS)
    def intrude(self, which: int, ref: str) -> None:
        session = self.pick(which)
        target = Target(session.name) if session else Target(native_ref=ref)
        stranger = Caller("eve", "no token")
        assert self.both(lambda home: lifecycle.end(home.engine, stranger, home.project_id, target)) == "absent"

    @rule(which=WHICH, budget=st.sampled_from([0, 12, 30, 4_000]))
    def bootstrap(self, which: int, budget: int) -> None:
        session = self.pick(which)
        told = self.both(lambda home: home.bootstrap(session and session.name, budget=budget))
        if session is not None and session.status != "open":
            assert told == f"session_{session.status}"
            return
        accepted = self.accepted(self.epoch if session is None else session.base)
        assert [item.text for item in told.history] == accepted[len(accepted) - len(told.history) :]
        assert told.omitted.history_blocks == len(accepted) - len(told.history)
        if budget == 4_000:
            assert told.omitted.history_blocks == 0
            assert [item.text for item in told.branch] == (session.texts if session else [])

    @rule(which=WHICH)
    def settle(self, which: int) -> None:
        session = self.pick(which)
        found = self.both(lambda home: home.conflicts(settled=True))
        if session is None or session.status != "open" or not found:
            return
        fact = Fact("settled", found[which % len(found)].topic, resolves=(found[which % len(found)].conflict_id,))
        assert self.both(lambda home: home.append(session.name, fact)).blocks
        session.texts.append("settled")

    def accepted(self, epoch: int | None) -> list[str]:
        ended = [
            (each.epoch, each.texts) for each in self.sessions if each.epoch is not None and each.epoch <= (epoch or 0)
        ]
        return [text for _, texts in sorted(ended) for text in texts]

    @invariant()
    def the_model_is_right(self) -> None:
        home = self.homes[0]
        for session in self.sessions:
            found = home.session(session.name)
            assert {"dormant": "open"}.get(found.status, found.status) == session.status
            assert (found.blocks, found.integrated_epoch) == (len(session.texts), session.epoch)
        assert home.project().epoch == self.epoch

    def teardown(self) -> None:
        first, second = [home.snapshot() for home in self.homes]
        assert {table: plain(rows) for table, rows in first.items()} == {
            table: plain(rows) for table, rows in second.items()
        }
        for home in self.homes:
            assert home.problems() == []
        home = self.homes[0]
        if self.epoch is not None:
            reached = home.ancestors(home.project().head)
            every = home.all("SELECT block_id FROM block WHERE project_id=?", home.project_id)
            assert {name for (name,) in every if home.block(name).epoch is not None} == reached


def plain(rows: list[Any]) -> list[Any]:
    return sorted(repr([bytes(each) if isinstance(each, memoryview) else each for each in row]) for row in rows)


def test_any_order_of_commands(new_home, time):
    machine: Any = lambda: Machine(new_home, time)  # noqa: E731, it stands for a class
    run_state_machine_as_test(machine, settings=settings(max_examples=50, stateful_step_count=30, deadline=None))
