"""Killed programs, lost connections, a server that crashes: nothing that was acknowledged is lost, or there twice, and
what was not may be there whole or not at all. Disks that fail: test_disks.py.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import apsw
import psycopg
import pytest

from cyberos.blocks import connector
from tests.blocks.home import Home, outcome
from tests.blocks.racing import Act, Stop

# A worker that goes on until it is killed; it says before each request what it asks for, and after it what it got.
WORKER = """
import itertools, json, os, sys
from cyberos.blocks import connector, lifecycle
from cyberos.blocks.access import Caller
from cyberos.blocks.engine import Engine
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
url, token, project, name = sys.argv[1:]
to, caller = Engine(connector.connect(url)), Caller(name, token)
def say(what): os.write(1, (json.dumps(what) + "\\n").encode())
def append(ref, key):
    return lifecycle.append(to, caller, project, Target(native_ref=ref), [Fact(key)], key=key).blocks[0]
def end(ref, key): return lifecycle.end(to, caller, project, Target(native_ref=ref), key=key).block_id
for number in itertools.count():
    ref = f"{name}:{number}"
    for key, act in ((f"{ref}-a", append), (f"{ref}-b", append), (f"{ref}-e", end)):
        say([key, None])
        say([key, act(ref, key)])
"""


def worker(home: Home, name: str, does: str = WORKER) -> "subprocess.Popen[bytes]":
    url = home.url.replace("postgres@", "app@")
    args = [sys.executable, "-W", "ignore", "-c", does, url, home.token, home.project_id, name]
    return subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def read(process, enough):
    """Reads what a worker says until it said `enough` lines; returns the complete ones."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(enough)]


def rest(process):
    assert process.stdout is not None
    lines = process.stdout.read().split(b"\n")[:-1]
    process.stdout.close()
    if process.stdin is not None:
        process.stdin.close()
    process.wait()
    return [json.loads(line) for line in lines]


def judge(home, said):
    """Holds what workers said against the database."""
    asked = {key for key, _ in said}
    got = {key: block for key, block in said if block is not None}
    kept = {
        key: json.loads(result)
        for key, result in home.all("SELECT idem_key, result FROM idempotency WHERE project_id=?", home.project_id)
    }
    assert set(got) <= set(kept), "acknowledged and lost"
    assert set(kept) <= asked, "there and never asked for"
    for key, block in got.items():
        assert block in (kept[key].get("blocks") or [kept[key].get("block_id")])
    texts = [row[0] for row in home.all("SELECT summary FROM block_body WHERE project_id=?", home.project_id)]
    written = [text for text in texts if text]
    assert len(written) == len(set(written)), "there twice"
    assert set(written) == {key for key in kept if not key.endswith("-e")}
    assert home.problems() == []
    return len(got)


def test_workers_that_are_killed_in_the_middle_of_a_request(alone):
    home, said = alone, []
    for turn in range(2):
        workers = [worker(home, f"w{turn}{number}") for number in range(2)]
        for process in workers:
            said += read(process, 13)  # an odd number: a request is under way
        for process in workers:
            process.send_signal(signal.SIGKILL)
        for process in workers:
            said += rest(process)
    assert judge(home, said) >= 24


# A worker that adds to its session, and stops for good in the middle of ending it: it holds the project's lock.
STUCK = (
    WORKER.partition("for number")[0]
    + """
say(append(f"{name}:1", "a"))
def hook(place):
    if place == "precommit":
        say(place)
        sys.stdin.read()
to = to._replace(hook=hook)
end(f"{name}:1", "e")
"""
)


def test_s3_4_whose_process_dies_is_not_over(home):
    """What it had not done is not there, nobody waits for its lock, and another one goes on with its session."""
    process = worker(home, "w", STUCK)
    assert [len(read(process, 1)), read(process, 1)] == [1, ["precommit"]]
    process.send_signal(signal.SIGKILL)
    rest(process)
    home.start("x:other")
    before = home.session("w:1")
    assert (before.status, before.ended, before.blocks) == ("open", None, 1)
    assert (home.start("w:1").session_id, home.project().epoch) == (before.session_id, 0)
    assert home.end("w:1", key="e")[3:] == (1, [], False)  # nothing was kept of the first try


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_server_that_crashes_under_load(home, request):
    """The last test of the file would be better off alone: everybody's connections are cut."""
    server = request.getfixturevalue("postgres")
    workers = [worker(home, f"c{number}") for number in range(2)]
    said = []
    for process in workers:
        said += read(process, 13)
    server.restart_at_once()
    for process in workers:
        said += rest(process)
    assert judge(home, said) >= 12
    assert home.start("x:after").created  # connections that were kept are replaced


class Proxy:
    """Stands between a client and the server, and cuts the line at the client's COMMIT: behind it, or before it."""

    def __init__(self, *, passes):
        self.cut = threading.Event()
        self.cuts = 0
        self._passes = passes
        self._server = socket.socket(socket.AF_UNIX)
        self._real = ""
        self._threads: list[threading.Thread] = []

    def start(self, real, folder):
        self._real = real
        self._server.bind(f"{folder}/.s.PGSQL.5432")
        self._server.listen()
        self._run(self._accept)

    def _run(self, what, *args):
        self._threads.append(threading.Thread(target=what, args=args, daemon=True))
        self._threads[-1].start()

    def _accept(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._real)
            for one, two, back in ((client, server, False), (server, client, True)):
                self._run(self._pump, one, two, back)

    def _pump(self, one, two, back):
        try:
            while data := one.recv(65536):
                if back and self.cuts:
                    break  # the server has answered the COMMIT, and the client will not hear of it
                if not back and self.cut.is_set() and b"COMMIT" in data:
                    self.cuts += 1
                    if not self._passes:
                        break
                two.sendall(data)
        except OSError:
            pass
        finally:
            for each in (one, two):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            one.close()  # the other direction closes the other one

    def close(self):
        self._server.shutdown(socket.SHUT_RDWR)  # closing it wakes nobody who waits for a connection
        for thread in self._threads:
            thread.join()
        self._server.close()


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
@pytest.mark.parametrize("passes", [True, False], ids=["behind it", "before it"])
@pytest.mark.parametrize("act", ["append", "end", "abandon", "start"])
def test_a_connection_that_is_lost_at_the_commit(home, request, tmp_path, act, passes):
    """Nobody can know whether it was carried out; repeated with its key, it is there once."""
    server = request.getfixturevalue("postgres")
    folder = tmp_path / "p"
    folder.mkdir()
    proxy = Proxy(passes=passes)
    proxy.start(f"{server.data}/.s.PGSQL.5432", folder)
    url = home.url.replace("postgres@", "app@").replace(str(server.data), str(folder))
    database = connector.connect(url)
    engine = home.engine._replace(database=database)
    session = home.append("x:1", "a")
    arguments = {"append": [session, "b"], "start": ["x:2"]}.get(act, [session])
    before = home.snapshot()
    engine = engine._replace(hook=lambda name: proxy.cut.set() if name == "precommit" else None)
    assert outcome(lambda: getattr(home, act)(*arguments, key="k", engine=engine)) == "outcome_unknown"
    assert proxy.cuts == 1
    assert (home.snapshot() == before) != passes
    again = getattr(home, act)(*arguments, key="k")
    assert again.replayed == passes
    after = home.snapshot()
    assert getattr(home, act)(*arguments, key="k") == again._replace(replayed=True)
    assert home.snapshot() == after
    database.close()
    proxy.close()


FAULTS = {"53100": "disk_full", "40P01": "blocks_busy", "57P01": "blocks_unreachable", "XX001": "blocks_corrupt"}


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
@pytest.mark.parametrize("state", FAULTS)
def test_a_server_that_fails_in_the_middle_has_done_nothing(broken, state):
    """Its disk is full, it gives up, it is shut down, it is damaged: with the last thing that an end writes."""
    home = broken
    session = home.append("x:1", "a")
    with home.raw() as connection:
        connection.execute("CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
                           f" $$ BEGIN RAISE EXCEPTION 'fails' USING ERRCODE='{state}'; END $$")  # fmt: skip
        connection.execute(
            "CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON idempotency DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION fails()"
        )
        before = home.snapshot()
        told = outcome(lambda: home.end(session, key="k"))
        # Only of what is said to be over at the end itself is it not known.
        assert told == ("outcome_unknown" if FAULTS[state] == "blocks_unreachable" else FAULTS[state])
        assert home.snapshot() == before
        connection.execute("DROP TRIGGER fails ON idempotency")
    connection.close()
    done = home.end(session, key="k")
    assert (done.replayed, done.epoch) == (False, 1)


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_program_that_holds_the_file_is_waited_for_and_then_told(home):
    holder = apsw.Connection(home.url)  # the system's SQLite in this process would not see the locks of ours
    holder.execute("BEGIN IMMEDIATE")
    hasty = connector.connect(home.url, patience=0.05)
    assert outcome(lambda: home.start("x:1", engine=home.engine._replace(database=hasty))) == "blocks_busy"
    holder.execute("ROLLBACK")
    holder.close()
    assert home.start("x:1", engine=home.engine._replace(database=hasty)).created
    hasty.close()


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_change_has_the_file_before_it_looks(home):
    """Another program cannot write between what a change sees and what it does: it would be refused at its end."""
    tried = []

    def hook(place):
        if place in ("begun", "locked"):
            other = apsw.Connection(home.url)
            with pytest.raises(apsw.BusyError):
                other.execute("BEGIN IMMEDIATE")
            other.close()
            tried.append(place)

    assert home.start("x:1", engine=home.with_hook(hook)).created
    assert tried == ["begun", "locked"]


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_who_gives_up_waiting_gives_the_lock_back(home):
    from cyberos.blocks.connector import lock
    from cyberos.errors import BlocksBusy

    file = f"{home.url}.lock"
    with lock.held(file, 1.0, lambda: None), pytest.raises(BlocksBusy), lock.held(file, 0.02, lambda: None):
        pass
    with lock.held(file, 5.0, lambda: None):
        assert os.path.exists(file)


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_the_log_is_written_back_and_does_not_grow(home):
    for number in range(60):
        home.append("x:1", "word " * 10_000 + str(number))
    assert os.path.getsize(f"{home.url}-wal") < 16 << 20
    assert os.path.getsize(home.url) > 1 << 20
    assert len(home.blocks("x:1")) == 61


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_settings_of_a_connection_are_read_back(home):
    with home.database.read() as transaction:
        for name, value in (
            ("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("recursive_triggers", 1),
            ("secure_delete", 1), ("trusted_schema", 0), ("mmap_size", 0), ("wal_autocheckpoint", 0),
        ):  # fmt: skip
            assert transaction.one(f"PRAGMA {name}") == (value,)


def test_a_server_that_was_left_alone_for_long_is_asked_again(home, kind, request):
    """Connections that wait are cut by the server: the next request does not notice."""
    if kind == "sqlite":
        pytest.skip("a file cuts nobody")
    home.start("x:1")
    with psycopg.connect(home.url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='cyberos'")
        while connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name='cyberos'"
        ).fetchone() != (0,):
            pass
    assert home.start("x:2").created


def test_what_was_refused_often_does_not_spoil_a_connection(home, capfd):
    """Statements are sent together and prepared when they come often: a refused one must not be taken for prepared."""
    hasty = connector.connect(home.url.replace("postgres@", "app@"), patience=0.02)
    engine = home.engine._replace(database=hasty)
    session = home.start("x:1")
    for turn in range(12):
        stop = Stop("precommit")
        first = Act(lambda stop=stop, turn=turn: home.start(f"y:{turn}", engine=home.with_hook(stop)))
        stop.wait()
        assert outcome(lambda: home.append(session, "late", engine=engine)) == "blocks_busy"
        stop.go()
        assert first.result.created
        assert home.append(session, f"{turn}", engine=engine).blocks
    hasty.close()
    assert [block.text for block in home.blocks(session)[1:]] == [str(turn) for turn in range(12)]
    assert capfd.readouterr().err == ""
