"""What must never happen, tried statement by statement by one who owns the file or the tables: all is refused.

Nothing here goes through the program: the databases refuse it themselves.
"""

import sqlite3

import psycopg
import pytest

from cyberos.blocks.facts import Fact
from tests.blocks import attacks, servers
from tests.blocks.home import TABLES

REFUSED = (sqlite3.Error, psycopg.Error)
RUN = "INSERT INTO admin_run(run_id, project_id, kind, state, actor, started_ns)"
# Refused for another reason than the one that is tested.
MISTAKEN = ("syntax error", "no such", "does not exist", "no column", "ambiguous")


@pytest.fixture
def grown(broken):
    """A project with a session in each state, a conflict that is settled, and receipts."""
    home = broken
    b, c, gone, still = home.start("x:b"), home.start("x:c"), home.start("x:gone"), home.start("x:open")
    home.append(b, Fact("two", "approvals", "k1"))
    home.append(c, Fact("one", "approvals"))
    home.append(still, "open work", "and more")
    home.append(gone, "never mind")
    home.end(b)
    (conflict,) = home.end(c).conflicts
    home.abandon(gone)
    d = home.start("x:d", key="kept")
    home.bootstrap(d)
    home.append(d, Fact("two it is", "approvals", resolves=(conflict,)))
    home.end(d)
    assert home.problems() == []
    home.names = {
        "project": home.project_id, "principal": home.principal, "open": still.session_id, "ended": b.session_id,
        "abandoned": gone.session_id, "head": home.project().head,
        "open_tip": home.session(still).tip_block_id, "baseline": home.blocks(still)[0].parents[0],
        "note": home.blocks(b)[1].block_id, "start": home.blocks(still)[0].block_id, "conflict": conflict,
        "ended_tip": home.session(b).tip_block_id,
    }  # fmt: skip
    return home


def try_all(home, connection):
    """Carries every attack out in a transaction of its own; returns those that were not refused."""
    allowed = []
    for name, tried in attacks.all_of(home.kind):
        connection.execute("BEGIN")
        try:
            for statement in tried:
                connection.execute(statement.format_map(home.names))
            connection.execute("COMMIT")  # what is deferred is asked now
            allowed.append(name)
        except REFUSED as error:
            if any(wrong in str(error) for wrong in MISTAKEN):
                allowed.append(f"{name}: {error}")
            if connection_is_in(connection):
                connection.execute("ROLLBACK")
    return allowed


def connection_is_in(connection):
    if isinstance(connection, sqlite3.Connection):
        return connection.in_transaction
    return connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE


def test_all_is_refused_and_nothing_changes(grown):
    before = grown.snapshot()
    connection = grown.raw()
    if grown.kind == "sqlite":
        connection.execute("PRAGMA foreign_keys=ON")
    assert try_all(grown, connection) == []
    connection.close()
    assert grown.snapshot() == before
    assert grown.problems() == []


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_connection_that_asks_for_nothing_cannot_replace(grown):
    """No foreign keys and no recursive triggers, as anybody's SQLite has it."""
    connection = grown.raw()
    assert connection.execute("PRAGMA recursive_triggers").fetchone() == (0,)
    assert try_all(grown, connection) == []
    connection.close()


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_triggers_hold_where_a_role_says_that_it_replicates(grown):
    connection = grown.raw()
    connection.execute("SET session_replication_role=replica")
    assert try_all(grown, connection) == []
    connection.close()


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_table_of_ones_own_opens_no_gate(grown):
    """What deletes is allowed while an administrator's run executes; nobody can put a run of their own in its place."""
    before = grown.snapshot()
    connection = grown.raw()
    connection.execute("CREATE TEMPORARY TABLE admin_run AS SELECT * FROM admin_run")
    connection.execute(
        "INSERT INTO pg_temp.admin_run(run_id, project_id, kind, state, actor, started_ns)"
        f" VALUES('r', '{grown.project_id}', 'destroy', 'executing', 'x', 1)"
    )
    assert try_all(grown, connection) == []
    connection.close()
    assert grown.snapshot() == before


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_the_role_of_the_program_may_only_add_and_move_on(grown):
    import psycopg

    url = grown.url.replace("postgres@", f"{servers.APP}@")
    connection = psycopg.connect(url, autocommit=True, options="-c search_path=cyberos_blocks")
    for table in (*TABLES, "principal", "credential", "admin_run", "kill_switch"):
        refused = [f"TRUNCATE {table}", f"ALTER TABLE {table} DISABLE TRIGGER ALL", f"DROP TABLE {table}"]
        if table != "idempotency":
            refused.append(f"DELETE FROM {table}")
        if table not in ("project", "session", "embedding_debt"):
            column = "principal_id" if table in ("principal", "credential") else "project_id"
            refused.append(f"UPDATE {table} SET {'scope=scope' if table == 'kill_switch' else f'{column}={column}'}")
        for statement in refused:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
    for statement in (
        "UPDATE session SET native_ref='y:y'",
        "UPDATE project SET principal_id='y'",
        f"{RUN} VALUES('r', 'p', 'destroy', 'open', 'x', 1)",
        "INSERT INTO principal(principal_id, display, created_ns) VALUES('x', 'x', 1)",
        "UPDATE credential SET revoked_ns=NULL",
        "SET session_replication_role=replica",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE OR REPLACE FUNCTION cyberos_blocks.mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER mine BEFORE INSERT ON block EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "ALTER SCHEMA cyberos_blocks RENAME TO other",
        "CREATE TABLE cyberos_blocks.mine(x int)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    connection.close()


def test_an_administrators_run_of_one_project_opens_no_other(grown):
    connection = grown.raw()
    mark = "?" if grown.kind == "sqlite" else "%s"
    connection.execute("INSERT INTO project(project_id, principal_id, name, created_ns)"
                       f" VALUES('other', {mark}, 'other', 1)", (grown.principal,))  # fmt: skip
    connection.execute("INSERT INTO admin_run(run_id, project_id, kind, state, actor, started_ns)"
                       " VALUES('r', 'other', 'destroy', 'executing', 'x', 1)")  # fmt: skip
    with pytest.raises(REFUSED, match="no_delete"):
        connection.execute(f"DELETE FROM block_body WHERE project_id={mark}", (grown.project_id,))
    with pytest.raises(REFUSED):  # one run at a time
        connection.execute("INSERT INTO admin_run(run_id, project_id, kind, state, actor, started_ns)"
                           " VALUES('r2', 'other', 'import', 'open', 'x', 1)")  # fmt: skip
    connection.close()


def test_a_purge_may_take_bodies_and_nothing_else(grown):
    connection = grown.raw()
    mark = "?" if grown.kind == "sqlite" else "%s"
    connection.execute("INSERT INTO admin_run(run_id, project_id, kind, state, actor, started_ns)"
                       f" VALUES('r', {mark}, 'purge', 'executing', 'x', 1)", (grown.project_id,))  # fmt: skip
    for table in ("block", "block_parent", "session", "integration_log", "receipt"):
        with pytest.raises(REFUSED, match="no_delete"):
            connection.execute(f"DELETE FROM {table} WHERE project_id={mark}", (grown.project_id,))
    note = grown.names["note"]
    connection.execute(f"DELETE FROM block_body WHERE block_id={mark}", (note,))
    connection.close()
    assert grown.problems() == []
    shown = grown.block(note)
    assert (shown.text, shown.summary, shown.topic) == (None, None, None)
    assert len(shown.hash) == 64
    assert [item.text for item in grown.bootstrap().history].count(None) == 1
