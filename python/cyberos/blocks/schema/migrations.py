"""Bringing a database's tables up: files of SQL, each applied once, in order, and remembered by its digest."""

import hashlib
import os
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from cyberos import clock
from cyberos.blocks.connector import Database, Dialect, Transaction
from cyberos.errors import SchemaMismatch

_LEDGER: Final = {
    "sqlite": """CREATE TABLE IF NOT EXISTS schema_migration(
        version INTEGER NOT NULL CONSTRAINT schema_migration_pk PRIMARY KEY,
        name TEXT NOT NULL, sha256 BLOB NOT NULL, applied_ns INTEGER NOT NULL) STRICT""",
    "postgres": """CREATE SCHEMA IF NOT EXISTS cyberos_blocks;
        CREATE TABLE IF NOT EXISTS schema_migration(
        version bigint NOT NULL CONSTRAINT schema_migration_pk PRIMARY KEY,
        name text NOT NULL, sha256 bytea NOT NULL, applied_ns bigint NOT NULL)""",
}


class Migration(NamedTuple):
    """One step: its file's name begins with its number."""

    version: int
    name: str
    text: str

    @property
    def sha256(self) -> bytes:
        """What a database remembers of it."""
        return hashlib.sha256(self.text.encode()).digest()


def load(dialect: Dialect) -> list[Migration]:
    """Returns the migrations for a database, in order."""
    folder = os.path.join(os.path.dirname(__file__), dialect)
    found = []
    for file in sorted(os.listdir(folder)):
        if match := re.fullmatch(r"([0-9]{4})_(\w+)\.sql", file):
            with open(os.path.join(folder, file), encoding="utf-8") as handle:
                found.append(Migration(int(match[1]), match[2], handle.read()))
    return found


def migrate(database: Database, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """Applies what is missing, all or nothing; returns it. Raises `SchemaMismatch` where the database knows others."""
    migrations = load(database.dialect) if migrations is None else migrations
    with database.write() as transaction:
        transaction.close_gate()
        transaction.script(_LEDGER[database.dialect])
        known = _applied(transaction)
        _compare(database, known, migrations)
        missing = list(migrations[len(known) :])
        for migration in missing:
            transaction.script(migration.text)
            transaction.batch([_remember(migration)])
        return missing


def check(database: Database, migrations: Sequence[Migration] | None = None) -> None:
    """Raises `SchemaMismatch` unless all migrations were applied, and no others."""
    migrations = load(database.dialect) if migrations is None else migrations
    with database.read() as transaction:
        known = _applied(transaction) if _has_ledger(database, transaction) else []
    _compare(database, known, migrations)
    if not known:
        hints = ["run `cyberos blocks setup` where it is new"]
        if database.dialect == "sqlite":
            hints.append(f"where it is not, bring it back from a copy, together with {database.name}-wal")
        raise SchemaMismatch(
            f"{database.name} has no tables of block memory", database=database.name, version=0, hint=tuple(hints)
        )
    if len(known) < len(migrations):
        raise SchemaMismatch(
            f"{database.name} has tables of an older version ({len(known)} of {len(migrations)} migrations)",
            database=database.name,
            version=len(known),
            hint="run `cyberos blocks setup`",
        )


def _remember(migration: Migration) -> tuple[str, tuple[int, str, bytes, int]]:
    sql = "INSERT INTO schema_migration(version, name, sha256, applied_ns) VALUES(?, ?, ?, ?)"
    return sql, (migration.version, migration.name, migration.sha256, clock.now_ns())


def _has_ledger(database: Database, transaction: Transaction) -> bool:
    if database.dialect == "sqlite":
        sql = "SELECT 1 FROM sqlite_master WHERE name='schema_migration'"
    else:
        sql = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname='cyberos_blocks' AND tablename='schema_migration'"
    return transaction.one(sql) is not None


def _applied(transaction: Transaction) -> list[tuple[int, str, bytes]]:
    rows = transaction.all("SELECT version, name, sha256 FROM schema_migration ORDER BY version")
    return [(int(version), str(name), bytes(digest)) for version, name, digest in rows]


def _compare(database: Database, known: list[tuple[int, str, bytes]], migrations: Sequence[Migration]) -> None:
    for place, (version, name, digest) in enumerate(known):
        if place >= len(migrations):
            raise SchemaMismatch(
                f"{database.name} has tables of a newer version (migration {version}, {name})",
                database=database.name,
                version=version,
                hint="install a newer cyberos",
            )
        ours = migrations[place]
        if (ours.version, ours.name, ours.sha256) != (version, name, digest):
            raise SchemaMismatch(
                f"{database.name}: migration {version} ({name}) is not that of this version",
                database=database.name,
                version=version,
            )
