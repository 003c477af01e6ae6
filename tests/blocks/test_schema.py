"""Migrations, and the tables that they make."""

import re

import pytest

from cyberos.blocks import connector
from cyberos.blocks.schema import migrations, shape
from cyberos.blocks.schema.migrations import Migration
from cyberos.errors import SchemaMismatch
from tests.blocks import servers

MORE = "ALTER TABLE project ADD COLUMN more text"


@pytest.fixture
def empty(kind, request, memory, tmp_path):
    """A database without tables."""
    if kind == "sqlite":
        database = connector.connect(str(memory / f"{tmp_path.name}.db"), create=True)
    else:
        server = request.getfixturevalue("postgres")
        database = connector.connect(server.url(server.database(None)))
    yield database
    database.close()


def lines(database):
    with database.read() as transaction:
        return shape.describe(transaction, database.dialect)


def test_the_tables_are_what_the_page_of_their_shape_says(empty):
    migrations.migrate(empty)
    folder = migrations.__file__.rpartition("/")[0]
    page = f"{folder}/{empty.dialect}/shape.txt"
    with open(page, encoding="utf-8") as handle:
        assert handle.read().splitlines() == lines(empty), "run: python tests/blocks/shapes.py"


def test_fresh_tables_are_those_that_a_migration_leads_to(empty, kind, request, memory, tmp_path):
    known = migrations.load(kind)
    more = [*known, Migration(len(known) + 1, "more", MORE)]
    if kind == "sqlite":
        other = connector.connect(str(memory / f"{tmp_path.name}-2.db"), create=True)
    else:
        server = request.getfixturevalue("postgres")
        other = connector.connect(server.url(server.database(None)))
    for steps in range(1, len(more) + 1):  # one at a time
        assert [each.version for each in migrations.migrate(empty, more[:steps])] == [steps]
    assert [each.version for each in migrations.migrate(other, more)] == list(range(1, len(more) + 1))
    assert lines(empty) == lines(other)
    assert migrations.migrate(empty, more) == []
    other.close()


def test_a_migration_that_fails_leaves_nothing(empty, kind):
    known = migrations.load(kind)
    broken = [*known, Migration(len(known) + 1, "broken", f"{MORE}; SELECT * FROM nowhere")]
    migrations.migrate(empty)
    before = lines(empty)
    with pytest.raises(Exception, match="nowhere"):
        migrations.migrate(empty, broken)
    assert lines(empty) == before
    migrations.check(empty)


def test_tables_of_another_version_are_refused(empty, kind):
    known = migrations.load(kind)
    with pytest.raises(SchemaMismatch, match="has no tables of block memory") as raised:
        migrations.check(empty)
    # A file that was copied without its write-ahead log looks like a new one.
    assert any("-wal" in hint for hint in raised.value.hints) == (kind == "sqlite")
    migrations.migrate(empty, [*known, Migration(len(known) + 1, "more", MORE)])
    with pytest.raises(SchemaMismatch, match="newer version"):
        migrations.check(empty)
    with pytest.raises(SchemaMismatch, match="newer version"):
        migrations.migrate(empty)
    with pytest.raises(SchemaMismatch, match=r"older version \(2 of 3 migrations"):
        migrations.check(empty, [*known, Migration(len(known) + 1, "more", MORE), Migration(len(known) + 2, "x", "")])
    changed = [*known[:-1], known[-1]._replace(text=known[-1].text + "--")]
    with pytest.raises(SchemaMismatch, match="is not that of this version"):
        migrations.check(empty, changed)


def test_what_was_changed_behind_the_ledger_is_seen(broken, kind):
    connection = broken.raw()
    on = " ON block" if kind == "postgres" else ""
    connection.execute(f"DROP TRIGGER block_no_update{on}")
    connection.close()
    with broken.owner.read() as transaction:
        (line,) = shape.differences(transaction, kind)
    assert line.startswith("- trigger")
    assert "block_no_update" in line


SAME = (
    ("octet_length", "length"), (r"\bINTEGER\b|\bbigint\b", "int"), (r"\bBLOB\b|\bbytea\b", "bytes"),
    (r"\bTEXT\b", "text"),
    (r"CONSTRAINT \w+ FOREIGN KEY\([^)]*\)\s+REFERENCES \w+\([^)]*\)( DEFERRABLE INITIALLY DEFERRED)?", ""),
    (r"[\s,]+", " "),
)  # fmt: skip


def spelled(body):
    for pattern, word in SAME:
        body = re.sub(pattern, word, body)
    return body.strip()


def columns(text):
    """Returns the columns and constraints of all tables, in the words of both databases."""
    tables = re.findall(r"CREATE TABLE (\w+)\((.*?)\n?\)(?: STRICT)?;", text, re.DOTALL)
    return {(table, spelled(body)) for table, body in tables}


def test_both_databases_have_the_same_tables_indexes_and_triggers():
    sqlite, postgres = ("\n".join(step.text for step in migrations.load(dialect)) for dialect in ("sqlite", "postgres"))
    assert columns(sqlite) == columns(postgres)
    for pattern in (
        r"CONSTRAINT (\w+) FOREIGN KEY(\([^)]*\))\s+REFERENCES (\w+)(\([^)]*\))( DEFERRABLE INITIALLY DEFERRED)?",
        r"CREATE (UNIQUE )?INDEX (\w+) ON ([^;]*);",
    ):
        assert set(re.findall(pattern, sqlite)) == set(re.findall(pattern, postgres))
    triggers = [
        set(re.findall(r"CREATE TRIGGER (\w+) ((?:BEFORE|AFTER) (?:INSERT|UPDATE|DELETE)) ON (\w+)", text))
        for text in (sqlite, postgres)
    ]
    assert {each for each in triggers[0] if not each[0].endswith("_no_replace")} == triggers[1]


def test_a_file_of_something_else_is_left_alone(memory, tmp_path):
    import sqlite3

    from cyberos.errors import BlocksCorrupt

    file = memory / f"{tmp_path.name}-other.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE x(y)")
    other.commit()
    other.close()
    before = file.read_bytes()
    with pytest.raises(BlocksCorrupt, match="not a database of block memory"):
        migrations.migrate(connector.connect(str(file)))
    (memory / f"{tmp_path.name}-text.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(BlocksCorrupt):
        migrations.migrate(connector.connect(str(memory / f"{tmp_path.name}-text.db")))
    assert file.read_bytes() == before


def test_the_program_owns_none_of_the_tables(postgres):
    database = connector.connect(postgres.url(postgres.database()))
    with database.read() as transaction:
        owned = transaction.all(
            "SELECT relname FROM pg_class c JOIN pg_roles r ON r.oid=c.relowner WHERE r.rolname=?", servers.APP
        )
    assert owned == []
    database.close()
