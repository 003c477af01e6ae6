"""What the path of a memory may be.

`check_path` is for what is written: it holds a path to the rules below and returns it unchanged. `check_lookup` is for
what is read: stores also hold older names, so it refuses only what could reach outside. Neither touches a disk;
`check_on_disk` does, and refuses symbolic links and names that some file systems could not tell from one that is there.
"""

import os
import stat
import sys
from collections.abc import Iterable
from typing import Final

from cyberos import layout
from cyberos.clock import At, parse_at
from cyberos.errors import IoFailure, PathRefused

MAX_PATH_BYTES: Final = 1_024
MAX_SEGMENT_BYTES: Final = 255
SUFFIXES: Final = (".md", ".json")
# Upstream keeps the frontmatter of `x.md` in `x.meta.json`, so that cannot be a memory's own name.
_SIDECAR: Final = ".meta.json"
# Whether looking for a name finds only that very name. macOS finds other spellings too, so there folders are listed.
_LOOKUP_IS_EXACT: Final = sys.platform != "darwin"


def check_path(path: str) -> str:
    """Returns `path` if a memory may be written there, else raises `PathRefused` saying why and what to do."""
    check_lookup(path)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise _refused(path, f"it is longer than {MAX_PATH_BYTES} bytes", "choose a shorter one")
    root, _, rest = path.partition("/")
    if root not in layout.MEMORY_ROOTS or not rest:
        roots = ", ".join(f"{name}/" for name in layout.MEMORY_ROOTS)
        raise _refused(path, "it is not in a folder of memories", f"memories live under {roots}")
    for segment in path.split("/"):
        _check_segment(path, segment)
    name = path.rpartition("/")[2]
    if not name.endswith(SUFFIXES) or name in SUFFIXES:
        raise _refused(path, "a memory's name ends in .md or .json", f"for example {path.rstrip('.')}.md")
    if name.casefold().endswith(_SIDECAR):
        raise _refused(path, f"{_SIDECAR} files hold the frontmatter of other memories", "choose another name")
    return path


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


def _check_segment(path: str, segment: str) -> None:
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        raise _refused(path, f"a name in it is longer than {MAX_SEGMENT_BYTES} bytes", "choose a shorter one")
    if segment[0] in " ." or segment[-1] in " .":
        raise _refused(path, f"{segment!r} begins or ends with a space or a dot", "leave it out")
    if segment.isascii():
        wrong = [char for char in segment if not " " <= char <= "~"]
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


def find_collision(name: str, siblings: Iterable[str]) -> str | None:
    """Returns the sibling that differs from `name` only by case or Unicode form."""
    folded = fold(name)
    return next((other for other in siblings if other != name and fold(other) == folded), None)


def check_on_disk(store: str | os.PathLike[str], path: str) -> str:
    """Returns `path` if it can be a file below `store` as the disk is now, else raises `PathRefused`.

    A folder is listed only where `path` names something new in it.
    """
    folder, parent = os.fspath(store), ""
    *_, name = segments = path.split("/")
    for segment in segments:
        full = os.path.join(folder, segment)
        try:
            mode = os.lstat(full).st_mode
        except FileNotFoundError:
            _check_siblings(path, parent, segment, folder)
            return path  # nothing below it is there either
        except OSError as error:
            raise IoFailure(f"cannot look at {full}: {error.strerror}", file=full, errno=error.errno) from error
        if not _LOOKUP_IS_EXACT:
            _check_siblings(path, parent, segment, folder)
        here = f"{parent}/{segment}" if parent else segment
        if stat.S_ISLNK(mode):
            raise _refused(path, f"{here} is a symbolic link", "memories are plain files in plain folders of the store")
        if segment is not name and not stat.S_ISDIR(mode):
            raise _refused(path, f"{here} is not a folder", "choose another path")
        if segment is name and not stat.S_ISREG(mode):
            raise _refused(path, f"{here} is not a plain file", "choose another path")
        folder, parent = full, here
    return path


def _check_siblings(path: str, parent: str, segment: str, folder: str) -> None:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise IoFailure(f"cannot list {folder}: {error.strerror}", file=folder, errno=error.errno) from error
    other = None if segment in names else find_collision(segment, names)
    if other is not None:
        existing = f"{parent}/{other}" if parent else other
        raise _refused(
            path, f"it differs from {existing} only by case or Unicode form", f"write {existing}, or another name"
        )


def _refused(path: str, why: str, what_to_do: str) -> PathRefused:
    return PathRefused(f"cannot use the path {path!r}: {why}", path=path, hint=what_to_do)
