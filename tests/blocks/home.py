"""A principal with one project, and short names for what can be asked."""

import sqlite3
from itertools import count
from typing import Any

import psycopg

from cyberos.blocks import access, bootstrap, connector, enrolment, graph, invariants, lifecycle, records, views
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Database
from cyberos.blocks.engine import Engine, Rules
from cyberos.blocks.facts import Fact
from cyberos.blocks.records import Target
from cyberos.errors import CyberosError

_numbers = count(1)


def next_number() -> int:
    """Returns a number that no home has had."""
    return next(_numbers)


def target(what: Any) -> Target:
    """Returns the session that a result, an id or a native reference means."""
    text = what if isinstance(what, str) else what.session_id
    return Target(native_ref=text) if ":" in text else Target(session_id=text)


class Home:
    """A project, open. `owner` is the database as the one who owns its tables has it."""

    def __init__(
        self, database: Database, owner: Database, url: str, rules: dict[str, int], number: int | None = None
    ) -> None:
        self.database, self.owner, self.url = database, owner, url
        self.kind = database.dialect
        self.number = next_number() if number is None else number
        self._ids = count(1)
        self.engine = Engine(database, Rules(**rules), self.new_id)
        self.admin = Engine(owner, Rules(**rules), self.new_id)
        self.principal = f"p{self.number}"
        self.token = f"token-{self.number}"
        self.caller = Caller("ann", self.token)
        self.add_credential("own", self.token)
        self.project_id = enrolment.enrol(self.engine, self.caller, f"store-{self.number}", "demo").project_id

    def beside(self) -> "Home":
        """Returns a project of another principal in the same database."""
        return Home(self.database, connector.connect(self.url), self.url, {})

    def new_id(self, kind: str) -> str:
        """Returns ids that say which came first."""
        return f"{kind}_{self.number:05}_{next(self._ids):06}"

    def add_credential(self, name: str, token: str, scopes: str = "read write", expires_ns: int = 2**62) -> None:
        """Adds a token of the principal, and the principal."""
        with self.owner.write() as transaction:
            if transaction.one("SELECT 1 FROM principal WHERE principal_id=?", self.principal) is None:
                transaction.batch([access.insert_principal(self.principal, self.principal, 1)])
            values = (f"{name}-{self.number}", self.principal, "", token, scopes, 1, expires_ns)
            transaction.batch([access.insert_credential(*values)])

    def with_hook(self, hook: Any) -> Engine:
        """Returns the engine, telling a hook how far it has come."""
        return self.engine._replace(hook=hook)

    def start(self, ref: str, **more: Any) -> Any:
        return lifecycle.start(more.pop("engine", self.engine), self.caller, self.project_id, ref, **more)

    def append(self, session: Any, *facts: Any, **more: Any) -> Any:
        stated = [Fact(fact) if isinstance(fact, str) else fact for fact in facts]
        to = more.pop("engine", self.engine)
        return lifecycle.append(to, self.caller, self.project_id, target(session), stated, **more)

    def resume(self, session: Any, **more: Any) -> Any:
        to = more.pop("engine", self.engine)
        return lifecycle.resume(to, self.caller, self.project_id, target(session), **more)

    def end(self, session: Any, **more: Any) -> Any:
        to = more.pop("engine", self.engine)
        return lifecycle.end(to, self.caller, self.project_id, target(session), **more)

    def abandon(self, session: Any, **more: Any) -> Any:
        to = more.pop("engine", self.engine)
        return lifecycle.abandon(to, self.caller, self.project_id, target(session), **more)

    def bootstrap(self, session: Any = None, **more: Any) -> Any:
        if session is None:
            return bootstrap.for_project(self.engine, self.caller, self.project_id, **more)
        return bootstrap.for_session(self.engine, self.caller, self.project_id, target(session), **more)

    def session(self, session: Any) -> Any:
        return views.session(self.engine, self.caller, self.project_id, target(session))[0]

    def blocks(self, session: Any) -> Any:
        return views.session(self.engine, self.caller, self.project_id, target(session))[1]

    def block(self, block_id: str) -> Any:
        return views.block(self.engine, self.caller, self.project_id, block_id)

    def conflicts(self, **more: Any) -> Any:
        return views.conflicts(self.engine, self.caller, self.project_id, **more)

    def graph(self, **more: Any) -> Any:
        return graph.window(self.engine, self.caller, self.project_id, **more)

    def project(self) -> Any:
        with self.owner.read() as transaction:
            rows = transaction.batch([records.select_project(self.project_id, self.principal)])[0]
            return records.project_of(rows[0])

    def problems(self) -> list[invariants.Problem]:
        with self.owner.read() as transaction:
            return list(invariants.problems(transaction, self.project_id, self.principal))

    def all(self, sql: str, *values: Any) -> list[Any]:
        """Returns rows as the owner of the tables sees them."""
        with self.owner.read() as transaction:
            return transaction.all(sql, *values)

    def snapshot(self) -> dict[str, list[Any]]:
        """Returns all rows of the project."""
        return {
            table: self.all(f"SELECT * FROM {table} WHERE project_id=? ORDER BY 1, 2, 3", self.project_id)
            for table in TABLES
        }

    def raw(self) -> Any:
        """Returns a connection of the driver's own, as somebody has who owns the file or the tables."""
        if self.kind == "sqlite":
            return sqlite3.connect(self.url, isolation_level=None)
        return psycopg.connect(self.url, autocommit=True, options="-c search_path=cyberos_blocks")

    def ancestors(self, block_id: str) -> set[str]:
        """Walks the graph."""
        edges: dict[str, list[str]] = {}
        sql = "SELECT child_id, parent_id FROM block_parent WHERE project_id=?"
        for child, parent in self.all(sql, self.project_id):
            edges.setdefault(child, []).append(parent)
        found, pending = set(), [block_id]
        while pending:
            each = pending.pop()
            if each not in found:
                found.add(each)
                pending += edges.get(each, [])
        return found

    def close(self, *, shared: bool) -> None:
        if not shared:
            self.database.close()
        self.owner.close()


TABLES = (
    "project", "session", "block", "block_body", "block_parent", "integration_log", "conflict", "conflict_side",
    "resolution", "receipt", "receipt_block", "project_event", "idempotency", "embedding_debt", "usage_event",
)  # fmt: skip


def outcome(act: Any) -> Any:
    """Returns what an act answers, or the code of its error."""
    try:
        return act()
    except CyberosError as error:
        return error.code
