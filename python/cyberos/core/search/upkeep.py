"""Keeping the search index: made from the log, brought up from where it is, or done without.

The index is right or it is not used. It names the last row that it takes in, with that row's chain value, so that an
index of another log, or of rows that were given up, is recognised; a row that purges beyond it ends it, since a file
that only no longer names what was purged still has it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

import apsw

from cyberos import _native, config, layout
from cyberos.core import paths
from cyberos.core.bodies import Bodies
from cyberos.core.reader import AuditChainReader, describe
from cyberos.core.search import documents, keeping, pool
from cyberos.core.search.database import Database, Mark
from cyberos.durable import sync_folder
from cyberos.errors import CyberosError, IoFailure

Progress = Callable[[int, int], object]

# How long to wait for another process that is making the index, before doing without it.
_PATIENCE_S: Final = 10.0
_BATCH: Final = 1_024
# With so many rows to take in, and more than there are memories, making it anew is quicker.
_MANY: Final = 10_000
_PURGE: Final = "purge"


class Index(NamedTuple):
    """An index that takes in every row, and what its reader should know."""

    database: Database
    warnings: tuple[str, ...] = ()


class MadeAnewError(Exception):
    """The index cannot be brought up."""


def current(reader: AuditChainReader, progress: Progress | None = None) -> Index:
    """Returns an index that takes in every row: the file where it does or can be made to, else one in memory."""
    file = os.path.join(reader.store_path, layout.SEARCH)
    database = pool.take(file)
    if database is None or not _is_current(reader, database):
        database = _opened(reader, file)
    if database is not None and _is_current(reader, database):
        return Index(database)
    try:
        bring_up(reader.store_path, reader, progress)
        database = _opened(reader, file)
        if database is not None:
            return Index(database)
    except (CyberosError, apsw.Error):
        pass
    return _in_memory(reader, file, progress)


def _is_current(reader: AuditChainReader, database: Database) -> bool:
    """Whether an index takes in every row; closes one that does not."""
    try:
        mark = database.mark()
        if mark.seq == reader.last_seq() and is_mark_of(reader, mark):
            return True
    except (apsw.Error, CyberosError):
        pass
    database.close()
    return False


def anew(reader: AuditChainReader, progress: Progress | None = None) -> Index:
    """Returns an index made from the start, in place of a file that turned out to be damaged."""
    with suppress(CyberosError), keeping.locked(reader.store_path, _PATIENCE_S):
        keeping.drop(reader.store_path)
    return current(reader, progress)


def bring_up(
    store: str | os.PathLike[str],
    reader: AuditChainReader | None = None,
    progress: Progress | None = None,
) -> None:
    """Makes the file take in every row. Raises a `CyberosError` or `apsw.Error` where that cannot be."""
    reader = reader or AuditChainReader(store)
    if not config.load(store).allow_network_file_system:
        _native.check_local(store)
    file = os.path.join(store, layout.SEARCH)
    with keeping.locked(store, _PATIENCE_S):
        database = None
        try:
            database = _opened(reader, file, writes=True)
            if database is not None:
                with database.connection:
                    take_in(database, reader, reader.last_seq())
                return
        except (MadeAnewError, apsw.Error):
            pass
        finally:
            if database is not None:
                database.close()
        keeping.drop(store)
        _make_file(reader, file, progress)


def _opened(reader: AuditChainReader, file: str, *, writes: bool = False) -> Database | None:
    """Returns the file's index if it is one of this log as it is now, how far it may go."""
    try:
        database = Database.open(file, writes=writes)
    except apsw.Error:
        return None
    try:
        mark = database.mark()
        is_ours = is_mark_of(reader, mark)
    except (apsw.Error, CyberosError):
        is_ours = False
    if is_ours:
        return database
    database.close()
    return None


def is_mark_of(reader: AuditChainReader, mark: Mark) -> bool:
    """Whether the log has the row that an index goes up to."""
    return mark == _mark(reader, mark.seq)


def _mark(reader: AuditChainReader, seq: int) -> Mark | None:
    if seq == 0:
        return Mark(0, "")
    rows, _ = reader.native.rows(seq, seq)
    return Mark(seq, rows[0]["chain"]) if rows else None


def take_in(database: Database, reader: AuditChainReader, last: int) -> None:
    """Brings an index up to row `last`; raises `MadeAnewError` where that takes making it from the start."""
    first = database.mark().seq + 1
    if first > last:
        return
    if last - first > _MANY and last - first > len(database.memories()):
        raise MadeAnewError
    touched: dict[str, None] = {}
    for start in range(first, last + 1, _BATCH):
        rows, damages = reader.native.rows(start, min(start + _BATCH - 1, last))
        if damages or any(row["op"] == "delete" and row["extra"].get("mode") == _PURGE for row in rows):
            raise MadeAnewError
        touched.update(dict.fromkeys(path for row in rows for path in _named(row)))
    bodies = Bodies(reader)
    gone, new = [], []
    for path in touched:
        version = reader.native.version_at(path, seq=last)
        memory = None
        if version is not None and not paths.is_acl(path):
            memory = documents.read(reader, bodies, version, last)
            if database.version(path) == (memory.sha256, memory.seq, memory.missing):
                continue
            new.append(memory)
        gone.append(path)
    # What is removed comes first: between two additions FTS5 would write what it has collected.
    for path in gone:
        database.remove(path)
    for memory in new:
        database.add(memory)
    database.set_mark(_required(reader, last))


def _named(row: dict[str, Any]) -> Iterator[str]:
    """Yields the paths that a row may have changed, and perhaps others."""
    extra = row["extra"]
    for value in (row["path"], *(extra.get(key) for key in ("to", "dst", "src", "path", "target_path"))):
        if isinstance(value, str) and value:
            yield value


def _required(reader: AuditChainReader, seq: int) -> Mark:
    mark = _mark(reader, seq)
    if mark is None:
        raise MadeAnewError
    return mark


def _make_file(reader: AuditChainReader, file: str, progress: Progress | None) -> None:
    database = Database.create(file + ".tmp")
    try:
        if _fill(database, reader, progress):
            raise IoFailure("the log is damaged: no index is kept of what is whole", file=layout.SEARCH)
        database.finish()
    finally:
        database.close()
    try:
        handle = os.open(file + ".tmp", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(file + ".tmp", file)
        sync_folder(os.path.dirname(file))
    except OSError as error:
        raise IoFailure.of("cannot write", file, error) from error


def _fill(database: Database, reader: AuditChainReader, progress: Progress | None) -> tuple[str, ...]:
    """Fills an empty index with every memory there is; returns what could not be read."""
    last = reader.last_seq()
    if last == 0:
        return ()
    versions, damages = reader.native.memories_at(seq=last)
    bodies = Bodies(reader)
    versions.sort(key=lambda version: version.seq)
    with database.connection:
        for done, version in enumerate(versions):
            if progress is not None and done % _BATCH == 0:
                progress(done, len(versions))
            if not paths.is_acl(version.path):
                database.add(documents.read(reader, bodies, version, last))
        database.set_mark(_mark(reader, last) or Mark(last, ""))
    return tuple(describe(damage) for damage in damages)


def _in_memory(reader: AuditChainReader, file: str, progress: Progress | None) -> Index:
    on_disk = _opened(reader, file)
    if on_disk is not None:
        try:
            copy = on_disk.copy()
            take_in(copy, reader, reader.last_seq())
        except (MadeAnewError, apsw.Error):
            pass
        else:
            return Index(copy)
        finally:
            on_disk.close()
    database = Database.create()
    return Index(database, _fill(database, reader, progress))
