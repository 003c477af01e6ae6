"""Block memory in a file: SQLite, with one writer at a time by a lock of ours beside the file.

SQLite's own way of waiting has no queue. The lock also keeps checkpoints of the write-ahead log apart from commits,
which versions before 3.51.3 can get wrong. The file is never opened but by SQLite: closing it would drop its locks.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import apsw

from cyberos.blocks.connector import Dialect, Row, Statement, lock
from cyberos.blocks.connector.pool import Pool
from cyberos.errors import (
    BlocksBusy,
    BlocksCorrupt,
    BlocksUnreachable,
    CyberosError,
    DiskFull,
    InvariantRefused,
    IoFailure,
    SchemaMismatch,
    StoreReadOnly,
)

APPLICATION_ID: Final = 0x43594231  # CYB1
# Pages of the write-ahead log after which it is written back.
_CHECKPOINT_PAGES: Final = 1_000
_PRAGMAS: Final = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "recursive_triggers": 1,
    "secure_delete": 1,
    "trusted_schema": 0,
    "mmap_size": 0,
    "wal_autocheckpoint": 0,
}


class Sqlite:
    """A file, open."""

    dialect: Dialect = "sqlite"

    def __init__(self, file: str, *, patience: float, create: bool = False, vfs: str | None = None) -> None:
        self._name: Final = file
        self.patience: Final = patience
        # Called where another writer has the lock.
        self.waiting: Callable[[], None] = lambda: None
        self._vfs = vfs
        self._lock_file = f"{file}.lock"
        if not os.path.exists(file):
            if not create:
                raise BlocksUnreachable(f"there is no {file}", database=file, hint="`cyberos blocks enrol` makes it")
            self._create()
        self._pool = Pool(self._connect, apsw.Connection.close)

    @property
    def name(self) -> str:
        """The file."""
        return self._name

    def _create(self) -> None:
        with lock.held(self._lock_file, self.patience, self.waiting), suppress(FileExistsError), _told(self._name):
            try:
                os.close(os.open(self._name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            except PermissionError as error:
                raise StoreReadOnly(f"cannot make {self._name}: {error.strerror}", store=self._name) from error

    def _connect(self) -> apsw.Connection:
        with _told(self._name):
            connection = apsw.Connection(self._name, flags=apsw.SQLITE_OPEN_READWRITE, vfs=self._vfs)
            try:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                connection.set_busy_timeout(int(self.patience * 1_000))
                self._settle(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _settle(self, connection: apsw.Connection) -> None:
        known = connection.pragma("application_id")
        if known not in (0, APPLICATION_ID) or (known == 0 and connection.pragma("schema_version") != 0):
            raise BlocksCorrupt(f"{self._name} is not a database of block memory", database=self._name)
        for name, value in _PRAGMAS.items():
            connection.pragma(name, value)
            if connection.pragma(name) != value:
                raise BlocksUnreachable(f"SQLite does not take {name}={value} for {self._name}", database=self._name)
        if known == 0:
            connection.pragma("application_id", APPLICATION_ID)

    @contextmanager
    def read(self) -> Iterator["SqliteTransaction"]:
        """Yields a transaction that sees one state."""
        with self._transaction("BEGIN") as (_, transaction):
            yield transaction

    @contextmanager
    def write(self) -> Iterator["SqliteTransaction"]:
        """Yields a transaction that is made durable when it is left without an error."""
        with lock.held(self._lock_file, self.patience, self.waiting):
            with self._transaction("BEGIN IMMEDIATE") as (connection, transaction):
                pages = 0

                def count(_: apsw.Connection, __: str, now: int) -> int:
                    nonlocal pages
                    pages = now
                    return 0

                connection.set_wal_hook(count)
                yield transaction
            if pages > _CHECKPOINT_PAGES:
                self._write_back()

    def _write_back(self) -> None:
        """Copies the write-ahead log into the file. What readers still need is left to the next time."""
        connection = self._pool.take()
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error:  # the commit is durable without it
            connection.close()
        else:
            self._pool.give(connection)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[tuple[apsw.Connection, "SqliteTransaction"]]:
        connection = self._pool.take()
        whole = False
        try:
            with _told(self._name):
                connection.execute(begin)
            yield connection, SqliteTransaction(connection, self._name)
            with _told(self._name):
                connection.execute("COMMIT")
            whole = True
        except (CyberosError, apsw.Error):
            whole = self._undo(connection)
            raise
        finally:
            if whole:
                self._pool.give(connection)
            else:
                connection.close()

    @staticmethod
    def _undo(connection: apsw.Connection) -> bool:
        """Rolls back; returns whether the connection can be used again."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            return False
        return True

    def close(self) -> None:
        """Closes the connections that wait."""
        self._pool.empty()


class SqliteTransaction:
    """Statements on one connection."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self.connection: Final = connection
        self._name = name

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows."""
        with _told(self._name):
            return list(self.connection.execute(sql, values))

    def one(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row."""
        with _told(self._name):
            return self.connection.execute(sql, values).fetchone()

    def batch(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Carries out several statements."""
        with _told(self._name):
            return [list(self.connection.execute(sql, values)) for sql, values in statements]

    def last(self, statements: Sequence[Statement]) -> None:
        """Carries the statements out."""
        self.batch(statements)

    def script(self, text: str) -> None:
        """Carries out a text of several statements."""
        with _told(self._name):
            self.connection.execute(text)

    def locking(self, project_id: str, principal_id: str) -> list[Statement]:
        """Returns a look at the project: a transaction that writes has the whole file."""
        sql = "SELECT 1 FROM project WHERE project_id=? AND principal_id=?"
        return [(sql, (project_id, principal_id))]

    def close_gate(self) -> None:
        """Does nothing: a transaction that writes has the whole file."""


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Makes an error of ours of what SQLite says."""
    try:
        yield
    except apsw.ConstraintError as error:
        text = str(error)
        found = re.search(r"(?:ConstraintError: |failed: )?(\w+):? ", text)
        raise InvariantRefused(f"the database refused a change: {text}", invariant=found and found[1]) from error
    except apsw.SQLError as error:
        if not str(error).startswith("no such "):
            raise
        raise SchemaMismatch(
            f"{name} has no block memory of this version: {error}", database=name, hint="run `cyberos blocks setup`"
        ) from error
    except apsw.BusyError as error:
        raise BlocksBusy(f"another program holds {name}", hint="try again") from error
    except apsw.FullError as error:
        raise DiskFull(f"there is no room for {name}", file=name) from error
    except (apsw.NotADBError, apsw.CorruptError, apsw.FormatError) as error:
        raise BlocksCorrupt(
            f"{name} is damaged: {error}", database=name, hint="`cyberos blocks check` says what is left"
        ) from error
    except apsw.ReadOnlyError as error:
        raise StoreReadOnly(f"{name} cannot be written to", store=name) from error
    except (apsw.IOError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise IoFailure(f"cannot use {name}: {error}", file=name) from error
