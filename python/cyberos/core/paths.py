"""What the path of a memory may be.

`check_path` is for what is written: it holds a path to the rules below and returns it unchanged. `check_lookup` is for
what is looked up: stores also hold older names, so it refuses only what could reach outside. `check_memory` is for what
is read and `check_taken_away` for what is moved or deleted: an older name too, but a memory's. None of them touches a
disk; `OnDisk` does, and refuses symbolic links and names that some file systems could not tell from one that is there.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from cyberos import layout
from cyberos.clock import At, parse_at
from cyberos.errors import IoFailure, PathRefused

MAX_PATH_BYTES: Final = 1_024
MAX_SEGMENT_BYTES: Final = 255
SUFFIXES: Final = (".md", ".json")
# Upstream keeps the frontmatter of `x.md` in `x.meta.json`, so that cannot be a memory's own name.
SIDECAR_SUFFIX: Final = ".meta.json"
# Whether looking for a name finds only that very name. macOS finds other spellings too, so there folders are listed.
_LOOKUP_IS_EXACT: Final = sys.platform != "darwin"


@lru_cache(maxsize=8_192)
def check_path(path: str) -> str:
    """Returns `path` if a memory may be written there, else raises `PathRefused` saying why and what to do."""
    check_lookup(path)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise _refused(path, f"it is longer than {MAX_PATH_BYTES} bytes", "choose a shorter one")
    _check_root(path)
    for segment in path.split("/"):
        _check_segment(path, segment)
    name = path.rpartition("/")[2]
    if not name.endswith(SUFFIXES) or name in SUFFIXES:
        raise _refused(path, "a memory's name ends in .md or .json", f"for example {path.rstrip('.')}.md")
    if name.casefold().endswith(SIDECAR_SUFFIX):
        raise _refused(path, f"{SIDECAR_SUFFIX} files hold the frontmatter of other memories", "choose another name")
    return path


def check_taken_away(path: str) -> str:
    """Returns `path` if a memory there may be moved or deleted; raises `PathRefused` for the store's own files."""
    check_memory(path)
    _check_root(path)
    return path


def check_memory(path: str) -> str:
    """Returns `path` if it can be read as a memory; raises `PathRefused` for access lists, whoever wrote them."""
    check_lookup(path)
    if is_acl(path):
        raise _refused(path, "it is an access list, not a memory", "its owner may read and edit the file itself")
    return path


def is_acl(path: str) -> bool:
    """Whether a path is that of an access list, which is no memory though it lies beside them."""
    return path.rpartition("/")[2] == layout.ACL_FILE


def spelling(path: str) -> str | None:
    """Returns how `path` has to be written, where that looks the same and is not: new names are in Unicode form NFC."""
    if path.isascii():
        return None
    import unicodedata

    composed = unicodedata.normalize("NFC", path)
    return None if composed == path else composed


def check_lookup(path: str) -> str:
    """Returns `path` if it names something inside a store, whatever the name, else raises `PathRefused`."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise _refused(path, "it is not valid UTF-8", "rename it") from None
    if not path:
        raise _refused(path, "it is empty", "for example memories/facts/one.md")
    if "\0" in path:
        raise _refused(path, "it has a NUL character", "leave it out")
    if "\\" in path:
        raise _refused(path, "it has a backslash", "separate folders with /")
    if path.startswith("/"):
        raise _refused(path, "it is absolute", "write it as seen from the store, for example memories/facts/one.md")
    for segment in path.split("/"):
        if segment == "":
            raise _refused(
                path, "a folder's name in it is empty", "write a single / between names, and none at the end"
            )
        if segment in (".", ".."):
            raise _refused(path, f"it has the segment {segment!r}", "write the path in full, as seen from the store")
    return path


def split_version(text: str) -> tuple[str, At | None]:
    """Returns the path and the point in the past that `PATH@SEQ` or `PATH@TIME` means, or the path and `None`.

    A path may have an `@` of its own: a text that ends as memories' names do is a path to its end.
    """
    path, at, version = text.rpartition("@")
    if not at or text.endswith(SUFFIXES):
        return text, None
    return path, parse_at(version)


def _check_root(path: str) -> None:
    root, _, rest = path.partition("/")
    if root not in layout.MEMORY_ROOTS or not rest:
        roots = ", ".join(f"{name}/" for name in layout.MEMORY_ROOTS)
        raise _refused(path, "it is not in a folder of memories", f"memories live under {roots}")


def _check_segment(path: str, segment: str) -> None:
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        raise _refused(path, f"a name in it is longer than {MAX_SEGMENT_BYTES} bytes", "choose a shorter one")
    if segment[0] in " ." or segment[-1] in " .":
        raise _refused(path, f"{segment!r} begins or ends with a space or a dot", "leave it out")
    if segment.isascii():
        wrong = [] if segment.isprintable() else [char for char in segment if not char.isprintable()]
    else:
        import unicodedata  # a large table that names in ASCII can do without

        if not unicodedata.is_normalized("NFC", segment):
            composed = unicodedata.normalize("NFC", path)
            raise _refused(path, f"{segment!r} is not in Unicode form NFC", f"write it as {composed!r}")
        wrong = [char for char in segment if not " " <= char <= "~" and not _is_common(unicodedata.category(char))]
    if wrong:
        raise _refused(
            path,
            f"it has the character U+{ord(wrong[0]):04X}",
            "use letters, digits, spaces and punctuation, all of them visible",
        )


def may_stand(char: str) -> bool:
    """Whether a character may stand in a name, though perhaps not at its ends."""
    if char.isascii():
        return char.isprintable() and char not in "/\\"
    import unicodedata

    return _is_common(unicodedata.category(char))


def _is_common(category: str) -> bool:
    """Whether characters of a Unicode category may stand in a name.

    Letters, marks, digits, punctuation, signs of money and mathematics may; nothing that cannot be seen, since two
    names that look the same should be the same.
    """
    return category[0] in "LMNP" or category in ("Sc", "Sm")


def fold(name: str) -> str:
    """Returns what a file system that ignores case and Unicode form makes of `name` (canonical caseless matching)."""
    if name.isascii():
        return name.lower()
    import unicodedata

    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


class Siblings:
    """The names in one folder, told apart as the least discerning file system would."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # By themselves and by what `fold` makes of them.
        self._names: dict[str, str] = {}
        for name in names:
            self._names.setdefault(fold(name), name)
            self._names[name] = name

    def add(self, name: str) -> str | None:
        """Adds a name, or returns one that is there and differs from it only by case or Unicode form."""
        if self._names.get(name) == name:
            return None
        other = self._names.setdefault(fold(name), name)
        if other != name:
            return other
        self._names[name] = name
        return None


class OnDisk:
    """What the disk has to say about paths, for one group of writes: each folder is looked at once.

    A folder is listed only where a path names something new in it.
    """

    def __init__(self, store: str | os.PathLike[str]) -> None:
        """Looks at nothing yet."""
        self._store = os.fspath(store)
        self._folders = {"": True}
        self._siblings: dict[str, Siblings] = {}

    def check(self, path: str) -> str:
        """Returns `path` if it can be a file beside those checked before, else raises `PathRefused`."""
        mode = self._look(path, path)
        if mode is not None and not stat.S_ISREG(mode):
            raise _refused(path, f"{path} is not a plain file", "choose another path")
        return path

    def _has_folder(self, path: str, folder: str) -> bool:
        there = self._folders.get(folder)
        if there is None:
            mode = self._look(path, folder)
            if mode is not None and not stat.S_ISDIR(mode):
                raise _refused(path, f"{folder} is not a folder", "choose another path")
            there = self._folders[folder] = mode is not None
        return there

    def _look(self, path: str, entry: str) -> int | None:
        """Returns the mode of `entry`, which is `path` or a folder on the way to it; `None` where nothing is there."""
        parent, _, name = entry.rpartition("/")
        mode = None
        if self._has_folder(path, parent):
            full = os.path.join(self._store, entry)
            try:
                mode = os.lstat(full).st_mode
            except FileNotFoundError:
                pass  # it is new
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    raise _refused(path, "it is longer than files' names can be", "choose a shorter one") from None
                raise IoFailure(f"cannot look at {full}: {error.strerror}", file=full, errno=error.errno) from error
        if mode is None or not _LOOKUP_IS_EXACT:
            other = self._siblings_in(parent).add(name)
            if other is not None:
                existing = f"{parent}/{other}" if parent else other
                what_to_do = f"write {existing}, or another name"
                raise _refused(path, f"it differs from {existing} only by case or Unicode form", what_to_do)
        if mode is not None and stat.S_ISLNK(mode):
            what_to_do = "memories are plain files in plain folders of the store"
            raise _refused(path, f"{entry} is a symbolic link", what_to_do)
        return mode

    def _siblings_in(self, folder: str) -> Siblings:
        siblings = self._siblings.get(folder)
        if siblings is None:
            full = os.path.join(self._store, folder)
            try:
                siblings = Siblings(os.listdir(full)) if self._folders[folder] else Siblings()
            except OSError as error:
                raise IoFailure(f"cannot list {full}: {error.strerror}", file=full, errno=error.errno) from error
            self._siblings[folder] = siblings
        return siblings


def _refused(path: str, why: str, what_to_do: str) -> PathRefused:
    return PathRefused(f"cannot use the path {path!r}: {why}", path=path, hint=what_to_do)
