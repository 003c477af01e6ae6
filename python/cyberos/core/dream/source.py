"""A store as a dream consumer reads it."""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from cyberos import _native, clock, layout
from cyberos.core import following
from cyberos.core.dream.snapshots import Snapshot
from cyberos.core.following import START, Cursor, Stretch
from cyberos.core.reader import AuditChainReader, Damage
from cyberos.core.sessions import book, gate, reading
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.reading import Turn
from cyberos.crypto.keystore import Keystore
from cyberos.errors import BadArgument, KeyErased, TranscriptPurged

_LIFE: Final = (book.START, book.END, book.PURGED)
# Rows about writes that did not happen.
_REFUSED: Final = ("memory.acl_denied", "memory.precondition_failed")


class Session(NamedTuple):
    """A session. `seq` is the row that started it, `turns_count` null where only the transcript would say.

    `state` is `active`, `ended`, `purged`, or `unfinished` where recording it whole was interrupted.
    """

    id: str
    seq: int
    state: str
    classification: str
    encrypted: bool
    turns_count: int | None
    started_at: datetime
    ended_at: datetime | None
    purged_at: datetime | None
    actor: str
    correlates_with: str | None


class Sessions(NamedTuple):
    """Sessions that started, ended or were purged, as they are now, and where to go on another time.

    Rows in the `damages` are missing.
    """

    sessions: list[Session]
    cursor: Cursor
    damages: list[Damage]


class Turns(NamedTuple):
    """A session and its turns, read as they are asked for; of one that was purged there are none.

    The `warnings` are complete when all turns are read.
    """

    session: Session
    turns: Iterator[Turn]
    warnings: list[str]


class Touched(NamedTuple):
    """The memories that the rows of a session name, each once, in the order of the rows; under the names they had then.

    `written` were put, moved or deleted; of `used` a row speaks that changes nothing, such as `episode.logged`;
    `refused` were not written because of an access list or a precondition. Rows in the `damages` are missing.
    """

    written: tuple[str, ...]
    used: tuple[str, ...]
    refused: tuple[str, ...]
    damages: list[Damage]


class Source:
    """A store, open for reading. Takes no lock, never writes, and sees what is appended while it is open."""

    def __init__(self, store_path: str | os.PathLike[str], *, keystore: Keystore | None = None) -> None:
        """Opens the store; raises `StoreNotFound`, `UnsupportedStore` or `CorruptLog`.

        The keystore opens turns that are encrypted.
        """
        layout.find_store(store_path, "")
        self.reader: Final = AuditChainReader(store_path)
        self._keystore, self._book = keystore, Book(self.reader)

    def head(self) -> Cursor:
        """Returns the cursor behind the last row."""
        return following.head(self.reader)

    def at(self, moment: datetime) -> Cursor:
        """Returns the cursor behind the last row that is not later."""
        return following.at(self.reader, self.reader.native.last_row(clock.from_datetime(moment)))

    def rows(
        self,
        after: Cursor = START,
        *,
        kinds: Iterable[str] = (),
        filters: Iterable[tuple[str, str]] = (),
        last: int | None = None,
    ) -> Iterator[Stretch]:
        """Yields the rows behind a cursor in batches, see `cyberos.core.following.follow`."""
        return following.follow(self.reader, after, kinds=kinds, filters=filters, last=last)

    def sessions(self, after: Cursor = START) -> Sessions:
        """Returns the sessions that have a row behind a cursor, in the order of those rows; raises as `rows`."""
        begin = cursor = following.place(after)
        damages: list[Damage] = []
        ids: dict[str, None] = {}
        for stretch in self.rows(begin, kinds=_LIFE):
            named = (row.extra.get("session_id") for row in stretch.rows)
            ids |= {session_id: None for session_id in named if isinstance(session_id, str)}
            cursor = stretch.cursor
            damages += stretch.damages
        if begin.seq == 0:  # one look at all is less than one at each
            every = {known.id: known for known in self._book.all()}
            found = map(every.get, ids)
        else:
            found = map(self._book.find, ids)
        return Sessions([self._session(known) for known in found if known is not None], cursor, damages)

    def session(self, session_id: str) -> Session:
        """Returns a session; raises `SessionNotFound`."""
        return self._session(reading.find(self._book, session_id))

    def turns(self, session_id: str, *, decrypt: bool = False, start: int = 0) -> Turns:
        """Returns what was said in a session, from turn `start` on.

        Content that is encrypted has a placeholder without `decrypt`; so has that of a confidential session where there
        is no keystore. Raises `SessionNotFound`, `TranscriptMissing`, and with `decrypt` what opening a key raises.
        """
        known = reading.find(self._book, session_id)
        shown = decrypt or (self._keystore is not None and not reading.needs_decrypt(known))
        try:
            open_up = shown and not known.purged
            cipher = gate.cipher_from(self._keystore, self.reader.store_path, known) if open_up else None
            found = reading.read(self._book, known, cipher, start=start)
        except (TranscriptPurged, KeyErased):  # its purge may have been interrupted before the row that says so
            return Turns(self._session(known)._replace(state="purged"), iter(()), [])
        return Turns(self._session(known), found.turns, found.warnings)

    def touched(self, session_id: str) -> Touched:
        """Returns the memories that rows written in a session name; none for a session that never was."""
        rows, damages = self._book.writes(session_id)
        written: dict[str, None] = {}
        used: dict[str, None] = {}
        refused: dict[str, None] = {}
        for row in rows:
            for path, touch in row.touches():
                if path.partition("/")[0] in layout.MEMORY_ROOTS:
                    kept = written if touch != "annotation" else refused if row.kind in _REFUSED else used
                    kept[path] = None
        return Touched(tuple(written), tuple(used), tuple(refused), damages)

    def snapshot(self, at: Cursor | None = None) -> Snapshot:
        """Returns the memories as they were behind a cursor (`None`: now); reads the log up to there.

        Raises `LogRewritten` or `CorruptLog`, as `rows`.
        """
        cursor = self.head() if at is None else following.place(at)
        following.check(self.reader, cursor)
        return Snapshot(self.reader, cursor)

    def _session(self, known: Known) -> Session:
        ended, purged, file = known.ended, known.purged, known.file(self.reader.store_path)
        return Session(
            id=known.id,
            seq=known.seq,
            state=known.state,
            classification=known.classification,
            encrypted=known.encrypted,
            turns_count=ended.turns_count if ended else _native.count_turns(file),
            started_at=clock.to_datetime(known.started_ns),
            ended_at=_moment(ended and ended.ended_at),
            purged_at=_moment(purged and purged.purged_at),
            actor=known.actor,
            correlates_with=known.correlates_with,
        )


def _moment(text: str | None) -> datetime | None:
    try:
        return clock.to_datetime(clock.parse_time(text)) if text else None
    except BadArgument:  # another program's row
        return None
