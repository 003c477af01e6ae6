"""Making a store, and changing the memories in it."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from cyberos.core import sidecar
from cyberos.core import store as stores
from cyberos.core.changes import Mode
from cyberos.core.writer import Receipt, Writer
from cyberos.errors import CyberosError


class Created(NamedTuple):
    """A new store."""

    store: str


class Changed(NamedTuple):
    """What became of a change: `seq` is the row that records it.

    It is null where there was nothing to change, or what was to be purged is purged already.
    `adopted` is the row that recorded an edit made by hand before the change; `erased` counts the stored copies of
    versions that a purge erased; `warnings` say what is not done yet though the row is durable.
    """

    path: str
    seq: int | None
    chain: str | None
    body_hash: str | None
    adopted: int | None
    erased: int
    warnings: tuple[str, ...]


def init(folder: str, *, allow_network_file_system: bool = False) -> Created:
    """Makes an empty store."""
    return Created(os.fspath(stores.init(folder, allow_network_file_system=allow_network_file_system)))


def put(
    store: str,
    path: str,
    content: bytes,
    meta: dict[str, Any] | None = None,
    *,
    actor: str,
    session_id: str | None = None,
) -> Changed:
    """Gives a memory new content."""
    return change(store, path, lambda writer: writer.put(path, content, meta, session_id=session_id), actor=actor)


def put_if(
    store: str,
    path: str,
    content: bytes,
    expected: str | None,
    meta: dict[str, Any] | None = None,
    *,
    actor: str,
    session_id: str | None = None,
) -> Changed:
    """Gives a memory new content where it holds what is expected (`None`: where there is none)."""
    return change(
        store, path, lambda writer: writer.put_if(path, content, expected, meta, session_id=session_id), actor=actor
    )


def move(store: str, src: str, dst: str, *, actor: str, session_id: str | None = None) -> Changed:
    """Gives a memory another path."""
    changed = change(store, dst, lambda writer: writer.move(src, dst, session_id=session_id), actor=actor)
    return _told_of_sidecar(changed, store, src)


def delete(store: str, path: str, mode: Mode, reason: str, *, actor: str, session_id: str | None = None) -> Changed:
    """Deletes a memory."""
    changed = change(
        store,
        path,
        lambda writer: writer.delete(path, mode=mode, reason=reason, session_id=session_id),
        actor=actor,
    )
    return _told_of_sidecar(changed, store, path)


def _told_of_sidecar(changed: Changed, store: str, path: str) -> Changed:
    left = sidecar.left_behind(store, path)
    return changed if left is None else changed._replace(warnings=(*changed.warnings, left))


def change(store: str, path: str, what: Callable[[Writer], Receipt], *, actor: str) -> Changed:
    """Carries out one change. Once its row is durable, what fails while the writer closes is a warning."""
    changed = None
    try:
        with Writer(store, actor=actor) as writer:
            changed = _changed_of(path, what(writer))
    except CyberosError as error:
        if changed is None:
            raise
        changed = changed._replace(warnings=(*changed.warnings, f"the next write has some tidying to do: {error}"))
    return changed


def _changed_of(path: str, receipt: Receipt) -> Changed:
    return Changed(
        path=path,
        seq=receipt.seq,
        chain=receipt.chain,
        body_hash=receipt.content_sha256,
        adopted=receipt.adopted,
        erased=receipt.erased,
        warnings=tuple(receipt.warnings),
    )
