"""The databases that block memory can lie in, behind one small interface: SQLite in a file, and PostgreSQL.

Statements are written once, with `?` for what is filled in. Whatever goes wrong in a driver becomes an error of ours
here; nothing above this package knows a driver.
"""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol
from urllib.parse import unquote, urlsplit

from cyberos.errors import BadArgument

Row = tuple[Any, ...]
Statement = tuple[str, tuple[Any, ...]]
Dialect = Literal["sqlite", "postgres"]

# How long a change waits for others, in seconds.
PATIENCE: Final = 10.0


class Transaction(Protocol):
    """Statements that are carried out together or not at all."""

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows."""

    def one(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row."""

    def batch(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Carries out several statements, each of which sees what is there when it begins; returns the rows of each."""

    def last(self, statements: Sequence[Statement]) -> None:
        """Gives the last statements of the transaction, whose rows nobody needs: they may wait for its end."""

    def script(self, text: str) -> None:
        """Carries out a text of several statements."""

    def locking(self, project_id: str, principal_id: str) -> list[Statement]:
        """Returns what makes this transaction the only one that changes a project, if it is the principal's.

        The first statement returns a row if it is. It reads nothing else: a statement that waits for a lock sees other
        tables as they were before it waited.
        """

    def close_gate(self) -> None:
        """Waits until no project is being changed, and lets none be changed before this transaction is over."""


class Database(Protocol):
    """A database, open. May be shared by threads."""

    dialect: Dialect

    @property
    def name(self) -> str:
        """What errors call it: a file, or a URL without its password."""

    def read(self) -> AbstractContextManager[Transaction]:
        """Returns a transaction that sees one state of the database and changes nothing."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Returns a transaction that is made durable when it is left without an error."""

    def close(self) -> None:
        """Closes it."""


def connect(url: str, *, patience: float = PATIENCE, create: bool = False) -> Database:
    """Opens the database that a URL names: `sqlite:///PATH`, a path, or `postgresql://…`.

    A file that is not there is made with `create`, and else an error.
    """
    scheme = urlsplit(url).scheme if "://" in url else ""
    if scheme in ("postgresql", "postgres"):
        from cyberos.blocks.connector.postgres import Postgres

        return Postgres(url, patience=patience)
    if scheme not in ("", "sqlite"):
        raise BadArgument(
            f"block memory cannot lie in {scheme}://", argument="blocks.url", hint="a file, or postgresql://HOST/NAME"
        )
    from cyberos.blocks.connector.sqlite import Sqlite

    return Sqlite(file_of(url), patience=patience, create=create)


def file_of(url: str) -> str:
    """Returns the file that a URL of an embedded database names."""
    return os.path.abspath(unquote(urlsplit(url).path) if url.startswith("sqlite://") else url)


def is_embedded(url: str) -> bool:
    """Whether the database is a file."""
    return "://" not in url or url.startswith("sqlite://")


def without_password(url: str) -> str:
    """Returns a URL as it may be shown."""
    parts = urlsplit(url)
    if parts.password is None and "password" not in parts.query:
        return url
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.username else ""
    return f"{parts.scheme}://{user}{host}{parts.path}"
