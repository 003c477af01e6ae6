"""What must hold in a project, asked of the database; what the database refuses is asked again all the same."""

import hashlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from cyberos.blocks import growth, integration, records
from cyberos.blocks.connector import Row, Transaction

_PAGE: Final = 2_000


class Problem(NamedTuple):
    """An invariant that does not hold. `id` is stable; `where` is a block, a session or an epoch."""

    id: str
    message: str
    where: str | None = None


# Each returns what breaks it. All ask about one project: `?1` is its id.
_QUERIES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "session_tip",
        "the tip of a session is not the last block of its branch",
        """SELECT s.session_id FROM session s WHERE s.project_id=? AND NOT EXISTS(SELECT 1 FROM block b
            WHERE b.project_id=s.project_id AND b.block_id=s.tip_block_id AND b.session_id=s.session_id
              AND b.session_seq=s.tip_seq
              AND b.session_seq=(SELECT max(c.session_seq) FROM block c
                WHERE c.project_id=s.project_id AND c.session_id=s.session_id)
              AND b.session_seq=(SELECT count(*) FROM block c
                WHERE c.project_id=s.project_id AND c.session_id=s.session_id))""",
    ),
    (
        "branch_linear",
        "a block does not follow the one before it on its branch",
        """SELECT b.block_id FROM block b JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
            WHERE b.project_id=? AND s.origin='live' AND NOT EXISTS(SELECT 1 FROM block_parent e
              LEFT JOIN block p ON p.project_id=e.project_id AND p.block_id=e.parent_id
              WHERE e.project_id=b.project_id AND e.child_id=b.block_id AND e.ordinal=0 AND (
                b.session_seq=1 AND e.role='base' AND e.parent_id=s.base_block_id
                OR b.session_seq>1 AND e.role='branch' AND p.session_id=b.session_id
                  AND p.session_seq=b.session_seq-1))""",
    ),
    (
        "parent_count",
        "a block has other parents than it says",
        """SELECT b.block_id FROM block b WHERE b.project_id=? AND b.parent_count<>(SELECT count(*) FROM block_parent e
            WHERE e.project_id=b.project_id AND e.child_id=b.block_id)""",
    ),
    (
        "terminal",
        "a session's state is not what its last block says",
        """SELECT s.session_id FROM session s JOIN block b ON b.project_id=s.project_id AND b.block_id=s.tip_block_id
            WHERE s.project_id=? AND s.origin='live' AND s.status<>CASE b.kind WHEN 'session_end' THEN 'ended'
              WHEN 'abandon' THEN 'abandoned' ELSE 'open' END""",
    ),
    (
        "integrated",
        "an ended session is not in the integration log",
        """SELECT s.session_id FROM session s WHERE s.project_id=? AND s.status='ended' AND s.origin='live'
            AND NOT EXISTS(SELECT 1 FROM integration_log l WHERE l.project_id=s.project_id
              AND l.epoch=s.integrated_epoch AND l.session_id=s.session_id AND l.head_block_id=s.terminal_block_id)""",
    ),
    (
        "log_session",
        "an entry of the integration log is not of a session that ended with it",
        """SELECT l.epoch FROM integration_log l WHERE l.project_id=? AND l.kind='end' AND NOT EXISTS(
            SELECT 1 FROM session s WHERE s.project_id=l.project_id AND s.session_id=l.session_id
              AND s.status='ended' AND s.integrated_epoch=l.epoch)""",
    ),
    (
        "descends",
        "a head does not descend from the head before",
        """SELECT l.epoch FROM integration_log l JOIN session s
            ON s.project_id=l.project_id AND s.session_id=l.session_id
            WHERE l.project_id=? AND l.kind='end' AND NOT (s.base_epoch=l.prev_epoch OR EXISTS(
              SELECT 1 FROM block_parent e WHERE e.project_id=l.project_id AND e.child_id=l.head_block_id
                AND e.parent_id=l.prev_head_id AND e.role='integration'))""",
    ),
    (
        "invented_parent",
        "a head has the head before for a parent although its branch had it already",
        """SELECT l.epoch FROM integration_log l JOIN session s
            ON s.project_id=l.project_id AND s.session_id=l.session_id
            JOIN block b ON b.project_id=l.project_id AND b.block_id=l.head_block_id
            WHERE l.project_id=? AND l.kind='end' AND s.base_epoch=l.prev_epoch AND b.parent_count<>1""",
    ),
    (
        "session_content",
        "a session counts other blocks than it has",
        """SELECT s.session_id FROM session s WHERE s.project_id=? AND s.origin='live' AND s.status<>'abandoned'
            AND (s.content_blocks<>(SELECT count(*) FROM block b WHERE b.project_id=s.project_id
                AND b.session_id=s.session_id AND b.token_est>0)
              OR s.content_tokens<>(SELECT coalesce(sum(b.token_est), 0) FROM block b WHERE b.project_id=s.project_id
                AND b.session_id=s.session_id))""",
    ),
    (
        "log_content",
        "an entry of the integration log counts other blocks than became canonical",
        """SELECT l.epoch FROM integration_log l JOIN integration_log o
            ON o.project_id=l.project_id AND o.epoch=l.prev_epoch
            JOIN session s ON s.project_id=l.project_id AND s.session_id=l.session_id
            WHERE l.project_id=? AND l.kind='end' AND (l.content_blocks<>o.content_blocks+s.content_blocks
              OR l.content_tokens<>o.content_tokens+s.content_tokens)""",
    ),
    (
        "successor",
        "a session does not follow the one before it",
        """SELECT s.session_id FROM session s WHERE s.project_id=? AND s.generation>1 AND NOT EXISTS(
            SELECT 1 FROM session o WHERE o.project_id=s.project_id AND o.session_id=s.successor_of
              AND o.native_ref=s.native_ref AND o.generation=s.generation-1 AND o.status<>'open')""",
    ),
    (
        "embedding_debt",
        "a block is not down for embedding",
        """SELECT b.block_id FROM block b WHERE b.project_id=? AND b.kind<>'baseline' AND NOT EXISTS(
            SELECT 1 FROM embedding_debt d WHERE d.project_id=b.project_id AND d.block_id=b.block_id)""",
    ),
    (
        "counters",
        "the project counts other blocks than it has",
        """SELECT p.project_id FROM project p WHERE p.project_id=? AND (
            p.block_count<>(SELECT count(*) FROM block b WHERE b.project_id=p.project_id)
            OR p.next_project_seq<>(SELECT coalesce(max(b.project_seq), -1)+1 FROM block b
              WHERE b.project_id=p.project_id)
            OR p.payload_bytes<>(SELECT coalesce(sum(b.payload_bytes), 0) FROM block b WHERE b.project_id=p.project_id)
            OR p.next_event_seq<>(SELECT count(*)+1 FROM project_event e WHERE e.project_id=p.project_id)
            OR p.next_event_seq<>(SELECT coalesce(max(e.event_seq), 0)+1 FROM project_event e
              WHERE e.project_id=p.project_id))""",
    ),
    (
        "accounts",
        "the accounts are of other blocks than the project has",
        """SELECT p.project_id FROM project p WHERE p.project_id=? AND (
            p.block_count<>(SELECT coalesce(sum(u.blocks), 0) FROM usage_event u WHERE u.project_id=p.project_id)
            OR p.payload_bytes<>(SELECT coalesce(sum(u.bytes), 0) FROM usage_event u
              WHERE u.project_id=p.project_id))""",
    ),
    (
        "events",
        "what happened to a session is not among the project's events",
        """SELECT s.session_id FROM session s WHERE s.project_id=? AND s.origin='live' AND (
            1<>(SELECT count(*) FROM project_event e WHERE e.project_id=s.project_id AND e.session_id=s.session_id
              AND e.kind='session_started')
            OR CASE WHEN s.status='open' THEN 0 ELSE 1 END<>(SELECT count(*) FROM project_event e
              WHERE e.project_id=s.project_id AND e.session_id=s.session_id
                AND e.kind IN('session_ended','session_abandoned')))""",
    ),
    (
        "epoch_events",
        "an epoch is not among the project's events",
        """SELECT l.epoch FROM integration_log l WHERE l.project_id=? AND l.kind IN('end','baseline') AND 1<>(
            SELECT count(*) FROM project_event e WHERE e.project_id=l.project_id AND e.epoch=l.epoch
              AND e.kind='integrated')""",
    ),
    (
        "conflict_sides",
        "a conflict has fewer than two sides",
        """SELECT c.conflict_id FROM conflict c WHERE c.project_id=? AND 2>(SELECT count(*) FROM conflict_side d
            WHERE d.project_id=c.project_id AND d.conflict_id=c.conflict_id)""",
    ),
    (
        "receipt_isolation",
        "a session was handed what was neither canonical at its base nor its own",
        """SELECT k.block_id FROM receipt_block k JOIN receipt r
            ON r.project_id=k.project_id AND r.receipt_id=k.receipt_id
            JOIN block b ON b.project_id=k.project_id AND b.block_id=k.block_id
            LEFT JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
            WHERE k.project_id=? AND NOT (b.session_id=r.session_id AND b.session_seq<=r.tip_seq
              OR s.integrated_epoch IS NOT NULL AND s.integrated_epoch<=r.base_epoch)""",
    ),
    (
        "body_missing",
        "the content of a block is gone, and no purge says why",
        """SELECT b.block_id FROM block b WHERE b.project_id=? AND NOT EXISTS(SELECT 1 FROM block_body t
            WHERE t.project_id=b.project_id AND t.block_id=b.block_id)
            AND NOT EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=b.project_id
              AND a.kind IN('purge','destroy','import_rollback'))""",
    ),
)
_MOST: Final = 20

_BLOCKS: Final = """SELECT b.block_id, b.project_id, b.principal_id, b.session_id, b.session_seq, b.project_seq, b.kind,
    b.parent_count, b.payload_sha256, b.payload_bytes, b.token_est, b.fact_key, b.actor, b.occurred_ns, b.created_ns,
    b.hash,
    t.payload FROM block b LEFT JOIN block_body t ON t.project_id=b.project_id AND t.block_id=b.block_id
    WHERE b.project_id=? AND b.project_seq>? ORDER BY b.project_seq LIMIT ?"""
_PARENTS: Final = """SELECT e.child_id, p.hash FROM block_parent e
    JOIN block p ON p.project_id=e.project_id AND p.block_id=e.parent_id
    WHERE e.project_id=? AND e.child_seq BETWEEN ? AND ? ORDER BY e.child_seq, e.ordinal"""
_LOG: Final = """SELECT project_id, epoch, head_block_id, head_sha256, prev_epoch, prev_head_id, prev_sha256, kind,
    session_id, run_id, content_blocks, content_tokens, actor, at_ns, sha256 FROM integration_log
    WHERE project_id=? AND epoch>? ORDER BY epoch LIMIT ?"""


def problems(
    transaction: Transaction,
    project_id: str,
    principal_id: str,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Problem]:
    """Yields what does not hold in a project; `progress` gets the number of blocks that were looked at."""
    rows = transaction.batch([records.select_project(project_id, principal_id)])[0]
    if not rows:
        return
    reason = integration.problem(records.project_of(rows[0]))
    if reason is not None:
        yield Problem("head", f"the canonical head cannot be built on: {reason}", project_id)
    for name, message, sql in _QUERIES:
        found = transaction.all(f"{sql} LIMIT {_MOST}", project_id)
        yield from (Problem(name, message, str(row[0])) for row in found)
    yield from _log(transaction, project_id)
    yield from _blocks(transaction, project_id, progress)


def _log(transaction: Transaction, project_id: str) -> Iterator[Problem]:
    """Follows the chain of the integration log."""
    before: bytes | None = None
    last = -1
    while rows := transaction.all(_LOG, project_id, last, _PAGE):
        for row in rows:
            *entry, sha256 = map(_plain, row)
            if entry[1] != last + 1:
                yield Problem("log_gap", "an entry of the integration log is missing", str(last + 1))
            if entry[6] != before:
                yield Problem("log_chain", "an entry does not follow the one before it", str(entry[1]))
            if integration.entry_hash(tuple(entry)) != sha256:
                yield Problem("log_hash", "an entry of the integration log was changed", str(entry[1]))
            before, last = sha256, entry[1]


def _blocks(transaction: Transaction, project_id: str, progress: Callable[[int], object] | None) -> Iterator[Problem]:
    """Computes every hash again."""
    last, done = -1, 0
    while rows := transaction.all(_BLOCKS, project_id, last, _PAGE):
        first, last = rows[0][5], rows[-1][5]
        parents = _grouped(transaction.all(_PARENTS, project_id, first, last))
        for row in rows:
            *header, sha256, payload = map(_plain, row)
            if growth.hash_of(tuple(header), parents.get(header[0], [])) != sha256:
                yield Problem("block_hash", "a block, or one of its parents, was changed", header[0])
            if payload is not None and hashlib.sha256(payload).digest() != header[8]:
                yield Problem("body_hash", "the content of a block was changed", header[0])
        done += len(rows)
        if progress is not None:
            progress(done)


def _grouped(rows: list[Row]) -> dict[str, list[bytes]]:
    return {child: [bytes(row[1]) for row in edges] for child, edges in itertools.groupby(rows, key=lambda row: row[0])}


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
