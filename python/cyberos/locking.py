"""Locks between processes, and between threads: `flock` on a file that is never deleted."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from cyberos.errors import CyberosError, IoFailure

# What the operating system says of a file that may not be written.
READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_POLL_S: Final = 0.01


@contextmanager
def locked(file: str, patience: float, busy: Callable[[], CyberosError]) -> Iterator[None]:
    """Keeps others out while the context is open; raises what `busy` returns after so many seconds, or `IoFailure`."""
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise IoFailure.of("cannot open", file, error) from error
    try:
        _wait(handle, patience, busy)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, patience: float, busy: Callable[[], CyberosError]) -> None:
    import fcntl

    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise busy() from None
            time.sleep(_POLL_S)
        else:
            return
