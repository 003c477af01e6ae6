"""Changes of memories, as values: what a writer is asked to do, one or many at a time."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from cyberos.core import paths
from cyberos.core.yaml import with_meta
from cyberos.errors import BadArgument, BodyRefused

Mode = Literal["tombstone", "purge"]

# Rows that only `Put`, `Move` and `Delete` may write.
_MUTATIONS: Final = frozenset({"put", "move", "delete", "create", "str_replace", "insert", "rename"})


class Put:
    """New content for a memory."""

    kind: Final = "put"
    __slots__ = ("body", "expected", "extra", "path")

    def __init__(
        self,
        path: str,
        content: str | bytes,
        meta: Mapping[str, Any] | None = None,
        *,
        expected: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """`meta` wins over the frontmatter that `content` brings along; `extra` goes into the row.

        `expected` is a SHA-256, `""` for no memory, `None` for anything.
        """
        try:
            body = content.encode() if isinstance(content, str) else bytes(content)
        except UnicodeEncodeError as error:
            raise BodyRefused(f"the content of {path} is not valid Unicode: {error.reason}", path=path) from None
        self.path = path
        try:
            self.body = with_meta(dict(meta), body) if meta else body
        except BodyRefused as error:
            raise BodyRefused(
                f"cannot add fields to the frontmatter of {path}, which cannot be read: {error}",
                path=path,
                hint="correct the frontmatter, or put it as it is without fields",
            ) from None
        self.expected, self.extra = expected, extra

    def check(self, limit: int) -> None:
        """Raises `PathRefused` or `BodyRefused`."""
        paths.check_path(self.path)
        if len(self.body) > limit:
            raise BodyRefused(
                f"the content of {self.path} has {len(self.body)} bytes; this store takes {limit}",
                path=self.path,
                hint="split it, or raise memories.max_body_bytes in manifest.json (at most 8 MiB)",
            )

    def written(self) -> tuple[str, ...]:
        """Returns the paths that change."""
        return (self.path,)

    def arguments(self) -> tuple[Any, ...]:
        """Returns what the compiled core needs besides who and when."""
        return (self.path, self.body, self.expected)


class Move:
    """Another path for a memory."""

    kind: Final = "move"
    __slots__ = ("dst", "extra", "src")

    def __init__(self, src: str, dst: str, *, extra: Mapping[str, Any] | None = None) -> None:
        self.src, self.dst, self.extra = src, dst, extra

    def check(self, limit: int) -> None:  # noqa: ARG002, the same for every change
        """Raises `PathRefused`."""
        paths.check_taken_away(self.src)
        paths.check_path(self.dst)

    def written(self) -> tuple[str, ...]:
        """Returns the paths that change."""
        return (self.src, self.dst)

    def arguments(self) -> tuple[Any, ...]:
        """Returns what the compiled core needs besides who and when."""
        return (self.src, self.dst)


class Delete:
    """The end of a memory."""

    kind: Final = "delete"
    __slots__ = ("extra", "mode", "path", "reason")

    def __init__(
        self, path: str, mode: Mode = "tombstone", reason: str = "", *, extra: Mapping[str, Any] | None = None
    ) -> None:
        self.path, self.mode, self.reason, self.extra = path, mode, reason, extra

    def check(self, limit: int) -> None:  # noqa: ARG002, the same for every change
        """Raises `PathRefused` or `BadArgument`."""
        paths.check_taken_away(self.path)
        if self.mode == "purge" and not self.reason.strip():
            raise BadArgument("a purge needs a reason: it stays in the log", argument="reason", hint="--reason TEXT")

    def written(self) -> tuple[str, ...]:
        """Returns the paths that change."""
        return (self.path,)

    def arguments(self) -> tuple[Any, ...]:
        """Returns what the compiled core needs besides who and when."""
        return (self.path, self.mode, self.reason)


class Record:
    """A row that changes no memory."""

    kind: Final = "aux"
    __slots__ = ("extra", "path", "row_kind")

    def __init__(self, row_kind: str, payload: Mapping[str, Any], *, path: str | None = None) -> None:
        """`path` is what the row is about; by default what `payload` calls so."""
        self.row_kind, self.extra, self.path = row_kind, payload, path

    def check(self, limit: int) -> None:  # noqa: ARG002, the same for every change
        """Raises `BadArgument`."""
        if not self.row_kind or self.row_kind in _MUTATIONS:
            raise BadArgument(f"{self.row_kind!r} is not a kind of row that changes no memory", argument="kind")

    def written(self) -> tuple[str, ...]:
        """Returns the paths that change: none."""
        return ()

    def arguments(self) -> tuple[Any, ...]:
        """Returns what the compiled core needs besides who and when."""
        if self.path is not None:
            return (self.row_kind, self.path)
        named = (self.extra.get(key) for key in ("path", "target_path"))
        return (self.row_kind, next((path for path in named if isinstance(path, str)), ""))


Change = Put | Move | Delete | Record
