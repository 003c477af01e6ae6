"""The compiled part of cyberos. Only `cyberos.core` imports it."""

import os
from typing import Any, Final, final

__version__: Final[str]
is_debug: Final[bool]

def parse_json(text: bytes) -> Any:
    """Returns the object that JSON in UTF-8 says; `BadArgument` where it is not JSON, or repeats a key."""

def canonical_json(value: Any) -> bytes:
    """Returns the canonical JSON of an object: the one spelling that a row may have."""

def parse_yaml(text: bytes) -> Any:
    """Returns the object that a YAML document means; `BadArgument` where it is not YAML."""

def parse_scalar(text: str) -> Any:
    """Returns what one YAML scalar means; what is not one is text."""

def with_meta(meta: dict[str, Any], body: bytes) -> bytes:
    """Returns a memory's bytes: `meta` as YAML frontmatter with sorted keys, then `body`."""

@final
class Receipt:
    """What became of one change."""

    @property
    def seq(self) -> int | None:
        """The row that records it; `None` where there was nothing to change."""
    @property
    def chain(self) -> str | None:
        """That row's chain value, in hexadecimal."""
    @property
    def sha256(self) -> str | None:
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
        adopt: bool = False,
        lease: str = "",
        max_segment_bytes: int | None = None,
    ) -> Writer:
        """Opens the store after recovery. `patience` is in seconds; `lease` is what others are told about the holder."""
    def submit(self, requests: list[tuple[Any, ...]]) -> list[Receipt]:
        """Carries out requests in order, all or none, in one commit; returns when they are acknowledged.

        A request is `(kind, actor, ts_ns, extra, …)`: `put` with path, body and what is expected (`None` for anything,
        `""` for nothing, else a SHA-256 in hexadecimal), `move` with source and destination, `delete` with path, mode
        and reason, `aux` with the row's op and path.
        """
    def last_seq(self) -> int:
        """Returns the number of the last acknowledged row that this writer knows of."""
    def recovery(self) -> tuple[int, bool, str | None]:
        """Returns what opening found: rows accepted beyond the tip, whether the log was another program's, a torn tail."""
    def close(self) -> None:
        """Makes working files durable and the indexes current, as far as that is due."""
    def rebuild(self) -> None:
        """Recomputes the Merkle peaks and the path index from the log."""
