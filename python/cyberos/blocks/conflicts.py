"""Branches that say something of the same topic without having seen each other: found when the later one ends.

That is all that is compared. It never keeps a session from ending: both are kept, and a later block can settle it.
"""

from typing import Final, NamedTuple

from cyberos.blocks.connector import Row, Transaction
from cyberos.blocks.growth import Growth
from cyberos.blocks.records import Project, Session
from cyberos.errors import Absent

# The last that a branch says of each of its topics.
_MINE: Final = """
    SELECT t.topic, b.block_id, b.session_id, b.payload_sha256
    FROM block b JOIN block_body t ON t.project_id=b.project_id AND t.block_id=b.block_id
    WHERE b.project_id=? AND b.principal_id=? AND b.session_id=? AND t.topic IS NOT NULL ORDER BY b.session_seq"""
# What became canonical since, on the same topics.
_THEIRS: Final = """
    SELECT t.topic, b.block_id, b.session_id, b.payload_sha256
    FROM session s JOIN block b ON b.project_id=s.project_id AND b.session_id=s.session_id
    JOIN block_body t ON t.project_id=b.project_id AND t.block_id=b.block_id
    WHERE s.project_id=? AND s.principal_id=? AND s.integrated_epoch>? AND t.topic IN(
        SELECT m.topic FROM block n JOIN block_body m ON m.project_id=n.project_id AND m.block_id=n.block_id
        WHERE n.project_id=? AND n.session_id=?)
    ORDER BY s.integrated_epoch, b.project_seq"""
_CONFLICT: Final = """INSERT INTO conflict(project_id, conflict_id, epoch, ordinal, session_id, at_ns)
    VALUES(?, ?, ?, ?, ?, ?)"""
_SIDE: Final = """INSERT INTO conflict_side(project_id, conflict_id, ordinal, block_id, session_id)
    VALUES(?, ?, ?, ?, ?)"""
_EXIST: Final = """SELECT count(*) FROM conflict c JOIN project p ON p.project_id=c.project_id
    WHERE c.project_id=? AND p.principal_id=? AND c.conflict_id IN({})"""

_OPEN: Final = """FROM conflict c JOIN project p ON p.project_id=c.project_id
    WHERE c.project_id=? AND p.principal_id=? AND c.epoch<=? AND NOT EXISTS(
        SELECT 1 FROM resolution r JOIN block b ON b.project_id=r.project_id AND b.block_id=r.block_id
        JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
        WHERE r.project_id=c.project_id AND r.conflict_id=c.conflict_id AND s.integrated_epoch<=?)"""
_COUNT: Final = f"SELECT count(*) {_OPEN}"
_UNSETTLED: Final = f"SELECT c.conflict_id, c.epoch {_OPEN} ORDER BY c.epoch DESC, c.ordinal DESC LIMIT ?"
_SIDES: Final = """SELECT d.block_id, d.session_id, t.topic, t.summary FROM conflict_side d
    LEFT JOIN block_body t ON t.project_id=d.project_id AND t.block_id=d.block_id
    WHERE d.project_id=? AND d.conflict_id=? ORDER BY d.ordinal"""


class Side(NamedTuple):
    """What one branch says last of a topic."""

    block_id: str
    session_id: str
    payload_sha256: bytes


class Open(NamedTuple):
    """A conflict that nothing canonical settles: its topic (`None` where what was said is purged) and what is said."""

    conflict_id: str
    epoch: int
    topic: str | None
    sides: list[dict[str, str | None]]


class Found(NamedTuple):
    """A topic that several branches say something of; the first side is that of the branch that ends now."""

    topic: str
    sides: list[Side]


def find(transaction: Transaction, project: Project, session: Session) -> list[Found]:
    """Returns the topics on which a session's branch and what became canonical since it began say different things."""
    mine_rows, their_rows = transaction.batch(
        [
            (_MINE, (project.project_id, project.principal_id, session.session_id)),
            (
                _THEIRS,
                (
                    *(project.project_id, project.principal_id, session.base_epoch),
                    *(project.project_id, session.session_id),
                ),
            ),
        ]
    )
    mine, theirs = _last(mine_rows), _last(their_rows)
    found = []
    for topic, sides in mine.items():
        (own,) = sides.values()
        others = [side for side in theirs.get(topic, {}).values() if side.payload_sha256 != own.payload_sha256]
        if others:
            found.append(Found(topic, [own, *others]))
    return found


def record(growth: Growth, name: str, epoch: int, ordinal: int, session: Session, found: Found) -> None:
    """Adds a conflict to what is written; `ordinal` is its place, from 0, among those of the epoch."""
    project_id = growth.project.project_id
    growth.add(_CONFLICT, project_id, name, epoch, ordinal, session.session_id, growth.now_ns)
    for place, side in enumerate(found.sides):
        growth.add(_SIDE, project_id, name, place, side.block_id, side.session_id)


def require(transaction: Transaction, project: Project, names: set[str]) -> None:
    """Raises `Absent` where one of them is no conflict of the project."""
    if not names:
        return
    sql = _EXIST.format(", ".join("?" * len(names)))
    row = transaction.one(sql, project.project_id, project.principal_id, *sorted(names))
    if row is None or row[0] != len(names):
        raise Absent


def unsettled(
    transaction: Transaction, project_id: str, principal_id: str, epoch: int, limit: int
) -> tuple[list[Open], int]:
    """Returns the conflicts that are open at an epoch, the newest first, and how many there are."""
    (count,), rows = (
        (transaction.one(_COUNT, *_at(project_id, principal_id, epoch)) or (0,)),
        transaction.all(_UNSETTLED, *_at(project_id, principal_id, epoch), limit),
    )
    return [_said(transaction, project_id, *row) for row in rows], count


def _at(project_id: str, principal_id: str, epoch: int) -> tuple[str | int, ...]:
    return (project_id, principal_id, epoch, epoch)


def _said(transaction: Transaction, project_id: str, conflict_id: str, epoch: int) -> Open:
    rows = transaction.all(_SIDES, project_id, conflict_id)
    sides = [{"block_id": block, "session_id": session, "summary": summary} for block, session, _, summary in rows]
    return Open(conflict_id, epoch, next((row[2] for row in rows if row[2] is not None), None), sides)


def _last(rows: list[Row]) -> dict[str, dict[str, Side]]:
    """Returns, by topic and session, what is said last; a session's place is that of what it said first."""
    found: dict[str, dict[str, Side]] = {}
    for topic, block_id, session_id, sha256 in rows:
        found.setdefault(topic, {})[session_id] = Side(block_id, session_id, bytes(sha256))
    return found
