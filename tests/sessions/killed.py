"""Kills a process of its own at every point where a command changes anything: `killed.py WORK STORE CONFIG`.

A point is before and after each call that changes a store, and each file that Python opens for writing, renames or
removes. Writes how many processes were killed.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from cyberos import _native, durable
from cyberos.core import session
from cyberos.core.sessions.book import Book
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore
from cyberos.errors import TranscriptMissing
from cyberos.operations import doctor

TURNS = [session.TurnInput("user", f"turn {number}") for number in range(3)]
CALLS = (
    (durable, "replace"), (_native, "create_transcript"), (_native, "seal_transcript"), (_native, "erase_transcript"),
    (_native.Transcript, "append"), (os, "pwrite"), (Writer, "apply"),
)  # fmt: skip
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "os.link"}
MOST = 300


class Points:
    """Kills this process at the point with a number."""

    def __init__(self, number: int) -> None:
        self.left = number
        for owner, name in CALLS:
            if owner is not _native.Transcript:
                setattr(owner, name, self._watched(getattr(owner, name)))
        whole = _native.Transcript
        points = self

        class Watched:
            def __init__(self, *args: Any) -> None:
                self._of = whole(*args)

            def __getattr__(self, name: str) -> Any:
                found = getattr(self._of, name)
                return points._watched(found) if name == "append" else found

        setattr(_native, "Transcript", Watched)  # noqa: B010, it is no class to a type checker
        sys.addaudithook(self._happens)

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self._point()
            result = call(*args, **kwargs)
            self._point()
            return result

        return watched

    def _happens(self, event: str, args: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)):
            self._point()

    def _point(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def _start(memory: Writer, name: str) -> None:
    session.start(memory, name, classification="restricted")


def _spoken(memory: Writer, name: str) -> None:
    _start(memory, name)
    session.append(memory, name, "user", "before")


def _append(memory: Writer, name: str) -> None:
    session.append_many(memory, name, TURNS)


def _end(memory: Writer, name: str) -> None:
    session.end(memory, name)


def _record(memory: Writer, name: str) -> None:
    session.record(memory, name, TURNS, classification="restricted", actor="ann")


def _purge(memory: Writer, name: str) -> None:
    session.purge(memory, name)


def _nothing(memory: Writer, name: str) -> None:
    pass


# What is done before, what is killed, and how many turns there may be then.
WORKS: dict[str, tuple[Callable[..., None], Callable[..., None], set[int]]] = {
    "start": (_nothing, _start, {0}),
    "append": (_spoken, _append, {1, 4}),
    "end": (_spoken, _end, {1}),
    "record": (_nothing, _record, {0, 3}),
    "purge": (_record, _purge, set()),
}


def _state(memory: Writer, name: str) -> str | None:
    known = Book(memory.reader()).find(name)
    return known.state if known else None


def _go_on(memory: Writer, name: str, work: str) -> None:
    """Does what somebody would do next, until the session is over; raises where that cannot be done."""
    if work == "purge":
        if _state(memory, name) == "ended":
            session.purge(memory, name)
        assert _state(memory, name) == "purged"
        return
    state = _state(memory, name)
    if state is None or (state == "unfinished" and work == "record"):
        (_record if work == "record" else _start)(memory, name)
    try:
        found = [turn.content for turn in session.read(memory, name, decrypt=True)]
    except TranscriptMissing:
        # Nothing was acknowledged, and whoever recovered it has put that on record.
        assert (work, state) == ("record", "ended")
        return
    assert len(found) in WORKS[work][2], found
    if _state(memory, name) == "active" and work == "end":
        session.end(memory, name)
    elif _state(memory, name) == "active":
        assert session.append(memory, name, "user", "next") == len(found)
        found.append("next")
        session.end(memory, name)
    assert _state(memory, name) == "ended"
    assert [turn.content for turn in session.read(memory, name, decrypt=True)] == found


def main(work: str, store: str, config: str) -> None:
    """Kills at one point after the other until the work comes to its end."""
    prepare, do, _ = WORKS[work]
    killed = 0
    for number in range(MOST):
        name = f"s{number}"
        with Writer(store, actor="ann", keystore=Keystore(config, {})) as memory:
            prepare(memory, name)
        child = os.fork()
        if child == 0:
            with Writer(store, actor="ann", keystore=Keystore(config, {})) as memory:
                Points(number)
                do(memory, name)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), status
        killed += status != 0
        with Writer(store, actor="ann", keystore=Keystore(config, {})) as memory:
            if number % 2:
                session.recover(memory)
            _go_on(memory, name, work)
            session.recover(memory)
            assert session.recover(memory) == [], number
        if status == 0:
            break
    diagnosis = doctor.examine(store)
    assert diagnosis.healthy, diagnosis.findings
    # A record that was recovered before its transcript was there stays without one.
    assert work == "record" or not [each for each in diagnosis.findings if each.id.startswith("session")]
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
