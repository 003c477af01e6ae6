"""Two requests at once, in an order that is forced: the first is stopped where it holds the lock, the second is known
to wait for it, and then the first goes on. Nobody sleeps.
"""

import threading
from typing import Any

from cyberos.blocks import connector
from tests.blocks.home import outcome

PATIENCE = 20.0


class Act(threading.Thread):
    """Something that runs beside the test; `result` is its answer, or the code of its error."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self._act, self._answer, self._died = act, None, None
        self.start()

    def run(self):
        try:
            self._answer = outcome(self._act)
        except BaseException as error:  # noqa: BLE001, told in the test's own thread
            self._died = error

    @property
    def result(self):
        self.join(PATIENCE)
        assert not self.is_alive(), "it never ended"
        if self._died is not None:
            raise self._died
        return self._answer


class Stop:
    """A hook that stops at a place until it is told to go on."""

    def __init__(self, place):
        self._place = place
        self._reached, self._go = threading.Event(), threading.Event()

    def __call__(self, name):
        if name == self._place:
            self._reached.set()
            assert self._go.wait(PATIENCE)

    def wait(self):
        assert self._reached.wait(PATIENCE), "it did not come so far"

    def go(self):
        self._go.set()


class Race:
    """Has a second way into a home's database, and sees who waits there."""

    def __init__(self, home):
        self.home = home
        self._others = []

    def other(self):
        """Returns an engine with connections of its own, and what waits until it waits for a lock."""
        url = self.home.url
        if self.home.kind == "postgres":
            url = url.replace("postgres@", "app@")
        database: Any = connector.connect(url)
        self._others.append(database)
        waits = threading.Event()
        if self.home.kind == "sqlite":
            database.waiting = waits.set
        return self.home.engine._replace(database=database), waits

    def until_waiting(self, waits, act, number=1):
        """Returns when an act is known to wait for the lock."""
        if self.home.kind == "sqlite":
            assert waits.wait(PATIENCE)
            return
        sql = """SELECT count(*) FROM pg_stat_activity
            WHERE datname=current_database() AND cardinality(pg_blocking_pids(pid))>0"""
        with self.home.raw() as connection:
            while connection.execute(sql).fetchone()[0] < number:
                assert act.is_alive(), f"it does not wait: {act.result}"
        connection.close()

    def run(self, first, second):
        """Returns the results of two acts of which the second waits for the first. Both get `engine=`."""
        stop = Stop("precommit")
        one = Act(lambda: first(engine=self.home.with_hook(stop)))
        stop.wait()
        engine, waits = self.other()
        two = Act(lambda: second(engine=engine))
        self.until_waiting(waits, two)
        stop.go()
        return one.result, two.result

    def close(self):
        for database in self._others:
            database.close()
