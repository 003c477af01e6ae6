"""Looking at all sessions: the facts that `cyberos.doctor` judges. Reading takes no lock and changes nothing."""

import hashlib
import os
import stat
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

from cyberos import _native, layout
from cyberos.core.reader import AuditChainReader
from cyberos.core.sessions import book, desk, schema
from cyberos.core.sessions.book import Book, Known
from cyberos.core.sessions.desk import Lease

_TURNS: Final = 1_024
_BYTES: Final = 1 << 20
_LONGEST_TOMBSTONE: Final = 64 << 10


class Row(NamedTuple):
    """A row that starts, ends or purges a session."""

    seq: int
    kind: str
    session_id: str
    extra: dict[str, Any]


class Transcript(NamedTuple):
    """What a file is. `form` is `open`, `sealed`, `peer_open`, `peer_sealed` (upstream's), `tombstone` or `link`.

    `turns` are those that are whole, `clear` how many of them can be read without a key, `chain` that of the last one,
    `damage` what is wrong with the rest, `torn` how many bytes of an unfinished append lie at the end. `sha256` is that
    of the file, and of upstream's that of its frames, as the row of the end has it; `content` is what a tombstone says.
    `misfit` is how the first turn that is not as the schema says differs from it.
    """

    form: str
    turns: int = 0
    clear: int = 0
    chain: str = ""
    damage: str | None = None
    torn: int = 0
    sha256: str = ""
    content: bytes = b""
    misfit: str | None = None


class Ledger:
    """The sessions of a store, as the log and the files have them."""

    def __init__(self, store: str) -> None:
        self.store: Final = store
        self._reader: Final = AuditChainReader(store)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows about sessions, oldest first; not those of upstream's that are about something else."""
        entries, _ = self._reader.native.history(layout.SESSIONS, follow_moves=False)
        return [
            Row(entry.seq, entry.kind, entry.extra["session_id"], entry.extra)
            for entry in reversed(entries)
            if book.is_transcript(entry)
        ]

    @cached_property
    def sessions(self) -> list[Known]:
        """The sessions that were started, the oldest first."""
        return Book(self._reader).all()[::-1]

    @cached_property
    def active(self) -> Known | None:
        """The session that is active, as the log says."""
        return Book(self._reader).active()

    @cached_property
    def pointer(self) -> str | None:
        """What `.active` says; an empty text where that is no name, and `None` where there is no such file."""
        if not os.path.lexists(os.path.join(self.store, layout.ACTIVE_SESSION)):
            return None
        return desk.active(self.store) or ""

    @cached_property
    def lease(self) -> Lease | None:
        """What `.lease` says."""
        return desk.lease(self.store)

    @cached_property
    def transcripts(self) -> dict[str, Transcript]:
        """What the transcript of each session is, by its id; those without a file are left out."""
        found = {}
        for known in self.sessions:
            if known.id not in found and (transcript := self._examine(known)) is not None:
                found[known.id] = transcript
        return found

    def files(self) -> Iterator[str]:
        """Yields the paths in the store of all files below `sessions/`, in order."""
        for folder, folders, files in os.walk(os.path.join(self.store, layout.SESSIONS)):
            folders.sort()
            for name in sorted(files):
                yield os.path.relpath(os.path.join(folder, name), self.store).replace(os.sep, "/")

    def _examine(self, known: Known) -> Transcript | None:
        file = known.file(self.store)
        if not os.path.lexists(file):
            return None
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return Transcript("link")
        turns = _native.Turns(file, known.id, Book(self._reader).first_chain(known))
        name = "PeerTurnPayload" if turns.form.startswith("peer") else "SessionTurnPayload"
        clear, misfit = 0, None
        while batch := turns.next(_TURNS, _BYTES):
            clear += sum(content is not None for _, _, _, _, content, _, _ in batch)
            misfit = misfit or next(_misfits(known.id, name, batch), None)
        with open(file, "rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
            handle.seek(0)
            content = handle.read(_LONGEST_TOMBSTONE) if turns.form == "tombstone" else b""
        sha256 = turns.frames_sha256() or sha256
        return Transcript(
            turns.form, turns.turns, clear, turns.chain, turns.damage, turns.torn, sha256, content, misfit
        )  # fmt: skip


def _misfits(session_id: str, name: str, batch: list[Any]) -> Iterator[str]:
    """Yields what is wrong with turns; the core has checked their chain and that their keys are the known ones."""
    for turn_seq, _, ts, role, content, sealed, redacted in batch:
        payload = {"session_id": session_id, "turn_seq": turn_seq, "ts": ts, "role": role}
        optional = {"content": content, "content_cipher": sealed, "redactions_applied": redacted}
        payload.update({key: value for key, value in optional.items() if value is not None})
        if (found := schema.misfit(name, payload)) is not None:
            yield f"turn {turn_seq} {found}"
