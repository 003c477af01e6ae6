"""Under which path a file from elsewhere becomes a memory.

A file keeps its path, below the folder that is imported into. What a memory's path may not have is replaced: characters
by `_`, a dot or a space at the ends of a name likewise, `.MD` by `.md`; `.md` is added where a name ends otherwise.
Folders that differ only by case or Unicode form are one. Where two files would become one memory, the later one gets a
mark made of its own path: `readme~1f3a90bc.md`.
"""

import hashlib
import os
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from cyberos.core import paths
from cyberos.errors import IoFailure

_MARK_DIGITS: Final = 8

Why = Literal["spelling", "collision"]


class Mapped(NamedTuple):
    """A file whose memory has another path than the file: its name had to change, or another memory has its name."""

    source: str
    path: str
    why: Why


class Names:
    """The memories that files become, for one import.

    `living` are the paths of the memories that are there; whoever plans changes keeps it up to date. With `adopts`, a
    file that was not met before and whose memory is there belongs to it.
    """

    def __init__(self, store: str, into: str, living: Iterable[str], *, adopts: bool) -> None:
        """`into` is a folder of memories, without a slash at its end."""
        self._store, self._into, self._adopts = store, into, adopts
        self.living = set(living)
        self.mapped: dict[tuple[str, str], Mapped] = {}
        # What was found so far: the path of a source, and the source of a path.
        self._paths: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        # The names in each folder, by what `fold` makes of them; those on the disk are added when a folder is met.
        self._folders: dict[str, dict[str, str]] = {}
        self._listed: set[str] = set()
        for path in self.living:
            parent, _, name = path.rpartition("/")
            while parent and name not in (known := self._folders.setdefault(parent, {})).values():
                known.setdefault(paths.fold(name), name)
                parent, _, name = parent.rpartition("/")

    def find(self, source: str, *, is_new: bool = False) -> str | None:
        """Returns the path of the living memory that a file is; `None` where it is none. `is_new` adopts none."""
        path = self._paths.get(source)
        if path is None and self._adopts and not is_new:
            path = self._adopt(source)
        return path if path in self.living and self._sources.get(path) == source else None

    def claim(self, source: str, moving: str | None = None) -> str:
        """Returns the path for a file that is no memory yet, and reserves it; raises `PathRefused`.

        A file that the memory `moving` is now called may keep its path, where that differs only by case or form.
        """
        path = self._paths.get(source)
        if path is not None and self._sources.get(path) == source:
            return path
        parent, name = self._place(source)
        names = self._names(parent)
        known = names.get(paths.fold(name))
        path = f"{parent}/{known or name}"
        # A path that only this import used, and that is free again, is used again.
        free = known is None or path == moving or (path in self._sources and path not in self.living)
        if not free:
            name = _marked(name, source)
            path = f"{parent}/{name}"
        paths.check_path(path)
        names.setdefault(paths.fold(name), name)
        self._take(source, path)
        if path != f"{self._into}/{source}":
            why: Why = "spelling" if free and known in (None, name) else "collision"
            self.mapped[source, path] = Mapped(source, path, why)
        return path

    def own(self, source: str, path: str) -> None:
        """Says that a path was claimed for a file before, though its memory may not be living."""
        self._take(source, path)

    def _adopt(self, source: str) -> str | None:
        parent, name = self._place(source)
        known = self._names(parent).get(paths.fold(name), name)
        for candidate in (_marked(name, source), name, known):
            path = f"{parent}/{candidate}"
            if path in self.living and path not in self._sources:
                self._take(source, path)
                return path
        return None

    def _take(self, source: str, path: str) -> None:
        self._paths[source] = path
        self._sources[path] = source

    def _place(self, source: str) -> tuple[str, str]:
        """Returns the folder for a file, and its name if nothing is in the way."""
        *folders, name = source.split("/")
        parent = self._into
        for folder in folders:
            cleaned = _clean(folder)
            if cleaned.endswith(paths.SUFFIXES):  # a folder is never taken for a memory
                cleaned += "_"
            cleaned = _shortened(cleaned, folder)
            parent = f"{parent}/{self._names(parent).setdefault(paths.fold(cleaned), cleaned)}"
        return parent, file_name(name)

    def _names(self, folder: str) -> dict[str, str]:
        names = self._folders.setdefault(folder, {})
        if folder not in self._listed:
            self._listed.add(folder)
            full = os.path.join(self._store, folder)
            try:
                for name in sorted(os.listdir(full)):
                    names.setdefault(paths.fold(name), name)
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                raise IoFailure(f"cannot list {full}: {error.strerror}", file=full, errno=error.errno) from error
        return names


def file_name(name: str) -> str:
    """Returns the name of the memory that a file with this name becomes, if nothing is in the way."""
    stem, dot, suffix = name.rpartition(".")
    ending = f".{suffix.lower()}"
    if not dot or ending not in paths.SUFFIXES:
        stem, ending = name, ".md"
    cleaned = _clean(stem or dot)
    if ending == ".json" and cleaned.casefold().endswith(".meta"):
        cleaned = f"{cleaned[:-5]}_meta"
    return _shortened(cleaned + ending, name)


def folder_name(name: str) -> str:
    """Returns the name of the folder of memories for a folder with this name."""
    return _shortened(_clean(name), name)


def _clean(segment: str) -> str:
    if not segment.isascii():
        import unicodedata

        segment = unicodedata.normalize("NFC", segment)
    cleaned = "".join(char if paths.may_stand(char) else "_" for char in segment)
    if cleaned[:1] in (" ", "."):
        cleaned = "_" + cleaned[1:]
    if cleaned[-1:] in (" ", "."):
        cleaned = cleaned[:-1] + "_"
    return cleaned or "_"


def _shortened(name: str, source: str) -> str:
    return name if len(name.encode()) <= paths.MAX_SEGMENT_BYTES else _marked(name, source)


def _marked(name: str, source: str) -> str:
    """Returns a name with a mark that tells its file from all others."""
    stem, dot, suffix = name.rpartition(".")
    if f".{suffix}" not in paths.SUFFIXES:
        stem, dot, suffix = name, "", ""
    digest = hashlib.sha256(source.encode()).hexdigest()
    ending = f"~{digest[:_MARK_DIGITS]}{dot}{suffix}"
    kept = stem.encode()[: paths.MAX_SEGMENT_BYTES - len(ending)].decode(errors="ignore")
    return kept + ending
