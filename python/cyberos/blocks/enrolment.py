"""Projects and the stores that are enrolled in them; setting a database up."""

from typing import Final, NamedTuple

from cyberos import clock
from cyberos.blocks import access, engine, facts
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Transaction
from cyberos.blocks.engine import Engine
from cyberos.blocks.results import Enrolled
from cyberos.errors import Absent, InvariantRefused

_MAX_NAME: Final = 100
_BY_NAME: Final = "SELECT project_id FROM project WHERE principal_id=? AND name=?"
_NEW: Final = "INSERT INTO project(project_id, principal_id, name, created_ns) VALUES(?, ?, ?, ?)"
_BOUND: Final = "SELECT 1 FROM project_store WHERE project_id=? AND principal_id=? AND store_id=?"
_BIND: Final = "INSERT INTO project_store(project_id, store_id, principal_id, bound_ns) VALUES(?, ?, ?, ?)"
_OF_STORE: Final = """SELECT p.project_id, p.name FROM project_store b JOIN project p ON p.project_id=b.project_id
    WHERE b.store_id=? AND b.principal_id=? ORDER BY b.bound_ns, p.project_id"""
_BY_EITHER: Final = "SELECT project_id, name FROM project WHERE principal_id=? AND (project_id=? OR name=?)"


class Named(NamedTuple):
    """A project."""

    project_id: str
    name: str


def enrol(to: Engine, caller: Caller, store_id: str, name: str) -> Enrolled:
    """Enrols a store in the principal's project of that name, which is made where there is none. May be repeated."""
    name = facts.name("project's name", name, _MAX_NAME)
    try:
        return _enrol(to, caller, store_id, name)
    except InvariantRefused:  # somebody did the same at the same time
        return _enrol(to, caller, store_id, name)


def _enrol(to: Engine, caller: Caller, store_id: str, name: str) -> Enrolled:
    with to.database.write() as transaction:
        principal_id = engine.identify(to, transaction, caller, "write")
        engine.require_on(transaction)
        row = transaction.one(_BY_NAME, principal_id, name)
        now_ns = clock.now_ns()
        project_id = to.new_id("prj") if row is None else str(row[0])
        if row is None:
            transaction.batch([(_NEW, (project_id, principal_id, name, now_ns))])
        bound = transaction.one(_BOUND, project_id, principal_id, store_id) is None
        if bound:
            transaction.batch([(_BIND, (project_id, store_id, principal_id, now_ns))])
    return Enrolled(project_id, name, store_id, created=row is None, bound=bound)


def of_store(transaction: Transaction, principal_id: str, store_id: str) -> list[Named]:
    """Returns the projects that a store is enrolled in, the first one first."""
    return [Named._make(row) for row in transaction.all(_OF_STORE, store_id, principal_id)]


def named(transaction: Transaction, principal_id: str, text: str) -> Named:
    """Returns the principal's project of that id or name; raises `Absent`."""
    rows = transaction.all(_BY_EITHER, principal_id, text, text)
    if not rows:
        raise Absent
    return Named._make(next((row for row in rows if row[0] == text), rows[0]))


def adopt(to: Engine) -> None:
    """Makes the owner of an embedded database its principal, where it has none."""
    with to.database.write() as transaction:
        if transaction.one("SELECT 1 FROM principal WHERE principal_id=?", access.OWNER) is None:
            transaction.batch([access.insert_principal(access.OWNER, access.OWNER, clock.now_ns())])
