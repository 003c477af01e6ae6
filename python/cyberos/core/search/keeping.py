"""What a writer does about the search index: it lets a purge reach it, and brings it up now and then.

Nothing heavy is imported here: most writers have nothing to do.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

from cyberos import layout, locking
from cyberos.errors import CyberosError, IoFailure, StoreLocked

# Counted up when the index has to be made anew: its tables, what is in them, or how texts are folded.
FORMAT: Final = 1
APPLICATION_ID: Final = 0x43530000 + FORMAT
# Rows that may be missing before a writer brings the index up, and what it leaves to whoever searches next.
_LAG: Final = 512
_MOST: Final = 4_096
_SUFFIXES: Final = ("", "-journal", ".tmp", ".tmp-journal")


def locked(store: str | os.PathLike[str], patience: float) -> AbstractContextManager[None]:
    """Keeps other processes and threads from writing the index; raises `StoreLocked` or `IoFailure`."""
    return locking.locked(
        os.path.join(store, layout.SEARCH_LOCK),
        patience,
        lambda: StoreLocked(
            "another process is making the search index", store=os.fspath(store), hint="try again in a moment"
        ),
    )


def drop(store: str | os.PathLike[str]) -> None:
    """Removes the index and whatever of it an interrupted writer left; hold the lock. Raises `IoFailure`."""
    for suffix in _SUFFIXES:
        file = os.path.join(store, layout.SEARCH) + suffix
        try:
            os.unlink(file)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise IoFailure.of("cannot remove", file, error) from error


@contextmanager
def forgetting(store: str | os.PathLike[str], patience: float) -> Iterator[None]:
    """Removes the index, and keeps others from making it again while a purge is carried out in the context.

    It goes first: a crash in between then leaves no index, which is nothing to be mended, and no purged text.
    """
    with locked(store, patience):
        drop(store)
        yield


def indexed(store: str | os.PathLike[str]) -> int | None:
    """Returns the row that the index goes up to, by its header alone; `None` where there is none of this format."""
    try:
        with open(os.path.join(store, layout.SEARCH), "rb") as handle:
            header = handle.read(100)
    except OSError:
        return None
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        return None
    return int.from_bytes(header[60:64], "big")


def after_writing(store: str | os.PathLike[str], last_seq: int) -> None:
    """Brings an index up that is behind by so many rows that a search would notice, and by no more than is quick.

    What cannot be done is left to whoever searches next.
    """
    known = indexed(store)
    if known is None or not _LAG <= last_seq - known <= _MOST:
        return
    from cyberos.core.search import upkeep

    with suppress(CyberosError):
        upkeep.bring_up(store)
