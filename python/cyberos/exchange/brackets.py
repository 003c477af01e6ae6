"""How an import of a repository is told in the log, and how far it is.

An import writes a row `import.start`, then a row for each change, then `import.end`. Each of them names the import:
what is imported, and whereto. So the log alone says which commits are in, also where an import was interrupted. The
first and the last are about the folder that is imported into: it is their path.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from cyberos.core.reader import AuditChainReader

START: Final = "import.start"
END: Final = "import.end"
# The key in the `extra` of a changed memory's row that says where the change is from.
ORIGIN: Final = "imported"
_ROWS_AT_ONCE: Final = 1_024


class Position(NamedTuple):
    """How far an import is.

    `last` is the last commit that is in, `None` before the first. Of an interrupted import some changes of one more
    commit, `partial`, may be in: `done`, each with the file that it is of, written from row `partial_from` on. `open`
    is whether it was interrupted.
    """

    last: str | None = None
    partial: str | None = None
    done: Mapping[tuple[str, str, str | None], str] = {}
    partial_from: int | None = None
    open: bool = False


def import_id(root: str, into: str, glob: str) -> str:
    """Returns the name of the import of a history that begins with the commit `root`."""
    return hashlib.sha256(json.dumps(["git", root, into, glob]).encode()).hexdigest()[:16]


def position(reader: AuditChainReader, into: str, name: str) -> Position:
    """Returns how far the import of this name into a folder is."""
    # The two rows are about the folder, so they are found as a memory's are, however long the log is.
    entries, _ = reader.native.history(into, follow_moves=False)
    marks = ((entry.seq, entry.kind, entry.extra) for entry in entries if entry.kind in (START, END))
    seq, kind, extra = next((mark for mark in marks if mark[2].get("import") == name), (0, "", {}))
    if not seq:
        return Position()
    if kind == END:
        return Position(last=extra["commit"])
    # Interrupted: the commits before the last one that has rows are whole.
    before: str | None = extra["after"]
    current: str | None = None
    done: dict[tuple[str, str, str | None], str] = {}
    begin = None
    last = reader.last_seq()
    for first in range(seq + 1, last + 1, _ROWS_AT_ONCE):
        rows, _ = reader.native.rows(first, min(first + _ROWS_AT_ONCE - 1, last))
        for row in rows:
            origin = row["extra"].get(ORIGIN)
            if not isinstance(origin, dict) or origin.get("import") != name:
                continue
            if origin["commit"] != current:
                before, current, done, begin = current or before, origin["commit"], {}, row["seq"]
            done[change_key(row["op"], row["path"], row["extra"].get("to"))] = origin["path"]
    return Position(before, current, done, begin, open=True)


def change_key(kind: str, path: str, to: str | None) -> tuple[str, str, str | None]:
    """Returns what tells the changes of one commit apart."""
    return kind, path, to
