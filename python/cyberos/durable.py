"""Small files, written so that they outlive the system going down; a new one is readable by its owner alone."""

import os
import stat
from contextlib import suppress

from cyberos.errors import IoFailure

# Bytes of a file's name, on every file system that a store may be on.
_LONGEST_NAME = 255


def create(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file that must not be there yet; raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(descriptor)


def replace(path: str | os.PathLike[str], content: bytes, *, shared: bool = False) -> None:
    """Gives a file new content, all or nothing, and keeps its mode; raises `IoFailure`.

    With `shared` other processes may be doing the same, since no lock keeps them from it: the last one's content stays.
    """
    file = os.fspath(path)
    temporary = beside(file, f".{os.getpid()}.tmp" if shared else ".tmp")
    try:
        if os.path.lexists(temporary):  # a crash left it
            os.unlink(temporary)
        create(temporary, content)
        if os.path.exists(file):
            os.chmod(temporary, stat.S_IMODE(os.stat(file).st_mode))
        os.replace(temporary, file)
        sync_folder(os.path.dirname(file))
    except OSError as error:
        with suppress(OSError):  # on a full disk it takes the room that others need
            os.unlink(temporary)
        raise IoFailure.of("cannot write", file, error) from error


def erase(path: str | os.PathLike[str]) -> bool:
    """Overwrites a file and removes it; returns whether there was one. Raises `IoFailure`.

    What the disk or the file system keeps of old content, and copies, no program reaches.
    """
    file = os.fspath(path)
    try:
        with open(os.open(file, os.O_WRONLY | os.O_NOFOLLOW), "wb") as handle:
            handle.write(bytes(os.fstat(handle.fileno()).st_size))
            handle.flush()
            os.fsync(handle.fileno())
        os.unlink(file)
        sync_folder(os.path.dirname(file))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise IoFailure.of("cannot remove", file, error) from error
    return True


def beside(file: str, suffix: str) -> str:
    """Returns the name for what is to become a file, beside it: its own with a suffix, as far as there is room."""
    folder, name = os.path.split(file)
    kept = os.fsencode(name)[: _LONGEST_NAME - len(suffix)].decode(errors="ignore")
    return os.path.join(folder, kept + suffix)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Makes the names in a folder durable; raises `OSError`."""
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
