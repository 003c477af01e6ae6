"""Block memory in PostgreSQL, through psycopg 3.

Statements that do not depend on each other's answers go to the server together: a project stays locked for round trips.
Each still sees what is committed when it begins (READ COMMITTED), which is what locking first relies on.
"""

import logging
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from cyberos.blocks.connector import Dialect, Row, Statement, without_password
from cyberos.blocks.connector.pool import Pool
from cyberos.errors import (
    BlocksBusy,
    BlocksCorrupt,
    BlocksUnreachable,
    CyberosError,
    DiskFull,
    ExtraMissing,
    InvariantRefused,
    OutcomeUnknown,
    SchemaMismatch,
)

try:
    import psycopg
    from psycopg.types.numeric import Int8Dumper
except ImportError as error:  # pragma: no cover, the tests have it
    raise ExtraMissing(
        "block memory in PostgreSQL needs psycopg", extra="postgres", hint="pip install 'cyberos[postgres]'"
    ) from error

# What it has to say is an exception, too; without this, it is also written to standard error.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

# All tables lie in it, and the functions of triggers name it: nobody can put tables of their own in place of these.
SCHEMA: Final = "cyberos_blocks"
# The advisory lock that changes share, and that an administrator takes alone.
_GATE: Final = 0x6379_6265_726F_7301
_IDLE_MS: Final = 60_000
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN"


class Postgres:
    """A server's database, open."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, *, patience: float) -> None:
        self._name: Final = without_password(url)
        self.patience: Final = patience
        self._url = url
        self._pool: Pool[psycopg.Connection[Row]] = Pool(self._connect, psycopg.Connection.close)

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self._name

    def _connect(self) -> "psycopg.Connection[Row]":
        wait = int(self.patience * 1_000)
        options = (
            f"-c search_path={SCHEMA} -c lock_timeout={wait} -c statement_timeout={6 * wait} "
            f"-c idle_in_transaction_session_timeout={_IDLE_MS} -c default_transaction_isolation=read\\ committed"
        )
        try:
            connection = psycopg.connect(
                self._url, autocommit=True, options=options, application_name="cyberos", connect_timeout=10
            )
        except psycopg.Error as error:
            # What libpq says may name the user, never the password.
            raise BlocksUnreachable(
                f"cannot connect to {self._name}: {str(error).strip()}", database=self._name
            ) from error
        # One type for every number: a statement is planned once.
        connection.adapters.register_dumper(int, Int8Dumper)
        return connection

    @contextmanager
    def read(self) -> Iterator["PostgresTransaction"]:
        """Yields a transaction that sees one state."""
        with self._transaction(_READ) as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator["PostgresTransaction"]:
        """Yields a transaction that is made durable when it is left without an error."""
        with self._transaction(_WRITE) as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator["PostgresTransaction"]:
        connection = self._pool.take()
        while _is_spoken_to(connection):  # the server has closed it, or was restarted
            connection.close()
            connection = self._pool.take()
        transaction = PostgresTransaction(connection, self._name, begin)
        try:
            yield transaction
            transaction.finish()
        except BaseException:
            transaction.undo()
            raise
        finally:
            # Of what was sent together, psycopg does not know how much the server still carried out.
            if _is_idle(connection) and not transaction.failed:
                self._pool.give(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Closes the connections that wait."""
        self._pool.empty()


class PostgresTransaction:
    """Statements on one connection. Begins with the first of them."""

    def __init__(self, connection: "psycopg.Connection[Row]", name: str, begin: str) -> None:
        self.connection: Final = connection
        self._name, self._begin = name, begin
        self._begun = False
        self._last: list[Statement] = []
        # Whether a statement was refused, or got no answer.
        self.failed = False

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows."""
        return self.batch([(sql, values)])[0]

    def one(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row."""
        rows = self.batch([(sql, values)])[0]
        return rows[0] if rows else None

    def batch(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Sends several statements together."""
        first: list[Statement] = [] if self._begun else [(self._begin, ())]
        with self._watched():
            if len(first) + len(statements) == 1:
                found = [self.connection.execute(_translated(sql), values) for sql, values in statements]
                return [cursor.fetchall() if cursor.description else [] for cursor in found]
            with self.connection.pipeline() as pipeline:
                self._begun = True
                found = [self.connection.execute(_translated(sql), values) for sql, values in [*first, *statements]]
                pipeline.sync()
                return [cursor.fetchall() if cursor.description else [] for cursor in found[len(first) :]]

    def last(self, statements: Sequence[Statement]) -> None:
        """Keeps the statements until they are sent together with the COMMIT: a project is locked for one trip less."""
        self._last = list(statements)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            with _told(self._name):
                yield
        except BaseException:
            self.failed = True
            raise

    def script(self, text: str) -> None:
        """Carries out a text of several statements."""
        with self._watched():
            if not self._begun:
                self.connection.execute(self._begin.encode())
                self._begun = True
            self.connection.execute(text.encode())

    def locking(self, project_id: str, principal_id: str) -> list[Statement]:
        """Returns the locks of a change: the project's row, then its part of the gate."""
        sql = "SELECT 1 FROM project WHERE project_id=? AND principal_id=? FOR NO KEY UPDATE"
        return [
            (sql, (project_id, principal_id)),
            ("SELECT pg_advisory_xact_lock_shared(?)", (_GATE,)),
        ]

    def close_gate(self) -> None:
        """Takes the gate alone."""
        self.one("SELECT pg_advisory_xact_lock(?)", _GATE)

    def finish(self) -> None:
        """Commits. Behind a statement that is refused, the server carries out nothing of what came with it."""
        if not self._begun:
            return
        try:
            with self._watched():
                if self._last:
                    self.batch([*self._last, ("COMMIT", ())])
                else:
                    self.connection.execute("COMMIT")
        except BlocksUnreachable as error:
            if self._begin != _WRITE:
                raise
            raise OutcomeUnknown(
                f"the connection to {self._name} was lost while a change was being made durable",
                hint="repeat the request with the same key: it is carried out once",
            ) from error

    def undo(self) -> None:
        """Rolls back, where there is still a connection."""
        try:
            if self._begun and not self.connection.closed:
                self.connection.execute("ROLLBACK")
        except psycopg.Error:
            self.connection.close()


def _is_idle(connection: "psycopg.Connection[Row]") -> bool:
    return not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _is_spoken_to(connection: "psycopg.Connection[Row]") -> bool:
    """Whether the server has sent something to a connection that asked nothing: its end."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@lru_cache(maxsize=512)
def _translated(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Makes an error of ours of what PostgreSQL says."""
    try:
        yield
    except psycopg.Error as error:
        ours = _error_of(error, name)
        if ours is None:
            raise
        raise ours from error


def _error_of(error: "psycopg.Error", name: str) -> CyberosError | None:
    """Returns an error of ours; `None` for one that nobody foresaw."""
    state, told = error.sqlstate or "", error.diag.message_primary or str(error).strip()
    if state in ("55P03", "40P01", "57014"):  # lock_timeout, deadlock, statement_timeout
        return BlocksBusy("others have been changing the project for too long", hint="try again")
    if state.startswith("23"):
        invariant = error.diag.constraint_name or told.partition(":")[0]
        return InvariantRefused(f"the database refused a change: {told}", invariant=invariant)
    if state == "42501":
        return InvariantRefused(f"the database refused a change: {told}", invariant="privilege")
    if state in ("42P01", "42703", "3F000"):
        return SchemaMismatch(
            f"{name} has no block memory of this version: {told}", database=name, hint="run `cyberos blocks setup`"
        )
    if state == "53100":
        return DiskFull(f"there is no room for {name}: {told}", file=name)
    if state.startswith("XX"):
        return BlocksCorrupt(f"{name} is damaged: {told}", database=name)
    if not state or state.startswith(("08", "53", "57", "25P")):
        return BlocksUnreachable(f"{name} does not answer: {told}", database=name)
    return None
