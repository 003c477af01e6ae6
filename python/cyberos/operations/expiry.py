"""Erasing conversations, and finishing what was interrupted."""

from typing import NamedTuple

from cyberos.core.sessions import purging, recovery
from cyberos.core.sessions.purging import Erasure, Expired, Progress
from cyberos.core.sessions.recovery import Recovered
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore


class Purge(NamedTuple):
    """What a purge of what has expired did, or with `dry_run` would do: `bytes` are freed."""

    dry_run: bool
    expired: tuple[Expired, ...]
    bytes: int
    erased: tuple[Erasure, ...]


def recover(store: str, session_id: str | None, *, actor: str, keystore: Keystore | None) -> tuple[Recovered, ...]:
    """Finishes what was interrupted in one session, or in all."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        return tuple(recovery.recover(writer, session_id))


def purge(store: str, session_id: str, *, actor: str, keystore: Keystore | None) -> Erasure:
    """Erases the transcript of a session that has ended, and its key."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        return purging.purge(writer, session_id)


def purge_expired(
    store: str, *, dry_run: bool, actor: str, keystore: Keystore | None, progress: Progress | None = None
) -> Purge:
    """Erases the transcripts whose time is over."""
    with Writer(store, actor=actor, keystore=keystore) as writer:
        due, done = purging.purge_expired(writer, dry_run=dry_run, progress=progress)
    return Purge(dry_run, tuple(due), sum(each.bytes for each in due), tuple(done))
