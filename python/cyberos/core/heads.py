"""Places where signed heads are kept: files, folders, git repositories, and the user's own memory of them.

What is written into a git repository is a commit on a reference of its own, `refs/cyberos/<origin>`: no branch, index
or working file is touched. Every commit holds one file, `checkpoint`.
"""

import os
import subprocess
from collections.abc import Iterator
from typing import Final

from cyberos import durable
from cyberos.errors import BadArgument, IoFailure

_LONGEST: Final = 64 << 20
_SIGNATURE: Final = "\N{EM DASH} ".encode()
_GIT: Final = "git:"
_FILE: Final = "checkpoint"


def split(content: bytes) -> list[bytes]:
    """Returns the notes in a text that has any number of them, one behind the other."""
    notes: list[bytes] = []
    lines: list[bytes] = []
    signed = False
    for line in content.splitlines(keepends=True):
        is_signature = line.startswith(_SIGNATURE)
        if signed and not is_signature:
            notes.append(b"".join(lines))
            lines, signed = [], False
            if line == b"\n":
                continue
        if not lines and line == b"\n":
            continue
        lines.append(line)
        signed = is_signature
    return [*notes, b"".join(lines)] if lines else notes


def names(folder: str, suffix: str) -> list[str]:
    """Returns the names in a folder with a suffix, in order; none where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(suffix))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise IoFailure(f"cannot list {folder}: {error.strerror}", file=folder, errno=error.errno) from error


def read_file(path: str) -> list[bytes]:
    """Returns the notes in a file."""
    try:
        with open(path, "rb") as handle:
            content = handle.read(_LONGEST + 1)
    except OSError as error:
        raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error
    if len(content) > _LONGEST:
        raise BadArgument(f"{path} is longer than any file of checkpoints", argument=path)
    return split(content)


def read(where: str, origin: str) -> list[bytes]:
    """Returns the notes at a place: a file, a folder of files, or a git repository (its folder, or `git:FOLDER`)."""
    folder = where.removeprefix(_GIT)
    if where.startswith(_GIT) or is_repository(folder):
        return _read_git(folder, origin)
    if os.path.isdir(where):
        return [note for name in names(where, ".txt") for note in read_file(os.path.join(where, name))]
    if not os.path.lexists(where):
        raise BadArgument(
            f"there is nothing at {where}", argument="against", hint="name a file, folder or git repository"
        )
    return read_file(where)


def copy(where: str, origin: str, note: bytes, message: str) -> None:
    """Adds a note at a place, unless it is there: behind those in a file, or as a commit of a repository."""
    folder = where.removeprefix(_GIT)
    if where.startswith(_GIT) or is_repository(folder):
        _commit(folder, origin, note, message)
        return
    path = os.path.join(where, f"{origin.replace('/', '_')}.txt") if os.path.isdir(where) else where
    append(path, note)


def append(path: str, note: bytes) -> None:
    """Adds a note behind those in a file, durably, unless it is there already. A crash leaves the file as it was."""
    before = b""
    if os.path.lexists(path):
        kept = read_file(path)
        if note in kept:
            return
        before = b"\n".join([*kept, b""])
    write_new(os.path.realpath(path), before + note)


def write_new(path: str, content: bytes) -> None:
    """Writes a file, durably, in place of what has its name; one that is there keeps its mode."""
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise IoFailure.of("cannot write", path, error) from error
    durable.replace(path, content, shared=True)


def memory_of(folder: str, origin: str) -> str:
    """Returns the file in the user's configuration folder that remembers a log's heads."""
    return os.path.join(folder, "heads", f"{origin.replace('/', '_')}.txt")


def remembered(folder: str, origin: str) -> list[bytes]:
    """Returns the notes that the user's configuration folder remembers of a log."""
    path = memory_of(folder, origin)
    return read_file(path) if os.path.lexists(path) else []


def is_repository(folder: str) -> bool:
    """Whether a folder is the top of a git repository, bare or not."""
    inside = [os.path.join(folder, name) for name in ("HEAD", "objects", "refs")]
    return os.path.lexists(os.path.join(folder, ".git")) or all(map(os.path.exists, inside))


def _reference(origin: str) -> str:
    return f"refs/cyberos/{origin}"


def _read_git(folder: str, origin: str) -> list[bytes]:
    reference = _reference(origin)
    if not _git(folder, "for-each-ref", reference):
        return []
    commits = _git(folder, "rev-list", "--reverse", reference).decode().split()
    asked = "".join(f"{commit}:{_FILE}\n" for commit in commits).encode()
    return [note for content in _contents(_git(folder, "cat-file", "--batch", stdin=asked)) for note in split(content)]


def _contents(stream: bytes) -> Iterator[bytes]:
    """Yields the blobs in what `git cat-file --batch` says: a line with the length, the bytes, a line feed."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        head = stream[at:end].split(b" ")
        at = end + 1
        if head[-1] == b"missing":
            continue
        length = int(head[-1])
        yield stream[at : at + length]
        at += length + 1


def _commit(folder: str, origin: str, note: bytes, message: str) -> None:
    if note in _read_git(folder, origin)[-1:]:
        return
    reference = _reference(origin)
    old = _git(folder, "for-each-ref", "--format=%(objectname)", reference).decode().strip()
    blob = _git(folder, "hash-object", "-w", "--stdin", stdin=note).decode().strip()
    tree = _git(folder, "mktree", stdin=f"100644 blob {blob}\t{_FILE}\n".encode()).decode().strip()
    parents = ["-p", old] if old else []
    commit = _git(folder, "commit-tree", tree, *parents, "-m", message).decode().strip()
    # Fails, and says so, where somebody else has added one meanwhile.
    _git(folder, "update-ref", "-m", message, reference, commit, old or "0" * len(commit))


def _git(folder: str, *command: str, stdin: bytes = b"") -> bytes:
    # A repository may be anybody's: none of its programs is run, and none of ours is led elsewhere by variables.
    settings = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "user.name=cyberos", "user.email=cyberos@localhost")
    options = [word for setting in settings for word in ("-c", setting)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603, git and its commands are fixed; only the folder is given
            ["git", *options, "-C", folder, *command],  # noqa: S607, the git that the user has
            input=stdin,
            capture_output=True,
            check=False,
            env=variables,
        )
    except OSError as error:
        raise IoFailure(f"cannot run git: {error.strerror}", file="git", errno=error.errno) from error
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise IoFailure(f"git {command[0]} in {folder} failed: {why[-1] if why else done.returncode}", file=folder)
    return done.stdout
