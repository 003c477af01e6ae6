"""A crash at any step leaves something that the next command completes, or `session recover` does."""

import json

import pytest

from cyberos import _native, durable
from cyberos.core import session
from cyberos.core.sessions import desk
from cyberos.core.sessions.book import Book
from cyberos.core.writer import Writer
from cyberos.errors import CorruptLog, SessionStateRefused, TranscriptMissing

TURNS = [session.TurnInput("user", f"turn {number}") for number in range(3)]


class Crash(BaseException):
    """The process dies."""


class Steps:
    """Dies before the step with this number; afterwards nothing is done any more."""

    def __init__(self, monkeypatch):
        self.left, self.taken = None, []
        self._patch = monkeypatch
        for module, name in (
            (durable, "replace"), (_native, "create_transcript"), (_native, "seal_transcript"),
            (_native, "erase_transcript"), (desk.Desk, "set_active"), (desk.Desk, "clear_active"),
            (desk.Desk, "acknowledge"), (Writer, "apply"),
        ):  # fmt: skip
            self._watch(module, name)

    def _watch(self, owner, name):
        whole = getattr(owner, name)

        def step(*args, **kwargs):
            if self.left is not None:
                if self.left == 0:
                    raise Crash
                self.left -= 1
            self.taken.append(name)
            return whole(*args, **kwargs)

        self._patch.setattr(owner, name, step)


@pytest.fixture
def steps(monkeypatch):
    return Steps(monkeypatch)


def crashes(steps, prepare, work, store):
    """Yields after each possible crash of `work`, in a new session each."""
    for number in range(30):
        name = f"s{number}"
        with Writer(store, actor="ann") as memory:
            prepare(memory, name)
            steps.left, died = number, False
            try:
                work(memory, name)
            except Crash:
                died = True
            steps.left = None
        with Writer(store, actor="ann") as memory:
            yield memory, name, died
        if not died:
            assert number >= 1
            return
    pytest.fail("it never comes to its end")


def nothing(memory, name):
    pass


def state(memory, name):
    known = Book(memory.reader()).find(name)
    return known.state if known else None


def test_start(steps, approved):
    for memory, name, died in crashes(steps, nothing, session.start, approved):
        if state(memory, name) is None:
            assert died
            session.start(memory, name)
        session.append(memory, name, "user", "x")
        session.end(memory, name)
        assert [turn.content for turn in session.read(memory, name)] == ["x"]
        assert session.recover(memory) == []


def test_append(steps, approved):
    def work(memory, name):
        session.append_many(memory, name, TURNS)

    for memory, name, _ in crashes(steps, session.start, work, approved):
        count = len(session.read(memory, name))
        assert count in (0, 3)
        assert session.append(memory, name, "user", "next") == count
        session.end(memory, name)
        assert len(session.read(memory, name)) == count + 1


def test_end(steps, approved):
    def prepare(memory, name):
        session.start(memory, name)
        session.append_many(memory, name, TURNS)

    for memory, name, _ in crashes(steps, prepare, session.end, approved):
        if state(memory, name) == "active":
            session.end(memory, name)
        assert len(session.read(memory, name)) == 3
        session.start(memory, f"after-{name}")
        session.end(memory, f"after-{name}")
        assert session.recover(memory) == []


def test_recover_completes_an_end(steps, approved):
    def prepare(memory, name):
        session.start(memory, name)
        session.append_many(memory, name, TURNS)

    for memory, name, _ in crashes(steps, prepare, session.end, approved):
        session.recover(memory)
        if state(memory, name) == "active":
            session.end(memory, name)
        assert (state(memory, name), len(session.read(memory, name))) == ("ended", 3)
        assert session.recover(memory) == []


@pytest.mark.parametrize("retried", [True, False])
def test_record(steps, approved, retried):
    def work(memory, name):
        session.record(memory, name, TURNS, actor="ann")

    for memory, name, _ in crashes(steps, nothing, work, approved):
        if state(memory, name) == "unfinished":
            if retried:
                session.record(memory, name, TURNS, actor="ann")
            else:
                assert session.recover(memory)[0].state == "ended"
        if state(memory, name) is not None and retried:
            assert len(session.read(memory, name)) == 3
        assert session.recover(memory) == []


@pytest.mark.parametrize("retried", [True, False])
def test_purge(steps, approved, retried):
    def prepare(memory, name):
        session.record(memory, name, TURNS)

    for memory, name, _ in crashes(steps, prepare, session.purge, approved):
        known = Book(memory.reader()).find(name)
        if not retried:
            session.recover(memory)
        if state(memory, name) == "ended":
            session.purge(memory, name)
        assert state(memory, name) == "purged"
        assert known is not None
        assert json.loads((approved / known.path).read_text())["session_id"] == name
        assert session.recover(memory) == []


def test_a_transcript_that_is_gone_is_said_and_ended_without(memory):
    made = session.start(memory, "a")
    session.append(memory, "a", "user", "x")
    (memory.store_path / made.path).unlink()
    with pytest.raises(TranscriptMissing) as caught:
        session.append(memory, "a", "user", "x")
    assert "cyberos session recover --id a" in caught.value.hints[0]
    with pytest.raises(TranscriptMissing):
        session.end(memory, "a")
    assert "gone with 1 turns" in session.recover(memory)[0].did
    assert state(memory, "a") == "ended"


def test_a_damaged_transcript_stays_and_what_is_whole_of_it_is_read(memory):
    made = session.start(memory, "a")
    for turn in TURNS:
        session.append_many(memory, "a", [turn])
    file = memory.store_path / made.path
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert session.recover(memory)[0].did.startswith("it ended with ")
    assert file.read_bytes() == content
    assert [turn.content for turn in session.read(memory, "a")] == [turn.content for turn in TURNS][:1]
    assert session.recover(memory) == []


def test_two_that_start_append_and_end_at_once(approved):
    import threading

    acknowledged, started, ended = [], [], []

    def work(name):
        with Writer(approved, actor=name) as memory:
            try:
                session.start(memory, "shared" if name != "x" else "other")
                started.append(name)
            except (SessionStateRefused, RuntimeError):
                pass
            for number in range(20):
                try:
                    turn = session.append(memory, "shared", "user", f"{name} {number}")
                except SessionStateRefused:
                    break
                acknowledged.append((turn, f"{name} {number}"))
            try:
                session.end(memory, "shared")
                ended.append(name)
            except SessionStateRefused:
                pass

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Writer(approved) as memory:
        said = [(turn.turn_seq, turn.content) for turn in session.read(memory, "shared")]
    assert said == sorted(acknowledged)
    assert (len(started), len(ended)) == (1, 1)


def test_an_acknowledged_turn_that_is_gone_is_damage_and_not_cut_away(memory):
    made = session.start(memory, "a")
    file = memory.store_path / made.path
    session.append(memory, "a", "user", "one")
    size = file.stat().st_size
    session.append(memory, "a", "user", "two")
    with file.open("r+b") as handle:
        handle.truncate(size + 10)
    for attempt in (lambda: session.append(memory, "a", "user", "three"), lambda: session.end(memory, "a")):
        with pytest.raises(CorruptLog, match="2 turns were acknowledged and only 1 are left"):
            attempt()
    assert file.stat().st_size == size + 10
    assert session.recover(memory)[0].did.startswith("it ended with 1 whole turns")
