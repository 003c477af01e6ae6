"""A file's lock, for one writer at a time among threads and processes: a queue, unlike asking again and again."""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cyberos.errors import BlocksBusy, IoFailure, StoreReadOnly
from cyberos.locking import READ_ONLY


@contextmanager
def held(file: str, patience: float, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock; calls `waiting` where another one does, and raises `BlocksBusy` after `patience` seconds."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in READ_ONLY:
            raise StoreReadOnly(
                f"block memory cannot be changed: cannot open {file}: {error.strerror}",
                store=file.removesuffix(".lock"),
                hint="reading it works; to change it, its files must be yours and their disk writable",
            ) from error
        raise IoFailure.of("cannot open", file, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting()
        handle = _Waiter(handle).wait(patience)
    try:
        yield
    finally:
        os.close(handle)


class _Waiter(threading.Thread):
    """Waits in the queue. One that nobody waits for any more gives the lock back when it gets it."""

    def __init__(self, handle: int) -> None:
        super().__init__(daemon=True)
        self._handle = handle
        self._deciding = threading.Lock()
        self._got = threading.Event()
        self._given_up = False
        self.start()

    def run(self) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        with self._deciding:
            self._got.set()
            if self._given_up:
                os.close(self._handle)

    def wait(self, patience: float) -> int:
        """Returns the handle that has the lock."""
        if not self._got.wait(patience):
            with self._deciding:
                if not self._got.is_set():
                    self._given_up = True
                    raise BlocksBusy(f"others have been changing the project for {patience:g} s", hint="try again")
        return self._handle
