"""The states of sessions and projects, and what leads from one to another. Nothing here touches a database.

A dormant session is an open one that nobody has touched for a while: that is worked out when someone looks.
"""

from typing import Final, NamedTuple

from cyberos.errors import SessionAbandoned, SessionEnded, SessionOver, SessionReconciled, command


class Transition(NamedTuple):
    """What a command does in a state."""

    before: str
    command: str
    after: str
    what: str


OPEN: Final = "open"
DORMANT: Final = "dormant"
ENDED: Final = "ended"
ABANDONED: Final = "abandoned"
RECONCILED: Final = "reconciled"

SESSION: Final = (
    Transition("none", "start", OPEN, "a branch from the canonical head; the head stays where it is"),
    Transition("none", "append", OPEN, "by a native reference: starts a session first"),
    Transition(OPEN, "start", OPEN, "the same session again: nothing is written"),
    Transition(OPEN, "append", OPEN, "blocks on the branch"),
    Transition(OPEN, "resume", OPEN, "the same session: its last activity is now"),
    Transition(OPEN, "end", ENDED, "the branch becomes canonical: its last block is the head"),
    Transition(OPEN, "abandon", ABANDONED, "the branch is kept and never canonical"),
    Transition(ENDED, "start", OPEN, "a successor: another session of the same native reference"),
    Transition(ABANDONED, "start", OPEN, "a successor: another session of the same native reference"),
    Transition(RECONCILED, "start", OPEN, "a successor: another session of the same native reference"),
)
PROJECT: Final = (
    Transition("uninitialized", "start", "ready", "the first start makes the baseline, epoch 0"),
    Transition("uninitialized", "import", "ready", "an import, or a migration, makes the first head"),
    Transition("ready", "end", "ready", "epoch + 1"),
    Transition("ready", "fence", "fenced", "an administrator stops all changes"),
    Transition("fenced", "release", "ready", "an administrator allows them again"),
)

TERMINAL: Final[dict[str, type[SessionOver]]] = {
    ENDED: SessionEnded,
    ABANDONED: SessionAbandoned,
    RECONCILED: SessionReconciled,
}
# The least and the greatest time that a database keeps.
_BEGINNING: Final = -(2**63)
_END: Final = 2**63 - 1
# What a new session of the same native reference may follow.
_NEXT: Final = {(each.before, each.command): each.after for each in SESSION}


def after(status: str, command: str) -> str | None:
    """Returns the state that a command leads to; `None` where it is refused."""
    return _NEXT.get((status, command))


def over(status: str, session_id: str, native_ref: str, epoch: int | None) -> SessionOver:
    """Returns the error that tells the owner that a session takes no more."""
    told = {ENDED: f"has ended (epoch {epoch})", ABANDONED: "was abandoned", RECONCILED: "can only be read"}[status]
    return TERMINAL[status](
        f"session {session_id} {told}",
        session_id=session_id,
        native_ref=native_ref,
        status=status,
        epoch=epoch,
        hint=f"`{command('cyberos', 'blocks', 'start', native_ref)}` starts another one",
    )


def shown(status: str, last_activity_ns: int, now_ns: int, dormant_after_ns: int) -> str:
    """Returns the state as it is shown: an open session that was quiet for more than `dormant_after_ns` is dormant."""
    return DORMANT if status == OPEN and now_ns - last_activity_ns > dormant_after_ns else status


def stored(status: str | None, now_ns: int, dormant_after_ns: int) -> tuple[str | None, tuple[int, int]]:
    """Returns the state that is stored of one that is shown, and the bounds of such a session's last activity."""
    quiet = now_ns - dormant_after_ns
    if status == DORMANT:
        return OPEN, (_BEGINNING, quiet - 1)
    return status, (quiet if status == OPEN else _BEGINNING, _END)
