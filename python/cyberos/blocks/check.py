"""Checking a project: its tables, its invariants, and that it is still what the store's chain was told."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from cyberos.blocks import anchor, invariants
from cyberos.blocks.connector import Database, Transaction
from cyberos.blocks.invariants import Problem
from cyberos.blocks.schema import shape
from cyberos.core import following
from cyberos.core.reader import AuditChainReader

# The chain lags: what is not told yet is told by the next change.
NOT_ANCHORED: Final = "not_anchored"

_EVENTS: Final = """SELECT e.event_seq, e.kind, e.session_id, e.epoch, l.sha256 FROM project_event e
    LEFT JOIN integration_log l ON l.project_id=e.project_id AND l.epoch=e.epoch AND e.kind='integrated'
    WHERE e.project_id=? ORDER BY e.event_seq"""


def examine(
    database: Database,
    project_id: str,
    principal_id: str,
    reader: AuditChainReader | None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Problem]:
    """Yields what is wrong with a project; with a `reader` also where it and the store's chain say different things."""
    with database.read() as transaction:
        for line in shape.differences(transaction, database.dialect):
            what = "is missing from" if line.startswith("-") else "does not belong to"
            yield Problem("shape", f"{line[2:]} {what} the tables", line)
        if database.dialect == "sqlite":
            yield from _file(transaction)
        yield from invariants.problems(transaction, project_id, principal_id, progress)
        if reader is not None:
            yield from _chain(transaction, project_id, reader)


def forgotten(database: Database, reader: AuditChainReader) -> Iterator[Problem]:
    """Yields the projects that a store's chain was told of as lying in a file, and that the file does not know.

    That is how a file looks that was put back to before a project was made, or began anew.
    """
    told: dict[str, int] = {}
    for stretch in following.follow(reader, kinds=[anchor.KINDS["integrated"]]):
        for row in stretch.rows:
            if row.extra.get("database") == "sqlite":
                told.setdefault(str(row.extra.get("project_id")), row.seq)
    with database.read() as transaction:
        known = {row[0] for row in transaction.all("SELECT project_id FROM project")}
    for project_id, seq in told.items():
        if project_id not in known:
            yield Problem(
                "forgotten",
                f"row {seq} of the chain tells of project {project_id}, and {database.name} does not know it: the file"
                " was put back to an older state, or it is another one",
                project_id,
            )


def _file(transaction: Transaction) -> Iterator[Problem]:
    for (found,) in transaction.all("PRAGMA integrity_check(20)"):
        if found != "ok":
            yield Problem("file", f"the file is damaged: {found}")
    for table, row, parent, _ in transaction.all("PRAGMA foreign_key_check"):
        yield Problem("reference", f"a row of {table} refers to a row of {parent} that is not there", str(row))


def _chain(transaction: Transaction, project_id: str, reader: AuditChainReader) -> Iterator[Problem]:
    """Compares every event that the chain was told with the database's."""
    known = {row[0]: row for row in transaction.all(_EVENTS, project_id)}
    entries, damages = reader.native.history(anchor.path_of(project_id), follow_moves=False)
    told: dict[int, Any] = {}
    for entry in entries:
        event = entry.extra.get("event")
        if isinstance(event, int):
            told[event] = entry
    last = max(known, default=0)
    for event in sorted(told):
        entry = told[event]
        if event not in known:
            yield Problem(
                "put_back",
                f"the chain was told of event {event} (row {entry.seq}), and the database ends with {last}: it was put"
                " back to an older state",
                str(event),
            )
            return
        if not _says_the_same(known[event], entry.kind, entry.extra):
            message = f"event {event} is not what the chain was told (row {entry.seq}): the database was rewritten"
            yield Problem("rewritten", message, str(event))
    missing = sorted(set(known) - set(told))
    if missing and not damages:
        behind = [event for event in missing if event > max(told, default=0)]
        if len(behind) < len(missing):
            yield Problem("anchor_gap", "the chain was not told of an event between others", str(missing[0]))
        if behind:
            yield Problem(NOT_ANCHORED, f"the chain has not been told of the last {len(behind)} events", str(behind[0]))


def _says_the_same(row: tuple[Any, ...], kind: str, facts: dict[str, Any]) -> bool:
    _, happened, session_id, epoch, sha256 = row
    if kind != anchor.KINDS.get(happened, f"block.{happened}") or facts.get("block_session_id") != session_id:
        return False
    if happened == "integrated":
        return facts.get("epoch") == epoch and sha256 is not None and facts.get("log_sha256") == bytes(sha256).hex()
    return True
