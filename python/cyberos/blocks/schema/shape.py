"""What the tables are in truth, in one line for each thing: a ledger of migrations says only what they once were."""

import hashlib
import os
import re
from typing import Final

from cyberos.blocks.connector import Dialect, Transaction

_POSTGRES: Final = """
    SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
            || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
        FROM pg_attribute a JOIN pg_class c ON c.oid=a.attrelid JOIN pg_namespace n ON n.oid=c.relnamespace
        WHERE n.nspname='cyberos_blocks' AND c.relkind='r' AND a.attnum>0 AND NOT a.attisdropped
    UNION ALL SELECT 'constraint ' || c.relname || '.' || k.conname || ' ' || k.contype::text
        FROM pg_constraint k JOIN pg_class c ON c.oid=k.conrelid JOIN pg_namespace n ON n.oid=c.relnamespace
        WHERE n.nspname='cyberos_blocks' AND k.contype IN ('c','f','p','u') AND k.convalidated
    UNION ALL SELECT 'index ' || i.indexname || ' ' || md5(regexp_replace(i.indexdef, 'cyberos_blocks\\.', ''))
        FROM pg_indexes i WHERE i.schemaname='cyberos_blocks'
    UNION ALL SELECT 'trigger ' || c.relname || '.' || t.tgname || ' ' || t.tgenabled::text || ' ' || t.tgtype || ' '
            || md5(p.prosrc)
        FROM pg_trigger t JOIN pg_class c ON c.oid=t.tgrelid JOIN pg_namespace n ON n.oid=c.relnamespace
        JOIN pg_proc p ON p.oid=t.tgfoid WHERE n.nspname='cyberos_blocks' AND NOT t.tgisinternal"""
_SQLITE: Final = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"


def describe(transaction: Transaction, dialect: Dialect) -> list[str]:
    """Returns the lines, sorted."""
    if dialect == "postgres":
        return sorted(str(row[0]) for row in transaction.all(_POSTGRES))
    rows = transaction.all(_SQLITE)
    return sorted(f"{kind} {name} {_digest(sql)}" for kind, name, sql in rows)


def _digest(sql: str) -> str:
    return hashlib.sha256(re.sub(r"\s+", "", sql).encode()).hexdigest()[:16]


def expected(dialect: Dialect) -> list[str]:
    """Returns what the lines must be after all migrations."""
    with open(os.path.join(os.path.dirname(__file__), dialect, "shape.txt"), encoding="utf-8") as handle:
        return handle.read().splitlines()


def differences(transaction: Transaction, dialect: Dialect) -> list[str]:
    """Returns what is missing (`-`) and what is there besides (`+`)."""
    have, want = set(describe(transaction, dialect)), set(expected(dialect))
    return [f"- {line}" for line in sorted(want - have)] + [f"+ {line}" for line in sorted(have - want)]
