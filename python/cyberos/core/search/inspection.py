"""Looking at the search index as `cyberos.doctor` does: whether it is what the log makes of it."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from cyberos import layout
from cyberos.core import paths
from cyberos.core.reader import AuditChainReader
from cyberos.core.search import keeping

Problem = Literal["unusable", "foreign", "purged", "wrong"]


def inspect(
    store: str | os.PathLike[str], memories: Mapping[str, str], purges: Sequence[int], last: int
) -> Problem | None:
    """Returns what is wrong with a store's index; `None` where it is as it must be, behind, or not there.

    `memories` has the SHA-256 of each memory after row `last`, and `purges` the rows that purge. Changes nothing.
    """
    file = os.path.join(store, layout.SEARCH)
    if not os.path.exists(file):
        return None
    import apsw

    from cyberos.core.search import upkeep
    from cyberos.core.search.database import Database

    copy = None
    try:
        database = Database.open(file)
        try:
            mark = database.mark()
            copy = database.copy()
        finally:
            database.close()
        if any(seq > mark.seq for seq in purges):
            return "purged"
        reader = AuditChainReader(store)
        if not upkeep.is_mark_of(reader, mark):
            return "foreign"
        if not copy.is_whole():
            return "unusable"
        if mark.seq > last:  # rows were written since the log was looked at
            return None
        upkeep.take_in(copy, reader, last)
        expected = {path: sha for path, sha in memories.items() if not paths.is_acl(path)}
        return None if copy.memories() == expected else "wrong"
    except upkeep.MadeAnewError:
        return None
    except apsw.Error:
        return "unusable"
    finally:
        if copy is not None:
            copy.close()


def remove(store: str | os.PathLike[str], patience: float) -> None:
    """Removes the index; raises `StoreLocked` or `IoFailure`."""
    with keeping.locked(store, patience):
        keeping.drop(store)
