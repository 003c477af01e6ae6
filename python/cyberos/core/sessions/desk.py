"""The files beside the log: who changes sessions, which one is active, and how many of its turns are acknowledged.

`sessions/.lease` is locked by whoever changes anything about sessions, before the store's own lock. It says how many
turns of the active session are durable: fewer in the transcript are damage, more are an append that was not finished.
It is written without a sync, so it may be old after the system went down, and then says too little, never too much.
`sessions/.active` holds the id of the active session; what the log says counts.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from cyberos import clock, durable, layout, locking
from cyberos.errors import CyberosError, IoFailure, StoreLocked

# The lease is written in place, whole.
_SIZE: Final = 512
_LONGEST_POINTER: Final = 256
_MOST_TURNS: Final = 1 << 63


class Lease(NamedTuple):
    """What the lease says."""

    session_id: str
    turns: int


class Desk:
    """The files of one store, while nobody else changes them."""

    def __init__(self, store: str, actor: str) -> None:
        self.store, self._actor = store, actor

    def active(self) -> str | None:
        """Returns what `.active` names."""
        return active(self.store)

    def set_active(self, session_id: str) -> None:
        """Names the active session, durably."""
        durable.replace(os.path.join(self.store, layout.ACTIVE_SESSION), session_id.encode())

    def clear_active(self) -> None:
        """Says that none is active, durably."""
        file = os.path.join(self.store, layout.ACTIVE_SESSION)
        try:
            os.unlink(file)
            durable.sync_folder(os.path.dirname(file))
        except FileNotFoundError:
            return
        except OSError as error:
            raise IoFailure.of("cannot remove", file, error) from error

    def acknowledged(self, session_id: str) -> int:
        """Returns how many turns of a session are known to be durable."""
        found = lease(self.store)
        return found.turns if found and found.session_id == session_id else 0

    def acknowledge(self, session_id: str, turns: int) -> None:
        """Says that so many turns of a session are durable."""
        text = json.dumps(
            {
                "session_id": session_id,
                "turns": turns,
                "actor": self._actor[:128],
                "pid": os.getpid(),
                "since": clock.iso_seconds(clock.now_ns()),
            }
        )
        file = os.path.join(self.store, layout.SESSION_LEASE)
        try:
            handle = os.open(file, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.pwrite(handle, text.encode().ljust(_SIZE, b" ")[: _SIZE - 1] + b"\n", 0)
            finally:
                os.close(handle)
        except OSError as error:
            raise IoFailure.of("cannot write", file, error) from error


@contextmanager
def held(store: str | os.PathLike[str], actor: str, patience: float) -> Iterator[Desk]:
    """Keeps others from changing anything about the sessions of a store; raises `StoreLocked`."""
    folder = os.fspath(store)
    sessions = os.path.join(folder, layout.SESSIONS)
    if not os.path.isdir(sessions):
        make_folder(sessions)

    def busy() -> CyberosError:
        return StoreLocked("another process is changing a session", store=folder, hint="try again when it has finished")

    with locking.locked(os.path.join(folder, layout.SESSION_LEASE), patience, busy):
        yield Desk(folder, actor)


def make_folder(folder: str) -> None:
    """Makes a folder, durably, where there is none."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        durable.sync_folder(os.path.dirname(folder))
    except OSError as error:
        raise IoFailure.of("cannot make", folder, error) from error


def active(store: str | os.PathLike[str]) -> str | None:
    """Returns what `.active` names; `None` where there is none, or nothing that can be read."""
    raw = _read(os.path.join(store, layout.ACTIVE_SESSION), _LONGEST_POINTER)
    try:
        return raw.decode().strip() or None
    except UnicodeDecodeError:
        return None


def lease(store: str | os.PathLike[str]) -> Lease | None:
    """Returns what the lease says; `None` where it cannot be understood."""
    try:
        found: Any = json.loads(_read(os.path.join(store, layout.SESSION_LEASE), _SIZE))
        session_id, turns = found["session_id"], found["turns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(session_id, str) or type(turns) is not int or not 0 <= turns < _MOST_TURNS:
        return None
    return Lease(session_id, turns)


def _read(file: str, most: int) -> bytes:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, most)
    except OSError:
        return b""
    finally:
        os.close(handle)
