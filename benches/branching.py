"""What is measured of block memory: a session's life with many clients at once, and how it bears length.

Clients are processes that begin together. Beside PostgreSQL with its lock stands the same load under SERIALIZABLE,
where whoever loses tries again. Files lie in memory where the system has that, and the server does not sync: what is
compared is the work, not the disk.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from measure import Stats, calls, seconds
from report import Case, single

from cyberos.blocks import access, bootstrap, connector, enrolment, lifecycle, views
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import Engine
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from cyberos.blocks.schema import migrations
from cyberos.errors import BlocksBusy

_CLIENTS = (1, 4, 8, 32)
_BLOCKS = 10_000
_PER_SESSION = 200
_TURNS = 4
_TOKEN = "a token"
ME = Caller("bench", _TOKEN)


def cases(work: Path, longest: int, span: float) -> Iterator[Case]:
    """All cases; `longest` is the number of blocks of the longest project, `span` how many seconds each load lasts."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # the servers of the tests
    from tests.blocks import servers

    with servers.memory_folder() as folder, servers.running() as server:
        file = str(folder / "blocks.db")
        loads = {"sqlite": file, "postgres": server.url(server.database(), "postgres")}
        for name, url in loads.items():
            fill(engine_at(url), "one", _BLOCKS)
            for clients in _CLIENTS:
                yield from _load(f"{name}, one project", url, ["one"] * clients, span)
            for clients in _CLIENTS[1:]:
                yield from _load(f"{name}, many projects", url, [f"p{each}" for each in range(clients)], span)
        yield from _against_serializable(loads["postgres"], span)
        yield from _lengths(work, longest)


def engine_at(url: str) -> Engine:
    """Opens a database, with tables and with a principal that has a token."""
    database = connector.connect(url, create=True)
    migrations.migrate(database)
    with database.write() as transaction:
        if transaction.one("SELECT 1 FROM principal WHERE principal_id='bench'") is None:
            transaction.batch(
                [
                    access.insert_principal("bench", "bench", 1),
                    access.insert_credential("bench", "bench", "", _TOKEN, "read write", 1, 2**62),
                ]
            )
    return Engine(database)


def fill(to: Engine, name: str, blocks: int) -> str:
    """Gives a project so many blocks, in sessions of two hundred; returns its id."""
    project_id = enrolment.enrol(to, ME, "bench", name).project_id
    for session in range(blocks // _PER_SESSION):
        target = Target(native_ref=f"fill:{session}")
        texts = [
            Fact(f"fact {number} of session {session}, as long as a sentence is") for number in range(_PER_SESSION)
        ]
        lifecycle.append(to, ME, project_id, target, texts)
        lifecycle.end(to, ME, project_id, target)
    return project_id


def live(to: Engine, project_id: str, ref: str) -> Iterator[float]:
    """Lives a session: start, two facts, end; yields what each request takes."""
    target = Target(native_ref=ref)
    yield seconds(lambda: lifecycle.start(to, ME, project_id, ref))
    for text in ("one", "two"):
        yield seconds(
            lambda text=text: lifecycle.append(to, ME, project_id, target, [Fact(f"{ref} {text}")], key=f"{ref}{text}")
        )
    yield seconds(lambda: lifecycle.end(to, ME, project_id, target, key=ref))


class Load(NamedTuple):
    """What each request of a load took, and how many were answered before its time was over."""

    taken: list[float]
    answered: int

    def cases(self, name: str, clients: int, span: float) -> Iterator[Case]:
        """Yields how long a request takes, and how many there are in a second."""
        stats = Stats.of(self.taken)
        yield Case(f"{name}: a request", clients, "ms", stats, measured=f"p99 {self.p99 * 1e3:.1f} ms")
        yield single(name, clients, "requests/s", self.answered / span)

    @property
    def p99(self) -> float:
        """What 99 of 100 requests do not exceed, those included that were under way when the time was over."""
        return sorted(self.taken)[-1 - len(self.taken) // 100]


def _load(name: str, url: str, projects: list[str], span: float) -> Iterator[Case]:
    load = _measured(url, projects, span, "lock")
    yield from load.cases(f"{name}, {len(projects)} clients", len(projects), span)


def _measured(url: str, projects: list[str], span: float, how: str) -> Load:
    """Returns what becomes of one client for each name, on the project of that name."""
    to = engine_at(url)
    for name in projects:
        enrolment.enrol(to, ME, "bench", name)
    to.database.close()
    run = [sys.executable, __file__, url, how, str(span)]
    clients: list[Any] = [
        subprocess.Popen([*run, name, f"{how}{number}-{time.time_ns()}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number, name in enumerate(projects)
    ]
    for client in clients:  # all are ready before one begins
        client.stdout.readline()
    for client in clients:
        client.stdin.write(b"go\n")
        client.stdin.flush()
    found = [json.loads(client.communicate()[0]) for client in clients]
    return Load([each for taken, _ in found for each in taken], sum(answered for _, answered in found))


def _against_serializable(url: str, span: float) -> Iterator[Case]:
    """The lock beside SERIALIZABLE, taking turns: what else the machine does meets both alike."""
    span = max(1.0, span / 2)  # in less, SERIALIZABLE has not yet met the requests that it keeps trying again
    loads = {"lock": Load([], 0), "serializable": Load([], 0)}
    for _ in range(_TURNS):
        for how, before in loads.items():
            more = _measured(url, ["one"] * 8, span, how)
            loads[how] = Load(before.taken + more.taken, before.answered + more.answered)
    for how, load in loads.items():
        yield from load.cases(f"8 clients, one project, {how}", 8, span * _TURNS)
    locked, retried = loads.values()
    ratio = locked.answered / retried.answered
    yield single("8 clients, one project: lock : SERIALIZABLE, rate", 8, "x", ratio, ">= 1.4 x", ratio >= 1.4)
    ratio = locked.p99 / retried.p99
    yield single("8 clients, one project: lock : SERIALIZABLE, p99", 8, "x", ratio, "<= 0.2 x", ratio <= 0.2)


def _lengths(work: Path, longest: int) -> Iterator[Case]:
    """The same requests of one client on a short and on a long project, taking turns."""
    homes: dict[int, tuple[Engine, str]] = {}
    for blocks in (1_000, longest):
        file = work / f"blocks-{blocks}.db"
        known = file.exists()
        to = engine_at(str(file))
        homes[blocks] = (to, enrolment.enrol(to, ME, "bench", "one").project_id if known else fill(to, "one", blocks))
    taken: dict[tuple[int, int], list[float]] = {}
    for turn in range(200):
        for blocks, (to, project_id) in homes.items():
            for place, took in enumerate(live(to, project_id, f"turn:{time.time_ns()}-{turn}")):
                taken.setdefault((blocks, place), []).append(took)
    for place, what in ((0, "start"), (1, "append"), (3, "end")):
        short, long = (Stats.of(taken[blocks, place]) for blocks in homes)
        yield Case(f"{what}, 1,000 blocks", 1_000, "ms", short)
        ratio = long.median / short.median
        yield Case(f"{what}, {longest:,} blocks", longest, "ms", long, "<= 1.3 x", f"{ratio:.2f} x", ratio <= 1.3)
    to, project_id = homes[longest]
    told = calls(lambda: bootstrap.for_project(to, ME, project_id), 50)
    yield Case("bootstrap", longest, "ms", told, "<= 10 ms", "median", told.median <= 0.010)
    refs = [f"told:{time.time_ns()}-{number}" for number in range(51)]
    for ref in refs:
        lifecycle.start(to, ME, project_id, ref)
    handed = iter(refs)
    told = calls(lambda: bootstrap.for_session(to, ME, project_id, Target(native_ref=next(handed))), 50)
    yield Case(
        "bootstrap of a session, with its receipt", longest, "ms", told, "<= 10 ms", "median", told.median <= 0.010
    )
    yield from _canonical(homes)
    for to, _ in homes.values():
        to.database.close()


def _canonical(homes: dict[int, tuple[Engine, str]]) -> Iterator[Case]:
    """Whether a block is canonical, asked of the oldest and of the newest one, on projects of different lengths."""
    asked: dict[tuple[int, str], Callable[[], object]] = {}
    for blocks, (to, project_id) in homes.items():
        first = views.session(to, ME, project_id, Target(native_ref="fill:0"))[1][1].block_id
        ref = f"newest:{time.time_ns()}"
        list(live(to, project_id, ref))
        last = views.session(to, ME, project_id, Target(native_ref=ref))[1][-1].block_id
        for age, block in (("oldest", first), ("newest", last)):
            asked[blocks, age] = lambda to=to, project=project_id, block=block: views.block(to, ME, project, block)
    taken: dict[tuple[int, str], list[float]] = {each: [] for each in asked}
    for _ in range(200):
        for each, ask in asked.items():
            taken[each].append(seconds(ask))
    found = {each: Stats.of(values) for each, values in taken.items()}
    fastest = min(each.median for each in found.values())
    for (blocks, age), stats in found.items():
        ratio = stats.median / fastest
        name = f"whether a block is canonical, {age} of {blocks:,}"
        yield Case(name, blocks, "ms", stats, "<= 1.3 x", f"{ratio:.2f} x", ratio <= 1.3)


def _serializable(to: Engine) -> Engine:
    """Takes the lock away and asks for SERIALIZABLE instead."""
    from cyberos.blocks.connector import postgres

    postgres._WRITE = "BEGIN ISOLATION LEVEL SERIALIZABLE"  # type: ignore[misc]  # noqa: SLF001
    plain = "SELECT 1 FROM project WHERE project_id=? AND principal_id=?"
    unlocked: Any = lambda _, *ids: [(plain, ids)]  # noqa: E731
    postgres.PostgresTransaction.locking = unlocked  # type: ignore[method-assign]
    return to


def _client() -> None:
    """One client of a load: lives sessions from `begin` on, for `span` seconds."""
    url, how, span, name, ref = sys.argv[1:]
    to = Engine(connector.connect(url))
    if how == "serializable":
        to = _serializable(to)
    with to.database.read() as transaction:
        project_id = enrolment.named(transaction, "bench", name).project_id
    taken: list[float] = []
    print("ready", flush=True)
    sys.stdin.readline()
    end, number, answered = time.time() + float(span), 0, 0
    while time.time() < end:
        number += 1
        for took in _again_until_done(to, project_id, f"{ref}:{number}"):
            taken.append(took)
            answered += time.time() < end
    print(json.dumps([taken, answered]))


def _again_until_done(to: Engine, project_id: str, ref: str) -> Iterator[float]:
    """Lives a session; a request that loses is repeated, and its time goes on."""
    target = Target(native_ref=ref)
    requests = [
        lambda: lifecycle.start(to, ME, project_id, ref),
        lambda: lifecycle.append(to, ME, project_id, target, [Fact(f"{ref} one")], key=f"{ref}one"),
        lambda: lifecycle.append(to, ME, project_id, target, [Fact(f"{ref} two")], key=f"{ref}two"),
        lambda: lifecycle.end(to, ME, project_id, target, key=ref),
    ]
    for request in requests:
        start = time.perf_counter()
        while True:
            try:
                request()
                break
            except (psycopg.errors.SerializationFailure, BlocksBusy):  # a deadlock is told as busy
                continue
        yield time.perf_counter() - start


if __name__ == "__main__":
    _client()
