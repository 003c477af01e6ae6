"""Importing the files of a folder as they are now."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from cyberos import layout
from cyberos.core import sidecar
from cyberos.core.changes import Change, Put
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, IoFailure, PathRefused
from cyberos.exchange import globs
from cyberos.exchange.brackets import ORIGIN
from cyberos.exchange.names import Mapped, Names
from cyberos.exchange.plan import Skipped
from cyberos.exchange.refusals import Refusals, Refused

_ROWS: Final = 4_096
_BYTES: Final = 16 << 20

Progress = Callable[[int, int | None], None]


class Copied(NamedTuple):
    """What an import did, or would do: how many files were looked at, and how many of them are no news."""

    files: int
    puts: int
    unchanged: int
    mapped: tuple[Mapped, ...]
    skipped: tuple[Skipped, ...]
    refused: tuple[Refused, ...]


class _File(NamedTuple):
    source: str
    full: str


def copy(
    store: str, folder: str, *, actor: str, into: str, glob: str, limit: int, writer: Writer | None, progress: Progress
) -> Copied:
    """Puts each file that matches; without a `writer` it only says what it would do. `limit` is in bytes."""
    refusals = Refusals(store, actor)
    files = list(_matching(folder, glob))
    memories, _ = AuditChainReader(store).native.memories_at()
    known = {memory.path: memory.content_sha256 for memory in memories}
    names = Names(store, into, known, adopts=True)
    skipped: list[Skipped] = []
    sidecars: list[Skipped] = []
    puts, waiting, size = 0, list[Change](), 0
    for done, file in enumerate(files):
        progress(done, len(files))
        if sidecar.is_sidecar(file.source):
            skipped.append(Skipped(file.source, None, "it holds fields of another file, which no row could tell of"))
            continue
        content = _read(file.full, limit)
        if isinstance(content, str):
            skipped.append(Skipped(file.source, None, content))
            continue
        try:
            path = names.find(file.source) or names.claim(file.source)
        except PathRefused as error:
            skipped.append(Skipped(file.source, None, error.message))
            continue
        names.living.add(path)
        if (beside := _sidecar_of(file)) is not None:
            sidecars.append(Skipped(beside, None, f"it holds fields of {path}, which no row could tell of"))
        if writer is None:
            refusals.ask(path)
            puts += known.get(path) != hashlib.sha256(content).hexdigest()
            continue
        waiting.append(Put(path, content, extra={ORIGIN: {"from": "dir", "path": file.source}}))
        size += len(content)
        if len(waiting) >= _ROWS or size >= _BYTES:
            puts += _flush(writer, waiting)
            waiting, size = [], 0
    if writer is not None and waiting:
        puts += _flush(writer, waiting)
    unchanged = len(files) - len(skipped) - puts
    matched = {file.source for file in files}
    skipped += [item for item in sidecars if item.source not in matched]
    return Copied(len(files), puts, unchanged, tuple(names.mapped.values()), tuple(skipped), refusals.refused())


def _flush(writer: Writer, changes: list[Change]) -> int:
    return sum(receipt.seq is not None for receipt in writer.apply(changes, session_id=""))


def _matching(folder: str, glob: str) -> Iterator[_File]:
    """Yields the files that match, in order of their paths. Follows no links and enters no store and no `.git`."""
    if not os.path.isdir(folder):
        raise BadArgument(f"{folder} is not a folder", argument="FOLDER")
    pattern = globs.compiled(glob)
    pending = [("", os.fspath(folder))]
    found = []
    while pending:
        prefix, where = pending.pop()
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    source = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != ".git" and not layout.is_store(entry.path):
                            pending.append((f"{source}/", entry.path))
                    elif entry.is_file(follow_symlinks=False) and pattern.fullmatch(source):
                        found.append(_File(source, entry.path))
        except OSError as error:
            raise IoFailure(f"cannot list {where}: {error.strerror}", file=where, errno=error.errno) from error
    yield from sorted(found)


def _sidecar_of(file: _File) -> str | None:
    """Returns the file that holds fields of another, where there is one."""
    full, source = sidecar.path_of(file.full), sidecar.path_of(file.source)
    return source if full is not None and os.path.lexists(full) else None


def _read(file: str, limit: int) -> bytes | str:
    """Returns a file's content, or why it cannot be a memory's."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            status = os.fstat(handle.fileno())
            if not stat.S_ISREG(status.st_mode):
                return "it is not a plain file"
            content = handle.read(limit + 1)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if len(content) <= limit:
        return content
    return f"it has {max(status.st_size, len(content)):,} bytes; a memory has at most {limit:,}"
