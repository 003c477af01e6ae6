"""The archive that a store is exported to: a zip whose bytes say what is in it, and nothing else.

Members, in this order: `export.json`, `manifest.json`, `AGENTS.md`, `audit/current.binlog` (all rows, as one segment),
`audit/objects/001.pack` (each version once, uncompressed; not where it is exported without bodies), what lies in
`audit/checkpoints/` and covers no later row, the access lists, and the working files as of the last row, before them
the sidecars where that is now. Nothing is compressed, every time
is that of 1980, every file is its owner's: the same rows, signed heads and files beside memories give the same bytes on
every run and machine. There are no keys, no transcripts, and nothing that can be made anew.
"""

import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, Final, NamedTuple

from cyberos import durable, layout
from cyberos.core import sidecar
from cyberos.core.bodies import Bodies
from cyberos.core.outgoing import Outgoing
from cyberos.core.reader import AuditChainReader
from cyberos.errors import AlreadyExists, IoFailure

FORMAT: Final = 1
ABOUT: Final = "export.json"
PACK: Final = f"{layout.OBJECTS}/001.pack"

Progress = Callable[[int, int | None], None]


class Packed(NamedTuple):
    """What is in an archive. `missing` versions are purged or were never kept; `absent` memories have no content."""

    rows: int
    chain: str | None
    versions: int
    missing: int
    memories: int
    absent: tuple[str, ...]
    checkpoints: int
    bytes: int


def write(store: str, file: str, last_seq: int, *, bodies: bool, progress: Progress) -> Packed:
    """Writes an archive of the rows up to `last_seq`, all or nothing; raises `AlreadyExists`."""
    check_new(file)
    temporary = durable.beside(file, f".tmp-{os.getpid()}")
    try:
        with open(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as handle:
            packed = _fill(handle, store, last_seq, bodies=bodies, progress=progress)
            handle.flush()
            os.fsync(handle.fileno())
        os.link(temporary, file)  # unlike a rename it replaces nothing
        durable.sync_folder(os.path.dirname(file))
    except FileExistsError as error:
        raise AlreadyExists(f"{file} is there already", path=file, hint="remove it, or choose another name") from error
    except OSError as error:
        raise IoFailure.of("cannot write", file, error) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    return packed


def check_new(file: str) -> None:
    """Raises `AlreadyExists` where the file is there."""
    if os.path.lexists(file):
        raise AlreadyExists(f"{file} is there already", path=file, hint="remove it, or choose another name")


def member(name: str) -> zipfile.ZipInfo:
    """Returns the description of a member: nothing of the machine is in it."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    return info


def _fill(handle: IO[bytes], store: str, last_seq: int, *, bodies: bool, progress: Progress) -> Packed:
    reader = AuditChainReader(store)
    chain = reader.row(last_seq)["chain"] if last_seq else None
    outgoing = Outgoing(store, last_seq)
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        about = {"format": FORMAT, "last_seq": last_seq, "chain": chain, "bodies": bodies}
        _add(archive, ABOUT, [json.dumps(about, indent=2).encode() + b"\n"])
        for name in (layout.MANIFEST, layout.PROTOCOL):
            content = _small(os.path.join(store, name))
            if content is not None:
                _add(archive, name, [content])
        _add(archive, layout.ACTIVE_SEGMENT, _told(outgoing.log(), handle, progress))
        memories = outgoing.memories()
        if bodies:
            _add(archive, PACK, _told(outgoing.bodies(), handle, progress))
        checkpoints = list(_checkpoints(store, last_seq))
        for name, content in checkpoints:
            _add(archive, name, [content])
        for name, content in _beside(store, {memory.path for memory in memories}, now=last_seq == reader.last_seq()):
            _add(archive, name, [content])
        elsewhere = Bodies(reader)
        absent = []
        for memory, content in zip(memories, outgoing.contents(memories), strict=True):
            body = elsewhere.get(memory.content_sha256, memory.path) if content is None else content
            if isinstance(body, str):
                absent.append(memory.path)
                continue
            archive.writestr(member(memory.path), body)
            progress(handle.tell(), None)
    written, missing = outgoing.versions()
    kept = len(memories) - len(absent)
    return Packed(last_seq, chain, written, missing, kept, tuple(absent), len(checkpoints), handle.tell())


def _add(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes]) -> None:
    with archive.open(member(name), "w", force_zip64=True) as target:
        for piece in pieces:
            target.write(piece)


def _told(pieces: Iterable[bytes], handle: IO[bytes], progress: Progress) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        progress(handle.tell(), None)


def _checkpoints(store: str, last_seq: int) -> Iterator[tuple[str, bytes]]:
    """Yields the signed heads that are kept with the log and cover no later row: their second line says how many."""
    folder = os.path.join(store, layout.CHECKPOINTS)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    for name in names:
        content = _small(os.path.join(folder, name))
        size = content.split(b"\n", 2)[1:2] if content else []
        if content and size and size[0].isdigit() and int(size[0]) <= last_seq:
            yield f"{layout.CHECKPOINTS}/{name}", content


def _beside(store: str, memories: set[str], *, now: bool) -> Iterator[tuple[str, bytes]]:
    """Yields what lies beside memories and is in no log: access lists, and with `now` the sidecars of memories."""
    for top in layout.MEMORY_ROOTS:
        for folder, folders, names in os.walk(os.path.join(store, top)):
            folders.sort()
            where = os.path.relpath(folder, store)
            for name in sorted(names):
                path = f"{where}/{name}"
                wanted = name == layout.ACL_FILE or (
                    now and sidecar.is_sidecar(path) and sidecar.memory_of(path) in memories
                )
                if wanted and not os.path.islink(os.path.join(folder, name)):
                    content = _small(os.path.join(folder, name))
                    if content is not None:
                        yield path, content


def _small(file: str) -> bytes | None:
    try:
        with open(file, "rb") as handle:
            return handle.read()
    except (FileNotFoundError, IsADirectoryError):
        return None


def about(content: bytes) -> dict[str, Any] | None:
    """Returns what `export.json` says; `None` where it is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
