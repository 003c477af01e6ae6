"""Files that only their owner may read: read so that what others could have read or changed is refused."""

import os
import stat
from typing import Final

from cyberos.errors import IoFailure, KeyRefused, command

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def read(path: str, *, longest: int, instead: str) -> bytes | None:
    """Returns a file's content, or `None` where there is none; raises `KeyRefused` or `IoFailure`.

    What is longer than `longest` bytes is cut off. `instead` says in a hint what else to do than to trust the file.
    """
    folder = os.path.dirname(path)
    try:
        held = os.stat(folder)
        if held.st_uid != os.geteuid() or held.st_mode & _OTHERS_WRITE:
            raise _unsafe(folder, "others can change the folder of the keys", command("chmod", "700", folder))
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            held = os.fstat(handle.fileno())
            if not stat.S_ISREG(held.st_mode):
                raise _unsafe(path, "it is no plain file", "keep it in a file of its own")
            if held.st_uid != os.geteuid():
                raise _unsafe(path, "it belongs to another user", f"chown it, or {instead}")
            if held.st_mode & _OTHERS:
                mode = f"{stat.S_IMODE(held.st_mode):04o}"
                hint = f"if nobody else has read it: {command('chmod', '600', path)}; else {instead}"
                raise _unsafe(path, f"other users can open it (mode {mode})", hint)
            return handle.read(min(held.st_size, longest))  # room for all of `longest` is not asked for
    except FileNotFoundError:
        return None
    except OSError as error:
        if os.path.islink(path):
            raise _unsafe(path, "it is a symbolic link", "keep it in a file of its own") from error
        raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error


def _unsafe(path: str, why: str, hint: str) -> KeyRefused:
    return KeyRefused(f"{path} is not safe to use: {why}", key=path, hint=hint)
