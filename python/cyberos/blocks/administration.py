"""What an administrator does: tables, privileges, tokens, and switching all changes off.

In PostgreSQL this needs a role that owns the tables. The role that the program runs under owns none of them: it may
add, and change only what moves (a session's state, a project's head); it cannot delete, truncate or disable a trigger.
"""

from typing import Final, NamedTuple

from cyberos import clock
from cyberos.blocks import access, facts
from cyberos.blocks.connector import Database
from cyberos.blocks.engine import DAY_NS, Engine
from cyberos.blocks.schema import migrations
from cyberos.errors import Absent, BadArgument

_READ_ONLY: Final = ("schema_migration", "principal", "credential", "kill_switch", "kill_switch_log", "admin_run")
_ADDED_TO: Final = (
    *("project", "project_store", "session", "block", "block_body", "block_parent", "integration_log", "conflict"),
    *("conflict_side", "resolution", "receipt", "receipt_block", "project_event", "idempotency", "embedding_debt"),
    "usage_event",
)
_CHANGED: Final = {
    "project": "integration_state, integration_epoch, integration_head, next_project_seq, next_event_seq, block_count, "
    "payload_bytes",
    "session": "status, tip_block_id, tip_seq, content_blocks, content_tokens, last_activity_ns, terminal_ns, "
    "terminal_block_id, terminal_actor, integrated_epoch, transcript_id",
    "embedding_debt": "state, attempts, not_before_ns, lease_until_ns, last_error",
}
_FORGOTTEN: Final = ("idempotency",)

_TOKENS: Final = """SELECT c.credential_id, c.principal_id, c.display, c.scopes,
    c.created_ns, c.expires_ns, c.revoked_ns
    FROM credential c ORDER BY c.created_ns, c.credential_id"""


class Setup(NamedTuple):
    """What setting up did: the migrations that were applied, and the role that may use the tables."""

    database: str
    applied: list[str]
    role: str | None


class Token(NamedTuple):
    """A token as it is kept; `token` is only there when it is made."""

    credential_id: str
    principal_id: str
    display: str
    scopes: str
    created: str
    expires: str
    revoked: str | None
    token: str | None = None


def set_up(database: Database, role: str | None = None) -> Setup:
    """Makes or brings up the tables, and in PostgreSQL lets a role use them."""
    applied = migrations.migrate(database)
    if role is not None:
        if database.dialect == "sqlite":
            raise BadArgument("a file has no roles", argument="--role")
        with database.write() as transaction:
            transaction.script(privileges(role))
    return Setup(database.name, [f"{each.version:04} {each.name}" for each in applied], role)


def privileges(role: str) -> str:
    """Returns the statements that let a role do what the program does, and no more."""
    quoted = '"' + role.replace('"', '""') + '"'
    lines = [f"GRANT USAGE ON SCHEMA cyberos_blocks TO {quoted}"]
    lines += [f"GRANT SELECT ON {table} TO {quoted}" for table in (*_READ_ONLY, *_ADDED_TO)]
    lines += [f"GRANT INSERT ON {table} TO {quoted}" for table in _ADDED_TO]
    lines += [f"GRANT UPDATE({columns}) ON {table} TO {quoted}" for table, columns in _CHANGED.items()]
    lines += [f"GRANT DELETE ON {table} TO {quoted}" for table in _FORGOTTEN]
    return ";\n".join(lines)


def create_token(to: Engine, principal: str, display: str, scopes: str, days: int) -> Token:
    """Makes a token for a principal, which is made where there is none of that name."""
    principal = facts.name("principal", principal, 100)
    if not scopes.split() or not set(scopes.split()) <= set(access.SCOPES):
        raise BadArgument(f"scopes are of {', '.join(access.SCOPES)}", argument="scopes")
    token, now_ns = access.new_token(), clock.now_ns()
    credential_id, expires_ns = to.new_id("tok"), now_ns + days * DAY_NS
    with to.database.write() as transaction:
        transaction.close_gate()
        statements = []
        if transaction.one("SELECT 1 FROM principal WHERE principal_id=?", principal) is None:
            statements.append(access.insert_principal(principal, principal, now_ns))
        statements.append(
            access.insert_credential(credential_id, principal, display, token, scopes, now_ns, expires_ns)
        )
        transaction.batch(statements)
    times = (clock.iso_exact(now_ns), clock.iso_exact(expires_ns))
    return Token(credential_id, principal, display, scopes, *times, None, token)


def tokens(to: Engine) -> list[Token]:
    """Returns all tokens, without what they are."""
    with to.database.read() as transaction:
        rows = transaction.all(_TOKENS)
    return [
        Token._make((*row[:4], *(None if ns is None else clock.iso_exact(ns) for ns in row[4:]), None)) for row in rows
    ]


def revoke_token(to: Engine, credential_id: str) -> None:
    """Makes a token worth nothing. Changes that run are waited for; those that wait see it revoked."""
    with to.database.write() as transaction:
        transaction.close_gate()
        if transaction.one("SELECT 1 FROM credential WHERE credential_id=?", credential_id) is None:
            raise Absent
        sql = "UPDATE credential SET revoked_ns=? WHERE credential_id=? AND revoked_ns IS NULL"
        transaction.batch([(sql, (clock.now_ns(), credential_id))])


def disable_principal(to: Engine, principal_id: str) -> None:
    """Lets a principal do nothing any more, whatever tokens it has."""
    with to.database.write() as transaction:
        transaction.close_gate()
        transaction.batch([("UPDATE principal SET state='disabled' WHERE principal_id=?", (principal_id,))])


def switch(to: Engine, *, enabled: bool, actor: str, reason: str) -> None:
    """Switches all changes off, or on again; both are kept in a log."""
    now_ns = clock.now_ns()
    with to.database.write() as transaction:
        transaction.close_gate()
        row = transaction.one("SELECT coalesce(max(seq), 0)+1 FROM kill_switch_log")
        values = ("mutations", int(enabled), actor, reason, now_ns)
        transaction.batch(
            [
                ("DELETE FROM kill_switch WHERE scope='mutations'", ()),
                ("INSERT INTO kill_switch(scope, enabled, actor, reason, at_ns) VALUES(?, ?, ?, ?, ?)", values),
                (
                    "INSERT INTO kill_switch_log(seq, scope, enabled, actor, reason, at_ns) VALUES(?, ?, ?, ?, ?, ?)",
                    (row[0] if row else 1, *values),
                ),
            ]
        )
