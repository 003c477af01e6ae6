"""Who asks: principals, and the credentials that stand for them.

A token is random and kept only as its SHA-256. Where the database is a file, its owner needs none. Whoever may not have
an answer gets `Absent`, whatever the reason.
"""

import hashlib
import os
from typing import Any, Final, NamedTuple

from cyberos.blocks.connector import Database, Row, Statement
from cyberos.errors import Absent

OWNER: Final = "owner"
SCOPES: Final = ("read", "write")
_PREFIX: Final = "cyb_"
_TOKEN_BYTES: Final = 32


class Caller(NamedTuple):
    """Who asks, as they say: by a token, or as the owner of the file (`None`). `actor` is the name of who acts."""

    actor: str
    token: str | None = None


class Principal(NamedTuple):
    """Who a caller is found to be."""

    principal_id: str
    scopes: frozenset[str]


_BEARER: Final = """
    SELECT c.principal_id, c.scopes, c.created_ns, c.expires_ns, c.revoked_ns, p.state
    FROM credential c JOIN principal p ON p.principal_id=c.principal_id WHERE c.token_sha256=?"""
_BY_OWNER: Final = "SELECT principal_id, 'read write', 0, NULL, NULL, state FROM principal WHERE principal_id=?"


def select_caller(database: Database, caller: Caller) -> Statement:
    """Returns the statement that reads who a caller is."""
    if caller.token is None and database.dialect == "sqlite":
        return _BY_OWNER, (OWNER,)
    return _BEARER, (token_sha256(caller.token or ""),)


def principal_of(rows: list[Row], scope: str, now_ns: int) -> Principal:
    """Returns who a caller is by the rows of `select_caller`; raises `Absent` where they may not do this."""
    for principal_id, scopes, _, expires_ns, revoked_ns, state in rows:
        granted = frozenset(scopes.split())
        if (
            scope in granted
            and revoked_ns is None
            and state == "active"
            and (expires_ns is None or now_ns < expires_ns)
        ):
            return Principal(principal_id, granted)
    raise Absent


def token_sha256(token: str) -> bytes:
    """Returns what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def new_token() -> str:
    """Returns a token that nobody has."""
    import base64

    return _PREFIX + base64.urlsafe_b64encode(os.urandom(_TOKEN_BYTES)).decode().rstrip("=")


def insert_principal(principal_id: str, display: str, now_ns: int) -> Statement:
    """Returns the statement that adds a principal."""
    sql = "INSERT INTO principal(principal_id, display, created_ns) VALUES(?, ?, ?)"
    return sql, (principal_id, display, now_ns)


def insert_credential(
    credential_id: str, principal_id: str, display: str, token: str, scopes: str, now_ns: int, expires_ns: int
) -> Statement:
    """Returns the statement that adds a credential."""
    sql = """INSERT INTO credential(credential_id, principal_id, display, token_sha256, scopes, created_ns, expires_ns)
        VALUES(?, ?, ?, ?, ?, ?, ?)"""
    values: tuple[Any, ...] = (
        credential_id, principal_id, display, token_sha256(token), scopes, now_ns, expires_ns
    )  # fmt: skip
    return sql, values
