"""Making a store of an archive that anybody may have made.

Only what an export writes is taken: plain, uncompressed, unencrypted files that lie one behind the other and fill the
archive, under names that a store has, no two of them alike on any file system. So nothing can be larger than the
archive is, or be in two places. What comes out is verified before it is called a store.
"""

import hashlib
import os
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any, Final, NamedTuple, NoReturn

from cyberos import durable, layout
from cyberos.core import paths, repair, sidecar
from cyberos.core.bodies import Bodies
from cyberos.core.reader import AuditChainReader
from cyberos.errors import (
    AlreadyExists,
    ArchiveRefused,
    CorruptArchive,
    CorruptLog,
    IoFailure,
    LogRewritten,
    PathRefused,
)
from cyberos.exchange import archive

_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_END: Final = struct.Struct("<22x")
_UTF8: Final = 0x800
_LARGEST_SMALL_FILE: Final = 1 << 20
_PIECE: Final = 1 << 20
_PATIENCE_S: Final = 10.0
_SINGLE: Final = (archive.ABOUT, layout.MANIFEST, layout.PROTOCOL, layout.ACTIVE_SEGMENT, archive.PACK)

Progress = Callable[[int, int | None], None]


class Unpacked(NamedTuple):
    """What an archive held. `root` is the Merkle root over its rows."""

    rows: int
    chain: str | None
    root: str | None
    bodies: int
    memories: int
    checkpoints: int


def unpack(file: str, folder: str, progress: Progress) -> Unpacked:
    """Makes a store in `folder`, which must be empty or new, all or nothing.

    Raises `ArchiveRefused` or `CorruptArchive`.
    """
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise AlreadyExists(f"{folder} is not empty", path=folder, hint="choose a new folder")
    temporary = durable.beside(folder.rstrip("/"), f".tmp-{os.getpid()}")
    try:
        with open(file, "rb") as handle:
            members = _Checked(file, handle)
            os.makedirs(temporary, mode=0o700)
            try:
                digests = members.extract(temporary, progress)
                unpacked = _verified(file, temporary, digests)
                os.sync()
                os.rename(temporary, folder)
                durable.sync_folder(os.path.dirname(folder))
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        where = error.filename or file
        raise IoFailure.of(f"cannot import {file}:", str(where), error) from error
    return unpacked


class _Checked:
    """The members of an archive, once its form has been found to be that of an export."""

    def __init__(self, file: str, handle: IO[bytes]) -> None:
        self._file = file
        try:
            self._zip = zipfile.ZipFile(handle)
            members = self._zip.infolist()
            self._check_places(handle, members)
        except (zipfile.BadZipFile, struct.error, NotImplementedError, ValueError, OverflowError) as error:
            self._refuse(f"it is no zip that can be read: {error}")
        except RecursionError:
            self._refuse("it is no zip that can be read")
        seen: dict[str, str] = {}
        for info in members:
            self._check_member(info)
            if seen.setdefault(paths.fold(info.filename), info.filename) != info.filename:
                self._refuse(f"{info.filename!r} and {seen[paths.fold(info.filename)]!r} would be one file")
        self._check_names(members, seen)

    def extract(self, folder: str, progress: Progress) -> dict[str, str]:
        """Writes the members below a folder; returns the SHA-256 of each."""
        digests = {}
        done, total = 0, sum(info.file_size for info in self._zip.infolist())
        for info in self._zip.infolist():
            target = os.path.join(folder, info.filename)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            digest = hashlib.sha256()
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as handle:
                for piece in self._content(info):
                    digest.update(piece)
                    handle.write(piece)
                    done += len(piece)
                    progress(done, total)
                if info.filename in _SINGLE:
                    handle.flush()
                    os.fsync(handle.fileno())
            digests[info.filename] = digest.hexdigest()
        return digests

    def _content(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        try:
            with self._zip.open(info) as source:
                while piece := source.read(_PIECE):
                    yield piece
        except (zipfile.BadZipFile, EOFError, NotImplementedError, UnicodeDecodeError) as error:
            what = f"{self._file} is damaged: {error}"
            raise CorruptArchive(what, archive=self._file, member=info.filename) from error

    def _refuse(self, why: str) -> NoReturn:
        raise ArchiveRefused(
            f"{self._file} is not an export: {why}",
            archive=self._file,
            hint="take the file that `cyberos export` wrote",
        )

    def _check_places(self, handle: IO[bytes], members: list[zipfile.ZipInfo]) -> None:
        """Each member begins where the one before ends, the first at the start, and the directory behind the last."""
        if not members or self._zip.comment:
            self._refuse("it is empty, or has a comment")
        end = 0
        for info in sorted(members, key=lambda info: info.header_offset):
            if info.header_offset != end:
                self._refuse("its members overlap, or something lies between them")
            handle.seek(end)
            magic, name, extra = _LOCAL_HEADER.unpack(handle.read(_LOCAL_HEADER.size))
            if magic != b"PK\3\4":
                self._refuse("a member has no header")
            end += _LOCAL_HEADER.size + name + extra + info.compress_size
        handle.seek(-_END.size, os.SEEK_END)
        if end != self._zip.start_dir or handle.read(4) != b"PK\5\6":
            self._refuse("something lies behind its last member, or behind its end")

    def _check_member(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            self._refuse(f"{name!r} is compressed")
        if info.flag_bits & ~_UTF8:
            self._refuse(f"{name!r} is encrypted, or of a kind that no export has")
        mode = info.external_attr >> 16
        if info.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            self._refuse(f"{name!r} is a link, a folder or a device")
        if info.orig_filename != name:
            self._refuse(f"{info.orig_filename!r} is no name of a file")
        if name not in _SINGLE and not _is_checkpoint(name) and not _lies_with_memories(name):
            self._refuse(f"a store has no file {name!r}")
        if not name.endswith((".binlog", ".pack")) and info.file_size > 16 * _LARGEST_SMALL_FILE:
            self._refuse(f"{name!r} is larger than such a file can be")

    def _check_names(self, members: list[zipfile.ZipInfo], seen: dict[str, str]) -> None:
        if len(seen) != len(members):
            self._refuse("a name is there twice")
        spellings: dict[str, str] = {}
        for name in seen.values():
            folder = name.rpartition("/")[0]
            while folder:
                if paths.fold(folder) in seen or spellings.setdefault(paths.fold(folder), folder) != folder:
                    self._refuse(f"the folder {folder!r} has the name of something else")
                folder = folder.rpartition("/")[0]
        for name in (archive.ABOUT, layout.MANIFEST, layout.ACTIVE_SEGMENT):
            if name not in seen.values():
                self._refuse(f"{name} is not in it")


def _is_checkpoint(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    return folder == layout.CHECKPOINTS and file.replace("-", "").replace(".", "").replace("_", "").isalnum()


def _lies_with_memories(name: str) -> bool:
    try:
        paths.check_lookup(name)
        if name.rpartition("/")[2] != layout.ACL_FILE:
            paths.check_taken_away(name)
    except PathRefused:
        return False
    root, _, rest = name.partition("/")
    return root in layout.MEMORY_ROOTS and bool(rest)


def _verified(file: str, store: str, digests: dict[str, str]) -> Unpacked:
    """Completes what was extracted to a store and checks it; returns what it holds."""

    def wrong(why: str, member: str) -> CorruptArchive:
        return CorruptArchive(f"{file} does not verify: {why}", archive=file, member=member)

    about = _about(file, store)
    try:
        last_seq = repair.rebuild_tip(store, patience=_PATIENCE_S)
        repair.index_bodies(store, patience=_PATIENCE_S)  # opening a writer looks for every version
        repair.rebuild(store, patience=_PATIENCE_S)
        reader = AuditChainReader(store)
        report = reader.native.verify(None, deep=True)
    except CorruptLog as error:
        raise wrong(error.message, layout.ACTIVE_SEGMENT) from error
    if report.findings:
        found = report.findings[0]
        raise wrong(found.what, found.file)
    if (last_seq, report.chain) != (about.get("last_seq"), about.get("chain")):
        raise wrong(f"it ends with row {last_seq}, not with the one that {archive.ABOUT} names", layout.ACTIVE_SEGMENT)
    for name in (layout.ACTIVE_SEGMENT, archive.PACK):
        # What a writer would take for the remains of a crash and set aside is damage here.
        if name in digests and _sha256(os.path.join(store, name)) != digests[name]:
            raise wrong(f"{name} is not whole", name)
    living = {memory.path: memory.content_sha256 for memory in reader.native.memories_at()[0]}
    contents = Bodies(reader)
    for path, sha256 in living.items():
        if digests.get(path, sha256) != sha256:
            raise wrong(f"{path} is not what the log says", path)
        if path not in digests and isinstance(contents.get(sha256, path), bytes):
            raise wrong(f"{path} is missing", path)
    beside = [name for name in digests if _lies_with_memories(name) and name not in living]
    for name in beside:
        if not paths.is_acl(name) and not (sidecar.is_sidecar(name) and sidecar.memory_of(name) in living):
            raise wrong(f"the log knows no memory {name}", name)
    checkpoints = sum(_is_checkpoint(name) for name in digests)
    if checkpoints:
        _check_heads(reader, wrong)
    os.unlink(os.path.join(store, archive.ABOUT))
    memories = sum(path in digests for path in living)
    return Unpacked(report.rows, report.chain, report.root, report.bodies or 0, memories, checkpoints)


def _check_heads(reader: AuditChainReader, wrong: Callable[[str, str], CorruptArchive]) -> None:
    """Holds the log against the signed heads that came with it; who signed them is for `verify --against` to say."""
    from cyberos.core import checkpoints as heads

    for head in heads.stored(reader.store_path):
        try:
            heads.require(reader, head)
        except LogRewritten as error:
            raise wrong(error.message, layout.CHECKPOINTS) from error


def _sha256(file: str) -> str:
    with open(file, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _about(file: str, store: str) -> dict[str, Any]:
    with open(os.path.join(store, archive.ABOUT), "rb") as handle:
        about = archive.about(handle.read(_LARGEST_SMALL_FILE))
    if about is None or about.get("format") != archive.FORMAT:
        raise ArchiveRefused(
            f"{file} is an export of a form that this version does not know",
            archive=file,
            member=archive.ABOUT,
            hint="import it with a newer version",
        )
    return about
