"""Open indexes that wait for the next search: what was read of them is read only once."""

import os
from threading import Lock
from typing import Final

from cyberos.core.search.database import Database

_KEPT: Final = 4

_lock: Final = Lock()
_waiting: list[tuple[tuple[int, int, int], str, Database]] = []


def take(file: str) -> Database | None:
    """Returns an open index of the file that lies there now, for the caller alone; `None` where none waits."""
    key = _identity(file)
    with _lock:
        place = next((place for place, (_, name, _) in enumerate(_waiting) if name == file), None)
        if place is None:
            return None
        known, _, database = _waiting.pop(place)
    if known == key:
        return database
    if known[0] == os.getpid():  # one that a parent process opened is not touched
        database.close()
    return None


def give(file: str, database: Database) -> None:
    """Keeps an index for the next search."""
    key = database.identity
    if key is None:
        database.close()
        return
    with _lock:
        _waiting.append(((os.getpid(), *key), file, database))
        gone = _waiting.pop(0) if len(_waiting) > _KEPT else None
    if gone is not None and gone[0][0] == os.getpid():
        gone[2].close()


def _identity(file: str) -> tuple[int, int, int] | None:
    try:
        held = os.stat(file)
    except OSError:
        return None
    return os.getpid(), held.st_dev, held.st_ino
