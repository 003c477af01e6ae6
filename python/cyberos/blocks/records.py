"""Rows as values, and the statements that read them. Every statement names the owner."""

from typing import Final, NamedTuple

from cyberos.blocks.connector import Row, Statement


class Project(NamedTuple):
    """A project as it is under its lock, with what its canonical head is."""

    project_id: str
    principal_id: str
    name: str
    availability: str
    integration_state: str
    epoch: int | None
    head: str | None
    next_project_seq: int
    next_event_seq: int
    # The last entry of the log, and that of the project's epoch.
    last_epoch: int | None
    logged_head: str | None
    logged_head_sha256: bytes | None
    log_sha256: bytes | None
    content_blocks: int | None
    content_tokens: int | None
    # The head's block.
    head_seq: int | None
    head_sha256: bytes | None
    head_principal: str | None


_PROJECT: Final = """
    SELECT p.project_id, p.principal_id, p.name, p.availability, p.integration_state, p.integration_epoch,
        p.integration_head, p.next_project_seq, p.next_event_seq,
        (SELECT max(n.epoch) FROM integration_log n WHERE n.project_id=p.project_id),
        l.head_block_id, l.head_sha256, l.sha256, l.content_blocks, l.content_tokens,
        b.project_seq, b.hash, b.principal_id
    FROM project p
    LEFT JOIN integration_log l ON l.project_id=p.project_id AND l.epoch=p.integration_epoch
    LEFT JOIN block b ON b.project_id=p.project_id AND b.block_id=p.integration_head
    WHERE p.project_id=? AND p.principal_id=?"""


def select_project(project_id: str, principal_id: str) -> Statement:
    """Returns the statement that reads one project."""
    return _PROJECT, (project_id, principal_id)


def project_of(row: Row) -> Project:
    """Returns a row of `select_project`."""
    return Project._make(row)


class Session(NamedTuple):
    """A session, with what its tip is."""

    session_id: str
    project_id: str
    native_ref: str
    generation: int
    successor_of: str | None
    transcript_id: str | None
    origin: str
    status: str
    base_epoch: int | None
    base_block_id: str | None
    tip_block_id: str
    tip_seq: int
    content_blocks: int
    content_tokens: int
    actor: str
    started_ns: int
    last_activity_ns: int
    terminal_ns: int | None
    terminal_block_id: str | None
    integrated_epoch: int | None
    # The tip's block.
    tip_project_seq: int
    tip_sha256: bytes


_SESSION: Final = """
    SELECT s.session_id, s.project_id, s.native_ref, s.generation, s.successor_of, s.transcript_id, s.origin, s.status,
        s.base_epoch, s.base_block_id, s.tip_block_id, s.tip_seq, s.content_blocks, s.content_tokens, s.actor,
        s.started_ns, s.last_activity_ns, s.terminal_ns, s.terminal_block_id, s.integrated_epoch, t.project_seq, t.hash
    FROM session s JOIN block t ON t.project_id=s.project_id AND t.block_id=s.tip_block_id
    WHERE s.project_id=? AND s.principal_id=? """
_BY_ID: Final = _SESSION + "AND s.session_id=?"
_BY_REF: Final = _SESSION + "AND s.native_ref=? ORDER BY s.generation DESC LIMIT 1"
_BY_STATUS: Final = (
    _SESSION + "AND s.status=? AND s.last_activity_ns BETWEEN ? AND ? AND s.started_ns<?"
    " ORDER BY s.started_ns DESC, s.session_id DESC LIMIT ?"
)
_ANY: Final = _SESSION + "AND s.started_ns<? ORDER BY s.started_ns DESC, s.session_id DESC LIMIT ?"


class Target(NamedTuple):
    """The session that is meant: by its id, or the newest of a native reference."""

    session_id: str | None = None
    native_ref: str | None = None

    @property
    def text(self) -> str:
        """What was said."""
        return self.session_id or self.native_ref or ""


def select_session(project_id: str, principal_id: str, target: Target) -> Statement:
    """Returns the statement that reads the session that is meant."""
    if target.session_id is not None:
        return _BY_ID, (project_id, principal_id, target.session_id)
    return _BY_REF, (project_id, principal_id, target.native_ref)


def select_sessions(
    project_id: str, principal_id: str, status: str | None, active: tuple[int, int], before_ns: int, limit: int
) -> Statement:
    """Returns the statement that reads the sessions that started last; `active` bounds a status's last activity."""
    if status is None:
        return _ANY, (project_id, principal_id, before_ns, limit)
    return _BY_STATUS, (project_id, principal_id, status, *active, before_ns, limit)


def session_of(row: Row) -> Session:
    """Returns a row of `select_session` or `select_sessions`."""
    return Session._make(row)
