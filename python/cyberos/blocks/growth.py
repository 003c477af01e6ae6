"""What one operation adds to a project: blocks with their edges, hashes, bodies, debts and accounts, as statements.

Edges come before their child, which seals them; a session's row comes before its blocks.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from cyberos.blocks import canonical
from cyberos.blocks.connector import Statement
from cyberos.blocks.facts import Content
from cyberos.blocks.records import Project, Session

# The model that a block is to be embedded for until one is chosen.
_MODEL: Final = "default"

_EDGE: Final = """INSERT INTO block_parent(project_id, child_id, child_seq, ordinal, parent_id, parent_seq, role)
    VALUES(?, ?, ?, ?, ?, ?, ?)"""
_BLOCK: Final = """INSERT INTO block(block_id, project_id, principal_id, session_id, session_seq, project_seq, kind,
    parent_count, payload_sha256, payload_bytes, token_est, fact_key, actor, occurred_ns, created_ns, hash)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_BODY: Final = """INSERT INTO block_body(block_id, project_id, principal_id, topic, summary, payload)
    VALUES(?, ?, ?, ?, ?, ?)"""
_DEBT: Final = "INSERT INTO embedding_debt(project_id, block_id, model_id, not_before_ns) VALUES(?, ?, ?, ?)"
_USAGE: Final = """INSERT INTO usage_event(project_id, project_seq, principal_id, op, blocks, bytes, tokens, at_ns)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?)"""
_EVENT: Final = """INSERT INTO project_event(project_id, event_seq, kind, session_id, epoch, actor, at_ns)
    VALUES(?, ?, ?, ?, ?, ?, ?)"""
_COUNTERS: Final = """UPDATE project SET next_project_seq=?, next_event_seq=?, block_count=block_count+?,
    payload_bytes=payload_bytes+? WHERE project_id=? AND principal_id=?"""


class Node(NamedTuple):
    """A block as others point at it."""

    block_id: str
    project_seq: int
    sha256: bytes


class Parent(NamedTuple):
    """An edge to be."""

    node: Node
    role: str


class Growth:
    """Collects what is added; `statements` is in an order that the database takes."""

    def __init__(self, project: Project, op: str, actor: str, now_ns: int, new_id: Callable[[str], str]) -> None:
        self.project: Final = project
        self.actor: Final = actor
        self.now_ns: Final = now_ns
        self.new_id: Final = new_id
        self.statements: Final[list[Statement]] = []
        self._op = op
        self._seq, self._event = project.next_project_seq, project.next_event_seq
        self._blocks = self._bytes = self._tokens = 0

    def add(self, sql: str, *values: Any) -> None:
        """Adds any other statement."""
        self.statements.append((sql, values))

    def block(
        self,
        kind: str,
        session: tuple[str, int] | None,
        content: Content,
        parents: list[Parent],
        *,
        key: str | None = None,
        occurred_ns: int | None = None,
        block_id: str | None = None,
    ) -> Node:
        """Adds a block. `session` is its id and the block's place on the branch, from 1."""
        project = self.project
        block_id = block_id or self.new_id("blk")
        session_id, session_seq = session or (None, None)
        occurred_ns = self.now_ns if occurred_ns is None else occurred_ns
        header = (
            block_id, project.project_id, project.principal_id, session_id, session_seq, self._seq, kind, len(parents),
            content.sha256, len(content.payload), content.tokens, key, self.actor, occurred_ns, self.now_ns,
        )  # fmt: skip
        sha256 = hash_of(header, [parent.node.sha256 for parent in parents])
        for ordinal, parent in enumerate(parents):
            node = parent.node
            self.add(_EDGE, project.project_id, block_id, self._seq, ordinal, *node[:2], parent.role)
        self.add(_BLOCK, *header, sha256)
        self.add(
            _BODY, block_id, project.project_id, project.principal_id, content.topic, content.summary, content.payload
        )
        if kind != "baseline":
            self.add(_DEBT, project.project_id, block_id, _MODEL, self.now_ns)
        self._seq, self._blocks = self._seq + 1, self._blocks + 1
        self._bytes, self._tokens = self._bytes + len(content.payload), self._tokens + content.tokens
        return Node(block_id, self._seq - 1, sha256)

    def event(self, kind: str, session_id: str | None, epoch: int | None) -> None:
        """Adds what the chains of the project's stores are told."""
        self.add(_EVENT, self.project.project_id, self._event, kind, session_id, epoch, self.actor, self.now_ns)
        self._event += 1

    def finish(self) -> list[Statement]:
        """Adds the counters and accounts; returns all statements."""
        project = self.project
        if self._blocks:
            self.add(
                _USAGE, project.project_id, project.next_project_seq, project.principal_id, self._op, self._blocks,
                self._bytes, self._tokens, self.now_ns,
            )  # fmt: skip
        if self._blocks or self._event != project.next_event_seq:
            self.add(
                _COUNTERS, self._seq, self._event, self._blocks, self._bytes, project.project_id, project.principal_id
            )
        return self.statements


def tip_of(session: Session) -> Node:
    """Returns the last block of a session's branch."""
    return Node(session.tip_block_id, session.tip_project_seq, session.tip_sha256)


def hash_of(header: tuple[Any, ...], parents: list[bytes]) -> bytes:
    """Returns a block's hash: of the columns of its row in the order above, and of the hashes of its parents."""
    spelled = [value.hex() if isinstance(value, bytes) else _exact(value) for value in header]
    return canonical.digest(["block", 1, *spelled, [parent.hex() for parent in parents]])


def _exact(value: Any) -> Any:
    """Returns a number as a text: times do not fit into a double."""
    return str(value) if isinstance(value, int) else value
