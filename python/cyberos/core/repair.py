"""Mending a store, one explicit step at a time, each under the store's lock. Nothing here judges what needs mending."""

import os
from typing import Final, NamedTuple

from cyberos import _native, clock, layout
from cyberos.errors import IoFailure

# What is still to be done where giving up rows was interrupted, in audit/.
LOSS_PLAN: Final = "loss.json"
# What those are told who wait for the lock.
_ACTOR: Final = "doctor"


class LossPlan(NamedTuple):
    """What giving up damaged rows means.

    Rows `from_seq` to `to_seq` leave the log. `whole` of them are recorded anew; of those in `lost`, ranges of row
    numbers, nothing is left but bytes in the files that are moved aside. `reason` is what is wrong at `offset` in
    `file`.
    """

    from_seq: int
    to_seq: int
    whole: int
    lost: tuple[tuple[int, int], ...]
    reason: str
    file: str
    offset: int


class Kept(NamedTuple):
    """A file that was moved aside, byte for byte."""

    file: str
    kept_as: str
    bytes: int
    sha256: str


class Loss(NamedTuple):
    """What giving up damaged rows did: row `plan.from_seq` says so now."""

    plan: LossPlan
    kept: tuple[Kept, ...]
    last_seq: int


def _open(store: str, patience: float) -> _native.Repair:
    return _native.Repair(store, patience=patience, actor=_ACTOR)


def _writer(store: str, patience: float) -> _native.Writer:
    return _native.Writer(store, patience=patience, actor=_ACTOR)


def pending_loss(store: str) -> bool:
    """Whether giving up rows was interrupted."""
    return os.path.lexists(os.path.join(store, layout.AUDIT, LOSS_PLAN))


def plan_loss(store: str) -> LossPlan | None:
    """Returns what giving up damaged rows would mean; `None` where the log is whole. Changes nothing."""
    found = _native.plan_loss(store)
    return _plan(found) if found else None


def accept_loss(store: str, *, actor: str, patience: float) -> Loss:
    """Gives up damaged rows."""
    found, kept, last_seq = _open(store, patience).accept_loss(actor, clock.now_ns())
    return Loss(_plan(found), tuple(Kept(*each) for each in kept), last_seq)


def _plan(found: tuple[int, int, int, list[tuple[int, int]], str, str, int]) -> LossPlan:
    from_seq, to_seq, whole, lost, reason, file, offset = found
    return LossPlan(from_seq, to_seq, whole, tuple(lost), reason, file, offset)


def finish_loss(store: str, *, patience: float) -> int:
    """Finishes giving up rows; returns the row that records it."""
    return _open(store, patience).finish_loss()


def rebuild_tip(store: str, *, patience: float) -> int:
    """Writes the tip anew from a log that is whole from its start; returns its last row."""
    return _open(store, patience).rebuild_tip()


def recover(store: str, *, patience: float) -> str | None:
    """Does what every writer does first: sets a torn tail aside (returns its file), rolls working files forward."""
    writer = _writer(store, patience)
    kept = writer.recovery()[2]
    writer.close()
    return kept


def rebuild(store: str, *, patience: float) -> None:
    """Makes HEAD, the peaks and the indexes again."""
    writer = _writer(store, patience)
    writer.rebuild()
    writer.close()
    _open(store, patience).index_bodies()


def index_bodies(store: str, *, patience: float) -> None:
    """Indexes all versions; without it looking for one means reading all."""
    _open(store, patience).index_bodies()


def drop_index(store: str, name: str, *, patience: float) -> None:
    """Removes an index, `history`, `objects` or `tree`, and a file that lies where its folder should."""
    _open(store, patience).drop_index(name)


def finish_purges(store: str, *, patience: float) -> int:
    """Erases what purges left behind; returns how many stored copies there were."""
    return _open(store, patience).finish_purges()


def restore_files(store: str, files: list[str], *, patience: float) -> list[str]:
    """Writes working files that are missing from the stored versions; returns which."""
    return _open(store, patience).restore_files(files)


def remove_leftovers(store: str, files: list[str], *, patience: float) -> None:
    """Removes files that interrupted writes left."""
    _open(store, patience).remove_leftovers(files)


def adopt(store: str, path: str, *, actor: str, patience: float) -> int | None:
    """Records a working file that was edited by hand; `actor` is who must be allowed to write it. Returns the row."""
    from cyberos.core.writer import Writer

    with Writer(store, actor=actor, patience=patience) as writer:
        # Read only now: opening a writer brings files up to date that a crash left behind.
        content = _read(store, path)
        # The writer records what it finds before it changes anything, and then there is nothing to change.
        receipt = writer.put(path, content, session_id="")
    return receipt.adopted or receipt.seq


def _read(store: str, path: str) -> bytes:
    try:
        with open(os.path.join(store, path), "rb") as file:
            return file.read()
    except OSError as error:
        raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error


def bury(store: str, path: str, reason: str, *, actor: str, patience: float) -> int | None:
    """Records that a memory is gone, with a tombstone; `actor` must be allowed to. Returns the row."""
    from cyberos.core.writer import Writer

    with Writer(store, actor=actor, patience=patience) as writer:
        return writer.delete(path, reason=reason, session_id="").seq
