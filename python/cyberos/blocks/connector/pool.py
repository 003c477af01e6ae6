"""Connections that wait for the next transaction."""

import os
from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

C = TypeVar("C")

_KEPT: Final = 8


class Pool(Generic[C]):
    """Hands out connections, one to each that asks, and keeps some of those that come back."""

    def __init__(self, connect: Callable[[], C], close: Callable[[C], None]) -> None:
        self._connect, self._close = connect, close
        self._lock = Lock()
        self._waiting: list[C] = []
        self._process = os.getpid()

    def take(self) -> C:
        """Returns a connection for the caller alone."""
        with self._lock:
            if self._process != os.getpid():  # those of a parent process are not ours to use or close
                self._waiting, self._process = [], os.getpid()
            if self._waiting:
                return self._waiting.pop()
        return self._connect()

    def give(self, connection: C) -> None:
        """Takes back a connection that has no transaction open."""
        with self._lock:
            if self._process == os.getpid() and len(self._waiting) < _KEPT:
                self._waiting.append(connection)
                return
        self._close(connection)

    def empty(self) -> None:
        """Closes those that wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for connection in waiting:
            self._close(connection)
