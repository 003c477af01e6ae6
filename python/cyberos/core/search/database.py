"""The search index as tables: SQLite, with FTS5 for the words.

The words of a text are kept and not the text: what a hit shows is read from the store.
"""

import json
import os
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Self

import apsw

from cyberos.core.search import pages, ranking
from cyberos.core.search.documents import Document, facet
from cyberos.core.search.keeping import APPLICATION_ID
from cyberos.core.search.words import Term

_SCHEMA: Final = """
    CREATE TABLE mark(seq INTEGER NOT NULL, chain TEXT NOT NULL);
    CREATE TABLE memory(
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, seq INTEGER NOT NULL,
        ts_ns INTEGER NOT NULL, actor TEXT NOT NULL, kind TEXT, title TEXT, tags TEXT NOT NULL, missing TEXT NOT NULL);
    CREATE INDEX memory_missing ON memory(missing) WHERE missing != '';
    CREATE VIRTUAL TABLE word USING fts5(
        path, title, fields, body, facets, content='', contentless_delete=1, tokenize='ascii');
"""
_BUSY_MS: Final = 5_000
# For making an index of many memories: collected in memory, and merged once.
_HASH_BYTES: Final = 64 << 20
# No leaf of words is longer than fits into a page.
_LEAF_BYTES: Final = 4_000
_MAX_MARK: Final = 2**31 - 1


class Mark(NamedTuple):
    """How far an index goes: a row and its chain value; 0 and nothing for an empty one."""

    seq: int
    chain: str


class Found(NamedTuple):
    """A memory that matches, and how well: the more the better."""

    path: str
    sha256: str
    seq: int
    ts_ns: int
    actor: str
    kind: str | None
    title: str | None
    tags: tuple[str, ...]
    score: float


class Database:
    """An index, open. What goes wrong is an `apsw.Error`, which says that it is of no use."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection: Final = connection
        # The greatest id that a memory has or had; none is given twice, since they say what changed last.
        self._last_id: int | None = None
        # The device and inode of a file that is only read.
        self.identity: tuple[int, int] | None = None

    @classmethod
    def open(cls, file: str, *, writes: bool = False) -> Self:
        """Opens a file that is there."""
        try:
            held = os.stat(file)
        except OSError as error:
            raise apsw.CantOpenError(f"cannot open {file}: {error.strerror}") from error
        flags = apsw.SQLITE_OPEN_READWRITE if writes else apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(file, flags=flags, vfs=pages.NAME)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            connection.execute("PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY")
            _check_version(connection)
        except BaseException:
            connection.close()
            raise
        opened = cls(connection)
        opened.identity = None if writes else (held.st_dev, held.st_ino)
        return opened

    @classmethod
    def create(cls, file: str | None = None) -> Self:
        """Makes an empty one, in memory where no file is named. Only what `sync` follows is durable."""
        if file is None:
            connection = apsw.Connection(":memory:")
        else:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            connection = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READWRITE, vfs=pages.NAME)
            connection.reserve_bytes(reserve=pages.RESERVED)
        connection.execute(f"PRAGMA page_size={pages.PAGE}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
        connection.execute(f"PRAGMA cache_size=-65536; PRAGMA application_id={APPLICATION_ID}; {_SCHEMA}")
        made = cls(connection)
        made._tune("hashsize", _HASH_BYTES)
        made._tune("automerge", 0)
        made._tune("pgsz", _LEAF_BYTES)
        return made

    def copy(self) -> Self:
        """Returns a copy in memory."""
        connection = apsw.Connection(":memory:")
        with connection.backup("main", self.connection, "main") as backup:
            backup.step()
        return type(self)(connection)

    def close(self) -> None:
        """Closes it."""
        self.connection.close()

    def mark(self) -> Mark:
        """Returns how far the index goes."""
        row = self.connection.execute("SELECT seq, chain FROM mark").get
        return Mark(*row) if isinstance(row, tuple) else Mark(0, "")

    def set_mark(self, mark: Mark) -> None:
        """Says how far the index goes, also in the file's header, where a writer looks."""
        self.connection.execute("DELETE FROM mark")
        self.connection.execute("INSERT INTO mark VALUES(?, ?)", mark)
        self.connection.execute(f"PRAGMA user_version={min(mark.seq, _MAX_MARK)}")

    def finish(self) -> None:
        """Ends the making of an index of many memories: what comes is merged in bit by bit."""
        self.connection.execute("INSERT INTO word(word) VALUES('optimize')")
        self._tune("hashsize", 1 << 20)
        self._tune("automerge", 4)

    def _tune(self, setting: str, value: int) -> None:
        self.connection.execute("INSERT INTO word(word, rank) VALUES(?, ?)", (setting, value))

    def add(self, memory: Document) -> None:
        """Adds a memory whose path is not there."""
        if self._last_id is None:
            last: Any = self.connection.execute("SELECT max(id) FROM memory").get
            self._last_id = last or 0
        self._last_id += 1
        # Single rows by plain statements: for all else SQLite opens a savepoint, and FTS5 then writes what it collects.
        row = (self._last_id, *memory[:7], json.dumps(memory.tags, ensure_ascii=False), memory.missing)
        self.connection.execute("INSERT INTO memory VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.connection.execute(
            "INSERT INTO word(rowid, path, title, fields, body, facets) VALUES(?, ?, ?, ?, ?, ?)",
            (self._last_id, *memory.searched, " ".join(memory.facets())),
        )

    def remove(self, path: str) -> None:
        """Removes a memory, if it is there."""
        found = self.connection.execute("SELECT id FROM memory WHERE path = ?", (path,)).get
        if found is not None:
            self.connection.execute("DELETE FROM memory WHERE id = ?", (found,))
            self.connection.execute("DELETE FROM word WHERE rowid = ?", (found,))

    def version(self, path: str) -> tuple[str, int, str] | None:
        """Returns the SHA-256 and row of a memory's content, and why that is missing; `None` for no such memory."""
        row: Any = self.connection.execute("SELECT sha256, seq, missing FROM memory WHERE path = ?", (path,)).get
        return None if row is None else (str(row[0]), int(row[1]), str(row[2]))

    def memories(self) -> dict[str, str]:
        """Returns all memories: the SHA-256 by the path."""
        return dict(self.connection.execute("SELECT path, sha256 FROM memory"))

    def count_missing(self) -> int:
        """Returns how many memories can be found by their path only, since their content is not there."""
        count: Any = self.connection.execute(
            "SELECT count(*) FROM memory WHERE missing != '' AND missing != 'binary'"
        ).get
        return int(count)

    def is_whole(self) -> bool:
        """Whether SQLite finds the tables, and FTS5 the words, as they must be."""
        self.connection.execute("INSERT INTO word(word) VALUES('integrity-check')")
        extra: Any = self.connection.execute(
            "SELECT count(*) FROM word_docsize WHERE id NOT IN (SELECT id FROM memory)"
        ).get
        return not extra and self.connection.pragma("integrity_check") == "ok"

    def find(
        self,
        terms: Iterable[Term],
        facets: Iterable[tuple[str, str]],
        since_ns: int | None,
        until_ns: int | None,
        limit: int,
    ) -> list[Found]:
        """Returns the memories that have all terms and facets, the best first.

        Ids grow with each change: where more match than are ranked, those are that changed last.
        """
        phrases = [_phrase(term) for term in terms]
        self.connection.register_fts5_function("score", ranking.score(self.connection, phrases))
        match = " AND ".join([*phrases, *(f'"{facet(name, value)}"' for name, value in facets)])
        times = "" if since_ns is None and until_ns is None else "AND m.ts_ns BETWEEN ? AND ?"
        between = (since_ns or 0, _MAX_NS if until_ns is None else until_ns) if times else ()
        # The words come first: the memories are looked up for what they leave.
        query = f"""
            SELECT m.path, m.sha256, m.seq, m.ts_ns, m.actor, m.kind, m.title, m.tags, c.score
            FROM (
                SELECT id, score FROM (
                    SELECT word.rowid AS id, score(word) AS score
                    FROM word {"CROSS JOIN memory AS m ON m.id = word.rowid" if times else ""}
                    WHERE word MATCH ? {times} ORDER BY word.rowid DESC LIMIT ?
                ) ORDER BY score DESC, id DESC LIMIT ?
            ) AS c CROSS JOIN memory AS m ON m.id = c.id
            ORDER BY c.score DESC, m.id DESC
        """  # noqa: S608, made of constants
        rows = self.connection.execute(query, (match, *between, max(limit, ranking.SAMPLE), limit))
        return [_found(row) for row in rows]


_MAX_NS: Final = 2**63 - 1


def _check_version(connection: apsw.Connection) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise apsw.NotADBError("this is an index of another version")


def _phrase(term: Term) -> str:
    """Returns a term as FTS5 reads it; tokens have nothing that it could take for its own signs."""
    return f'"{" ".join(term.tokens)}"' + ("*" if term.prefix else "")


def _found(row: Any) -> Found:
    return Found._make((*row[:-2], tuple(json.loads(row[-2])), row[-1]))
