"""Making a store, and changing the memories in it."""

import os
from typing import Any, NamedTuple

from cyberos.core import sidecar
from cyberos.core import store as stores
from cyberos.core.changes import Mode
from cyberos.core.writer import Receipt, Writer


class Created(NamedTuple):
    """A new store."""

    store: str


class Changed(NamedTuple):
    """What became of a change: `seq` is the row that records it, null where there was nothing to change.

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
    with Writer(store, actor=actor) as writer:
        return changed_of(path, writer.put(path, content, meta, session_id=session_id))


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
    with Writer(store, actor=actor) as writer:
        return changed_of(path, writer.put_if(path, content, expected, meta, session_id=session_id))


def move(store: str, src: str, dst: str, *, actor: str, session_id: str | None = None) -> Changed:
    """Gives a memory another path."""
    with Writer(store, actor=actor) as writer:
        changed = changed_of(dst, writer.move(src, dst, session_id=session_id))
    return _told_of_sidecar(changed, store, src)


def delete(store: str, path: str, mode: Mode, reason: str, *, actor: str, session_id: str | None = None) -> Changed:
    """Deletes a memory."""
    with Writer(store, actor=actor) as writer:
        changed = changed_of(path, writer.delete(path, mode=mode, reason=reason, session_id=session_id))
    return _told_of_sidecar(changed, store, path)


def _told_of_sidecar(changed: Changed, store: str, path: str) -> Changed:
    left = sidecar.left_behind(store, path)
    return changed if left is None else changed._replace(warnings=(*changed.warnings, left))


def changed_of(path: str, receipt: Receipt) -> Changed:
    """Returns a receipt as the surfaces show it."""
    return Changed(
        path=path,
        seq=receipt.seq,
        chain=receipt.chain,
        body_hash=receipt.sha256,
        adopted=receipt.adopted,
        erased=receipt.erased,
        warnings=tuple(receipt.warnings),
    )
