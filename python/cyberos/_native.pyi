"""The compiled part of cyberos. Only `cyberos.core` and `cyberos.redaction` import it."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final, final

__version__: Final[str]
FORMAT_VERSION: Final[int]  # The newest format of a store that is known
is_debug: Final[bool]

def parse_json(text: bytes) -> Any:
    """Returns the object that JSON in UTF-8 says; `BadArgument` where it is not JSON, or repeats a key."""

def canonical_json(value: Any) -> bytes:
    """Returns the canonical JSON of an object: the one spelling that a row may have."""

def parse_yaml(text: bytes) -> Any:
    """Returns the object that a YAML document means; `BadArgument` where it is not YAML."""

def parse_scalar(text: str) -> Any:
    """Returns what one YAML scalar means; what is not one is text."""

def with_meta(meta: dict[str, Any], content: bytes) -> bytes:
    """Returns a memory's bytes with these fields set in its frontmatter; `BodyRefused` where that cannot be read."""

def redaction_candidates(text: str) -> list[tuple[str, str | None, int, int, str]]:
    """Returns what may have to be replaced in a text, by start: (tag, check, start, end, how it reads).

    Positions are characters. `check` names what has to confirm it, and is `None` where it is certain.
    """

def redaction_tags() -> list[str]:
    """Returns the names of all tags, the most severe first."""

@final
class Receipt:
    """What became of one change."""

    @property
    def seq(self) -> int | None:
        """The row that records it; `None` where nothing was to change, or what was to be purged is purged already."""
    @property
    def chain(self) -> str | None:
        """That row's chain value, in hexadecimal."""
    @property
    def content_sha256(self) -> str | None:
        """SHA-256 of the memory's content after it (for a deletion: before it), in hexadecimal."""
    @property
    def adopted(self) -> int | None:
        """The row that recorded an edit made by hand before this change."""
    @property
    def erased(self) -> int:
        """Stored copies of versions that a purge erased."""
    @property
    def warnings(self) -> list[str]:
        """What is not done yet though the row is durable; the next writer does it."""

@final
class Writer:
    """A store, open for writing. Any number of threads may share one; other processes may write to the same store."""

    def __new__(
        cls,
        root: str | os.PathLike[str],
        *,
        patience: float = 10.0,
        actor: str = "",
        max_segment_bytes: int | None = None,
        puts_files_off: bool = False,
    ) -> Writer:
        """Opens the store after recovery. `patience` is in seconds; `actor` is who writes.

        With `puts_files_off` working files are written only by `write_files` and `close`, once each.
        """
    def submit(self, requests: list[tuple[Any, ...]]) -> list[Receipt]:
        """Carries out requests in order, all or none, in one commit; returns when they are acknowledged.

        A request is `(kind, actor, ts_ns, extra, …)`: `put` with path, body and what is expected (`None` for anything,
        `""` for nothing, else a SHA-256 in hexadecimal), `move` with source and destination, `delete` with path, mode
        and reason, `aux` with the row's op and path.
        """
    def last_seq(self) -> int:
        """Returns the number of the last acknowledged row that this writer knows of."""
    def recovery(self) -> tuple[int, bool, str | None]:
        """Returns what opening found: rows accepted beyond the tip, whether the log was taken over, a torn tail."""
    def write_files(self) -> None:
        """Writes the working files that are put off."""
    def close(self) -> None:
        """Makes working files durable and the indexes current, as far as that is due."""
    def rebuild(self) -> None:
        """Recomputes the Merkle peaks and the path index from the log."""

def split_memory(content: bytes) -> tuple[dict[str, Any] | None, str | None, bytes]:
    """Takes a memory apart: its fields (`None`: no frontmatter), or why they cannot be read, and the body."""

def check_format(root: str | os.PathLike[str]) -> None:
    """Raises `UnsupportedStore` where the store's format is a newer one, as does all that opens a store here."""

def check_local(folder: str | os.PathLike[str]) -> None:
    """Raises `NetworkFileSystem` where a folder lies on one."""

@final
class Reader:
    """A store, open for reading. Takes no lock and never writes; looks at each call whether the log has changed."""

    def __new__(cls, root: str | os.PathLike[str]) -> Reader: ...
    def last_seq(self) -> int:
        """Number of the last whole row; 0 for an empty log."""

    def rows(self, first: int, last: int) -> tuple[list[dict[str, Any]], list[Damage]]:
        """The rows `first..=last` that are there, oldest first, and the damage between them."""

    def follow(
        self,
        seq: int,
        chain: str,
        *,
        kinds: Sequence[str],
        filters: Sequence[tuple[str, str]],
        most: int,
        enough: int,
        last: int | None = None,
    ) -> tuple[list[Row], int, str, bool, list[Damage]]:
        """The rows behind row `seq` (0: all), oldest first; `chain` is that row's, and demanded of it.

        Of these kinds, that meet all `filters`, see `history`; at most `most`, about `enough` bytes of them, none
        behind `last`. Returns them, the number and the chain of the last row that was looked at, whether there was
        nothing behind it, and the damage on the way.
        """

    def touching(self, name: str) -> tuple[list[Row], list[Damage]]:
        """All rows that touch a name, oldest first, whatever memory had it, and the damage that may hide others."""

    def history(
        self,
        path: str | None,
        *,
        follow_moves: bool = True,
        limit: int | None = None,
        since_ns: int | None = None,
        above: int = 0,
        below: int | None = None,
        filters: Sequence[tuple[str, str]] | None = None,
    ) -> tuple[list[Entry], list[Damage]]:
        """The rows that touch a memory (`None`: any memory), newest first, and the damage that may hide others.

        Only those with a number above `above` and below `below`, not older than `since_ns`, that meet all `filters`,
        which are pairs of `actor`, `kind`, `session_id` or `dream_id` and a value.
        """

    def sessions(self, name: str) -> list[tuple[Any, ...]]:
        """The sessions found under a name, those that started last first: tuples of the fields of `Known` in `book`.

        The end and the purge, where there are any, are tuples of the fields of `Ended` and `Purged`.
        """

    def history_page(self, path: str, limit: int) -> bytes | None:
        """The entries of a path's history as a JSON array, as `history --json` has them without body diffs.

        `None` where that takes long, or where there is more to tell.
        """

    def is_as_known(self, path: str, content_sha256: str) -> bool:
        """Whether the working file of a path is not there, or is a plain file whose bytes have this SHA-256.

        `False` says no more than that a closer look is needed.
        """

    def version_at(
        self, path: str, *, seq: int | None = None, ts_ns: int | None = None, follow_moves: bool = False
    ) -> Version | None:
        """The version of a memory after row `seq`, after the last row not later than `ts_ns`, or now; `None` for none.

        With `follow_moves`, `path` is its name now and it may have had another one; without, its name then.
        """

    def last_row(self, ts_ns: int) -> int:
        """The number of the last row that is not later; 0 where there is none."""

    def may_lag(self, path: str, content_sha256: str) -> bool:
        """Returns whether a working file with these bytes may not yet be brought up to the newest rows."""
    def memories_at(self, *, seq: int | None = None, ts_ns: int | None = None) -> tuple[list[Version], list[Damage]]:
        """Every memory that existed at such a point, ordered by name. Reads the whole log."""

    def memories(self, prefix: str, after: str, limit: int) -> tuple[list[Version], list[Damage]]:
        """The first `limit` memories there are now behind the path `after` whose path begins with `prefix`, by name.

        The first question reads the whole log, later ones what was appended.
        """

    def body(self, content_sha256: str) -> tuple[bytes | None, bool]:
        """The bytes with a SHA-256 (`None`: not kept), and whether they were kept once and then purged."""

    def verify(
        self, progress: Callable[[str, int], object] | None = None, *, peaks: bool = True, deep: bool = False
    ) -> Report:
        """Checks the whole log, and with `deep` every kept body.

        `progress` is called now and then with what is counted (`rows`, `bodies`) and how many are done; what it raises
        ends the check.
        """

    def payload(self, seq: int) -> bytes:
        """The bytes of a row, of which its leaf in the Merkle tree is made."""

    def root(self, size: int) -> bytes:
        """The root of the Merkle tree over the first `size` rows, 32 bytes."""

    def roots(self, sizes: list[int]) -> list[bytes]:
        """The roots of several sizes, from the rows alone and not from what is kept of the tree."""

    def inclusion_proof(self, seq: int, size: int) -> list[bytes]:
        """The proof that row `seq` is in the tree of the first `size` rows: hashes from the leaf's sibling upwards."""

    def consistency_proof(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of the first `old` rows is the beginning of that of the first `new`."""

    def layout(self) -> tuple[list[tuple[str, int]], int]:
        """The segments as (file, first row), and how many rows from the first on the path index covers."""

@final
class Export:
    """A log and its version bodies on their way out of a store, in one form however they lie in it.

    All rows are in one segment, and each version is once in one pack. First `log` until its end, then `bodies`.
    """

    def __new__(cls, root: str | os.PathLike[str], last: int) -> Export:
        """Opens the store at `root`; rows behind `last` stay in."""

    def log(self, enough: int) -> bytes:
        """The next frames of the log, about `enough` bytes; empty at its end. A damaged row is `CorruptLog`."""

    def bodies(self, enough: int) -> bytes:
        """The next frames of the pack of all versions that the log wrote, about `enough` bytes; empty at its end."""

    def memories(self) -> list[Version]:
        """The memories there are after the last row, ordered by name; once the log was read to its end."""

    def contents(self, first: str, enough: int) -> list[bytes | None]:
        """The contents of memories from the one called `first` on, in that order, until there are `enough` bytes.

        `None` stands for what is purged, damaged, or was never kept.
        """

    def versions(self) -> tuple[int, int]:
        """How many versions were written, and how many of those looked at are purged or were never kept."""

@final
class Row:
    """A row of the log. It keeps the payloads of those that were read with it."""

    @property
    def seq(self) -> int:
        """Number of the row."""

    @property
    def ts_ns(self) -> int:
        """Nanoseconds since 1970, UTC."""

    @property
    def kind(self) -> str:
        """What the row records."""

    @property
    def actor(self) -> str:
        """Who wrote the row."""

    @property
    def path(self) -> str:
        """The path that the row is about; empty where there is none."""

    @property
    def content_sha256(self) -> str | None:
        """SHA-256 of the memory's bytes in hexadecimal, where the row says it."""

    @property
    def chain(self) -> str:
        """The row's own hash in hexadecimal."""

    @property
    def prev_chain(self) -> str:
        """The hash of the row before in hexadecimal."""

    @property
    def extra(self) -> dict[str, Any]:
        """The row's `extra`, made anew at each access."""

    def touches(self) -> list[tuple[str, str]]:
        """The paths that the row touches, the one it is about first, and how.

        `write`, `move_from`, `move_to`, `delete` or `annotation`.
        """

@final
class Entry:
    """One row of a memory's history."""

    @property
    def seq(self) -> int:
        """Number of the row."""

    @property
    def ts_ns(self) -> int:
        """Nanoseconds since 1970, UTC."""

    @property
    def kind(self) -> str:
        """What the row records."""

    @property
    def actor(self) -> str:
        """Who wrote the row."""

    @property
    def path(self) -> str:
        """The row's own path."""

    @property
    def name(self) -> str:
        """The memory's name that the row was found under."""

    @property
    def content_sha256(self) -> str | None:
        """SHA-256 of the memory's bytes in hexadecimal, where the row says it."""

    @property
    def writes(self) -> bool:
        """Whether the row gives the memory new content."""

    @property
    def older(self) -> tuple[str, str] | None:
        """SHA-256 and path of the version before a row that writes; `None` where there was none."""

    @property
    def extra(self) -> dict[str, Any]:
        """The row's `extra`, made anew at each access."""

@final
class Version:
    """A version of a memory."""

    @property
    def seq(self) -> int:
        """The row that wrote it, or that moved it to its name."""

    @property
    def ts_ns(self) -> int:
        """When, in nanoseconds since 1970, UTC."""

    @property
    def path(self) -> str:
        """Its name then."""

    @property
    def content_sha256(self) -> str:
        """SHA-256 of its bytes in hexadecimal; empty where no row says."""

@final
class Damage:
    """A part of the log that cannot be read."""

    @property
    def file(self) -> str:
        """File, relative to the store."""

    @property
    def offset(self) -> int:
        """Where it begins."""

    @property
    def seq(self) -> int:
        """The first row that is missing."""

    @property
    def next_seq(self) -> int | None:
        """The next row that is there."""

    @property
    def what(self) -> str:
        """What is wrong, in one clause."""

@final
class Finding:
    """One thing that is not as it must be, or that is worth saying."""

    @property
    def check(self) -> str:
        """Stable name of the check."""

    @property
    def file(self) -> str:
        """File, relative to the store."""

    @property
    def offset(self) -> int | None:
        """Where in it."""

    @property
    def seq(self) -> int | None:
        """The row that is concerned."""

    @property
    def what(self) -> str:
        """What is the case, in one clause."""

@final
class Report:
    """What a check of the whole store found."""

    @property
    def rows(self) -> int:
        """Whole rows."""

    @property
    def bytes(self) -> int:
        """Bytes of their frames."""

    @property
    def segments(self) -> int:
        """Segments."""

    @property
    def last_seq(self) -> int:
        """Number of the last whole row; 0 for an empty log."""

    @property
    def chain(self) -> str | None:
        """That row's chain, in hexadecimal."""

    @property
    def root(self) -> str | None:
        """The Merkle root over all rows in hexadecimal; `None` where it was not asked for or rows are missing."""

    @property
    def bodies(self) -> int | None:
        """Bodies that were hashed again; `None` where that was not asked for."""

    @property
    def purged(self) -> int:
        """Of the bodies that were kept, how many were purged."""

    @property
    def truncated(self) -> bool:
        """Whether there was more to find than is listed."""

    @property
    def findings(self) -> list[Finding]:
        """What is wrong, in the order of the log."""

    @property
    def notes(self) -> list[Finding]:
        """What is no fault and worth knowing."""

@final
class Comparison:
    """Two versions of a memory, side by side. Nothing is compared before it is asked for."""

    def __new__(cls, old: bytes, new: bytes, old_path: str, new_path: str) -> Comparison: ...
    def frontmatter(self) -> dict[str, Any]:
        """What changed in the frontmatter: `{"added": {…}, "removed": {…}, "changed": {field: {"old": …, "new": …}}}`.

        Where one of them cannot be read, `{"unparseable": why, "diff": unified diff of the blocks}`.
        """

    @property
    def incomparable(self) -> str | None:
        """Why the bodies have no line diff: `binary` or `too_large`; `None` where they have one."""

    def unified(self) -> str | None:
        """The unified diff of the bodies, empty where they are equal; `None` where they have none."""

    def lines(self) -> dict[str, list[str]] | None:
        """The lines by kind, `{"added": […], "removed": […], "context": […]}`; `None` where there is no line diff."""

@final
class Blame:
    """Says which version each line of a text comes from, beginning with the newest; `step` takes the next older one."""

    def __new__(cls, newest: bytes) -> Blame: ...
    def step(self, older: bytes) -> bool:
        """Takes the next older version; returns whether still older ones can change anything."""

    def ages(self) -> list[int]:
        """For each line of the newest version, how many versions before it the line appeared. Ends the work."""

@final
class Survey:
    """Everything about one store, as it was when it was looked at."""

    rows: Final[int]  # Number of whole rows
    last_seq: Final[int]  # Number of the last whole row; 0 for an empty log
    segments: Final[list[tuple[str, int, int]]]  # Each segment's file, first row and length
    tip: Final[str]  # `missing` (another program keeps none), `lost`, `damaged` or `valid`
    acknowledged: Final[tuple[int, int] | None]  # The last row acknowledged, the last in the working files; by the tip
    torn_tail: Final[tuple[str, int, int] | None]  # A torn tail: file, offset and length
    faults: Final[list[tuple[str, str, int, int, str]]]  # What is wrong with the log: check, file, offset, row, what
    truncated: Final[bool]  # Whether there is more wrong than `faults` lists
    whole: Final[bool]  # Whether the rows are whole. What is below is empty otherwise
    # The memories: path, row, SHA-256 (empty where no row says), and whether the content is stored
    memories: Final[list[tuple[str, int, str, bool]]]
    lagging: Final[list[tuple[str, list[str]]]]  # Content that the working file of a path may hold while the view lags
    kinds: Final[list[tuple[str, int, int]]]  # Kinds of row: name, number and first row
    purges: Final[list[tuple[int, str, bool]]]  # Purges: row, path, and whether there is a reason
    # The peaks and HEAD: `current`, `missing`, `behind`, `ahead` or `wrong`, and the row or what is wrong
    peaks: Final[tuple[str, str]]
    head: Final[tuple[str, str]]
    # The path index: rows, rows covered, foreign rows, unusable files, and what is wrong
    path_index: Final[tuple[int, int, int, list[str], str | None]]
    tree_index: Final[tuple[int, int, int, list[str], str | None]]  # The Merkle tree's inner nodes, likewise
    body_index: Final[tuple[int, int, int, list[str], str | None]]  # The index of the bodies, likewise
    body_faults: Final[list[tuple[str, int, str]]]  # Damage in the packs: file, offset and what
    # Versions neither stored nor erased: the first row that wrote each, and its SHA-256
    missing_bodies: Final[list[tuple[int, str]]]
    versions: Final[int]  # Number of versions ever written
    stored_bodies: Final[int]  # Number of bodies in the packs, erased or not
    unreferenced: Final[int]  # Bodies that no row names
    # Purges that left bodies behind: row, path and the bodies
    unfinished_purges: Final[list[tuple[int, str, list[str]]]]

def includes(seq: int, size: int, payload: bytes, path: list[bytes], root: bytes) -> bool:
    """Whether `path` proves that row `seq` has this payload, in the tree of the first `size` rows with that root."""

def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, path: list[bytes]) -> bool:
    """Whether `path` proves that the tree of `new` rows begins with that of `old`."""

def survey(root: str | os.PathLike[str], progress: Callable[[int], object] | None = None) -> Survey:
    """Looks at the store at `root`. `progress` is called now and then with the number of rows verified so far."""

def plan_loss(
    root: str | os.PathLike[str],
) -> tuple[int, int, int, list[tuple[int, int]], str, str, int] | None:
    """Returns what giving up damaged rows means: from, to, whole rows, lost ranges, reason, file and offset."""

@final
class Repair:
    """A store to be mended. Each method takes the store's lock and gives it back."""

    def __new__(cls, root: str | os.PathLike[str], *, patience: float = 10.0, actor: str = "") -> Repair:
        """`patience` is in seconds; `actor` is who mends."""
    def rebuild_tip(self) -> int:
        """Writes the tip anew from a log that is whole from its start; returns its last row."""
    def accept_loss(
        self, actor: str, ts_ns: int
    ) -> tuple[tuple[int, int, int, list[tuple[int, int]], str, str, int], list[tuple[str, str, int, str]], int]:
        """Gives up damaged rows.

        Returns what was planned, the files that were moved aside (name, new name, length and SHA-256) and the last row.
        """
    def finish_loss(self) -> int:
        """Finishes giving up rows where that was interrupted; returns the row that records it."""
    def finish_purges(self) -> int:
        """Erases what purges left behind; returns how many stored copies there were."""
    def restore_files(self, paths: list[str]) -> list[str]:
        """Writes working files that are missing, as far as their content is stored; returns which."""
    def remove_leftovers(self, files: list[str]) -> None:
        """Removes files that interrupted writes left."""
    def drop_index(self, name: str) -> None:
        """Removes an index, `history` or `objects`."""
    def index_bodies(self) -> None:
        """Indexes all bodies."""

def create_transcript(path: str | os.PathLike[str]) -> None:
    """Makes a transcript without turns; another file there is `AlreadyExists`."""

def seal_transcript(
    path: str | os.PathLike[str], session_id: str, first: str, acknowledged: int
) -> tuple[str, int, str, int]:
    """Seals a transcript; returns the file's SHA-256, the number of turns, the last one's chain, and the file's length.

    One that is sealed already is checked and hashed. Damage, or fewer turns than `acknowledged`, is `CorruptLog`.
    """

def erase_transcript(path: str | os.PathLike[str], tombstone: bytes) -> int:
    """Puts a tombstone in the place of a transcript and zeros over its bytes; returns how many there were."""

def count_turns(path: str | os.PathLike[str]) -> int | None:
    """How many turns an open transcript has, at the cost of its last append; `None` where there is none."""

@final
class Transcript:
    """An open transcript, for appending. The caller keeps others from doing the same."""

    def __new__(cls, path: str | os.PathLike[str], session_id: str, first: str, acknowledged: int) -> Transcript:
        """Opens it and takes away what a crash left behind the last whole append.

        `first` is the chain of the row that started the session, in hexadecimal. Fewer turns than `acknowledged` are
        `CorruptLog`.
        """
    def turns(self) -> int:
        """Number of turns that are there."""
    def dropped(self) -> int:
        """Bytes that opening has taken away."""
    def append(self, turns: list[tuple[str, int, str | None, dict[str, Any] | None, bool | None]]) -> int:
        """Appends turns, all or none, with one sync; returns how many there are then.

        A turn is `(role, ts_ns, content, content_cipher, redactions_applied)`: a text or an envelope.
        """

@final
class Turns:
    """The turns of a transcript, read one after the other in bounded memory. What is damaged ends them and is said."""

    def __new__(cls, path: str | os.PathLike[str], session_id: str, first: str) -> Turns:
        """Opens the transcript of the session that the row with chain `first` started, or `FileNotFoundError`."""
    @property
    def form(self) -> str:
        """What the file is: `open`, `sealed`, `peer_open`, `peer_sealed` or `tombstone`."""
    @property
    def turns(self) -> int:
        """Turns that were read so far."""
    @property
    def chain(self) -> str:
        """`chain` of the last turn that was read."""
    def frames_sha256(self) -> str | None:
        """SHA-256 of the frames of upstream's transcript, once there are no further turns; `None` of ours.

        It is given once.
        """
    @property
    def damage(self) -> str | None:
        """What is wrong with the rest, once there are no further turns."""
    @property
    def torn(self) -> int:
        """Bytes behind the last whole append, which were never acknowledged."""
    def skip(self) -> int:
        """Passes over all turns, checking each; returns how many there are."""
    def next(
        self, most: int, enough: int
    ) -> list[tuple[int, int, str, str, str | None, dict[str, Any] | None, bool | None]]:
        """The next turns, at most `most` and about `enough` bytes of JSON; empty behind the last one.

        A turn is `(turn_seq, ts_ns, ts, role, content, content_cipher, redactions_applied)`.
        """
