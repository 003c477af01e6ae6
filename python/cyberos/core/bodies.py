"""The bytes of versions: from what the store keeps, else from the working file that holds them."""

import errno
import os
import stat
from typing import Final

from cyberos.core.reader import AuditChainReader
from cyberos.errors import BodyRefused, CorruptLog, CyberosError, IoFailure, PathRefused

# Versions that are kept at hand: two for each entry of a page.
_KEPT: Final = 32
_KEPT_BYTES: Final = 4 << 20
# The longest working file that is read: no memory is longer.
_LONGEST: Final = 16 << 20


class Bodies:
    """The versions of one store, the last few of them kept at hand: neighbours in a history share one.

    Upstream keeps no versions. Where a working file has a version's SHA-256, its bytes are that version.
    """

    def __init__(self, reader: AuditChainReader, path: str | None = None) -> None:
        """`path` is the name that was asked for: what had another name once lies there now."""
        self._reader, self._path = reader, path
        self._kept: dict[str, bytes | str] = {}
        self._size = 0
        # The last working file that was read, by its name, with its SHA-256.
        self._file: tuple[str, str, bytes] | None = None

    def get(self, sha256: str, name: str) -> bytes | str:
        """Returns the bytes of a version called `name`, or why there are none: `purged`, `damaged`, `unavailable`."""
        found = self._kept.get(sha256)
        if found is None:
            found = self._read(sha256, name)
            if self._size > _KEPT_BYTES or len(self._kept) > _KEPT:
                self._kept.clear()
                self._size = 0
            self._kept[sha256] = found
            self._size += len(found)
        return found

    def _read(self, sha256: str, name: str) -> bytes | str:
        if not sha256:
            return "unavailable"
        why = "unavailable"
        try:
            body, purged = self._reader.native.body(sha256)
        except CorruptLog:  # one version less is no reason to show no history
            body, purged, why = None, False, "damaged"
        if body is not None:
            return body
        if purged:
            return "purged"
        for path in dict.fromkeys((self._path or name, name)):
            body = self._in_working_file(path, sha256)
            if body is not None:
                return body
        return why

    def _in_working_file(self, path: str, sha256: str) -> bytes | None:
        if self._file is None or self._file[0] != path:
            try:
                body = working_file(self._reader.store_path, path)
            except CyberosError:  # whatever lies there is not the version
                body = None
            self._file = (path, "", b"") if body is None else (path, sha256_of(body), body)
        _, actual, body = self._file
        return body if actual == sha256 else None


def working_file(store_path: str | os.PathLike[str], path: str) -> bytes | None:
    """Returns the bytes of a memory's working file; `None` where there is no plain file. Follows no symbolic link."""
    folder = os.fspath(store_path)
    *parents, name = path.split("/")
    try:
        for parent in parents:
            folder = os.path.join(folder, parent)
            if stat.S_ISLNK(os.lstat(folder).st_mode):
                raise PathRefused(f"cannot read {path}: {folder} is a symbolic link", path=path)
        file = os.path.join(folder, name)
        mode = os.lstat(file).st_mode
        if stat.S_ISLNK(mode):
            raise PathRefused(f"cannot read {path}: it is a symbolic link", path=path)
        if not stat.S_ISREG(mode):
            return None
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            body = handle.read(_LONGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error
    if len(body) > _LONGEST:
        raise BodyRefused(f"the file of {path} is longer than {_LONGEST} bytes: no memory is", path=path)
    return body


def sha256_of(body: bytes) -> str:
    """Returns the SHA-256 of bytes in hexadecimal."""
    import hashlib  # only where a working file is read

    return hashlib.sha256(body).hexdigest()
