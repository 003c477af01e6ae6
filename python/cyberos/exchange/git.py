"""A git repository, read through git's own plumbing as streams.

git is run with an environment of its own and without the user's and the system's settings. What the repository's
settings could make it run is switched off: file system monitors, hooks, external diffs, text conversion, and whatever
would fetch what is missing. The index and the working tree are not looked at.
"""

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final, NamedTuple, Self

from cyberos.errors import (
    CorruptRepository,
    HistoryRewritten,
    ProgramMissing,
    RepositoryNotFound,
    RepositoryRefused,
    command,
)

# How alike two files must be for one to be the other renamed, in percent, and among how many that is looked for.
SIMILARITY: Final = 50
_RENAME_LIMIT: Final = 1_000
_MAX_NS: Final = 2**63 - 1
_NS: Final = 1_000_000_000
_READ: Final = 1 << 18
_SETTINGS: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class Step(NamedTuple):
    """A commit, and the one that it is compared with: its first parent, as a rule."""

    commit: str
    parent: str | None


class Commit(NamedTuple):
    """Who made a commit, and when: the author's name and address, and time in nanoseconds since 1970."""

    id: str
    ts_ns: int
    author: str


class Delta(NamedTuple):
    """What a commit did to one path: git's raw record. Only a rename or a copy has a `source` other than `path`."""

    status: str
    was_file: bool
    is_file: bool
    old_id: str
    new_id: str
    source: str
    path: str

    def needs_blob(self) -> bool:
        """Whether there is new content."""
        return self.is_file and (self.old_id != self.new_id or not self.was_file)


class Repository:
    """A repository whose `HEAD` has a commit. `folder` is its working tree, or itself where it is bare."""

    def __init__(self, folder: str | os.PathLike[str], program: str = "git") -> None:
        """`program` is git; raises `ProgramMissing`, `RepositoryNotFound`, `RepositoryRefused`, `CorruptRepository`."""
        self.folder: Final = os.path.realpath(folder)
        self._program = program
        self.name: Final = os.path.basename(self.folder.removesuffix("/.git")).removesuffix(".git") or "repository"
        if not os.path.isdir(self.folder):
            hint = "give the folder of a repository on this machine; one elsewhere has to be cloned first"
            raise RepositoryNotFound(f"{folder} is not a folder", repository=os.fspath(folder), hint=hint)
        done = self._run("rev-parse", "--is-shallow-repository")
        if done.returncode:
            raise self._unusable(done.stderr)
        if done.stdout.strip() == b"true":
            raise RepositoryRefused(
                f"{self.folder} is a shallow clone: its history is cut off",
                repository=self.folder,
                hint=command("git", "-C", self.folder, "fetch", "--unshallow"),
            )
        head = self._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if head.returncode:
            # Telling a branch that is not born yet from one whose commit cannot be read.
            if self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode == 0 or self._has_branch():
                raise self._corrupt(head.stderr or b"the commit that HEAD names cannot be read")
            raise RepositoryNotFound(f"{self.folder} has no commit yet", repository=self.folder)
        self.head: Final = head.stdout.decode().strip()
        done = self._run("rev-list", "--first-parent", "--reverse", self.head)
        if done.returncode:
            raise self._corrupt(done.stderr)
        # The first-parent history, oldest first.
        self.chain: Final = done.stdout.decode().split()

    def steps(self, last: str | None) -> list[Step]:
        """Returns the first-parent history behind the commit `last`, oldest first (`None`: all of it).

        Where `last` came in by a merge, its changes were in before those of the merge, which is then compared with it.
        """
        if last is None:
            return [Step(commit, parent) for commit, parent in zip(self.chain, [None, *self.chain], strict=False)]
        try:
            at = self.chain.index(last) + 1
        except ValueError:
            at = self._first_with(last)
        behind = self.chain[at:]
        return [Step(commit, parent) for commit, parent in zip(behind, [last, *behind], strict=False)]

    def deltas(self, steps: Sequence[Step], glob: str) -> Iterator[tuple[Commit, Delta]]:
        """Yields what the steps did to files that match, in order; renames are looked for among those."""
        lines = (f"{step.commit} {step.parent}\n" if step.parent else f"{step.commit}\n" for step in steps)
        command = (
            *("diff-tree", "--stdin", "-r", "--root", "--raw", "-z", "--no-abbrev", "--encoding=UTF-8"),
            *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--format=%H %at %an <%ae>"),
            *(f"-M{SIMILARITY}%", f"-l{_RENAME_LIMIT}", "--", f":(top,glob){glob}"),
        )
        yield from _parsed(self._stream(command, lines))

    def blobs(self, *, sizes_only: bool = False) -> "Blobs":
        """Opens the repository's files; with `sizes_only` none is read."""
        command = [*self._command(), "cat-file", "--batch-check" if sizes_only else "--batch"]
        return Blobs(self, self._popen(command), sizes_only=sizes_only)

    def _first_with(self, commit: str) -> int:
        """Returns the place of the oldest commit in the history that `commit` is an ancestor of."""
        if not self._is_ancestor(commit, self.head):
            raise HistoryRewritten(
                f"commit {commit[:12]}, the last that was imported, is not in the history of {self.folder} any more",
                repository=self.folder,
                commit=commit,
                hint="import into another folder with --into",
            )
        low, high = 0, len(self.chain) - 1
        while low < high:
            middle = (low + high) // 2
            if self._is_ancestor(commit, self.chain[middle]):
                high = middle
            else:
                low = middle + 1
        return low

    def _is_ancestor(self, older: str, newer: str) -> bool:
        return self._run("merge-base", "--is-ancestor", older, newer).returncode == 0

    def _has_branch(self) -> bool:
        return bool(self._run("for-each-ref", "--count=1", "refs/heads").stdout.strip())

    def _command(self) -> list[str]:
        return [self._program, "--no-pager", *_SETTINGS]

    def _environment(self) -> dict[str, str]:
        # A repository is what was named, and not one that lies above it.
        return {**_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": os.path.dirname(self.folder)}

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603, the program is git and the arguments are ours
                [*self._command(), *arguments],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            raise self._missing() from None

    def _popen(self, command: Sequence[str], errors: IO[bytes] | None = None) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(  # noqa: S603
                command,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors or subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise self._missing() from None

    def _stream(self, command: Sequence[str], lines: Iterable[str]) -> Iterator[bytes]:
        """Yields the pieces between the NULs of what git writes when it is given lines."""
        with tempfile.TemporaryFile() as errors, self._popen([*self._command(), *command], errors) as process:
            feeder = threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True)
            feeder.start()
            try:
                assert process.stdout is not None  # noqa: S101, it is a pipe
                rest = b""
                while piece := os.read(process.stdout.fileno(), _READ):
                    *whole, rest = (rest + piece).split(b"\0")
                    yield from whole
                if process.wait():
                    errors.seek(0)
                    raise self._corrupt(errors.read(_READ))
            finally:
                process.kill()
                feeder.join()

    def _missing(self) -> ProgramMissing:
        return ProgramMissing(f"cannot run {self._program}", program=self._program, hint="install git")

    def _corrupt(self, said: bytes) -> CorruptRepository:
        return CorruptRepository(
            f"git cannot read all of {self.folder}: {_first_line(said)}",
            repository=self.folder,
            hint=f"{command('git', '-C', self.folder, 'fsck')} says what is damaged",
        )

    def _unusable(self, said: bytes) -> RepositoryNotFound | RepositoryRefused | CorruptRepository:
        if b"dubious ownership" in said:
            return RepositoryRefused(
                f"{self.folder} belongs to another user",
                repository=self.folder,
                hint="clone it, and import the clone",
            )
        if b"not a git repository" in said:
            hint = "give the folder that holds .git, or a bare repository"
            return RepositoryNotFound(f"{self.folder} is not a git repository", repository=self.folder, hint=hint)
        return self._corrupt(said)


class Blob(NamedTuple):
    """A file's content, or only its size where it was not read."""

    size: int
    content: bytes | None


class Blobs:
    """The files of a repository, by their ids. Use it as a context."""

    # As many ids as a pipe takes, however small it is: while they are written nobody reads what git answers.
    AT_ONCE: Final = 100

    def __init__(self, repository: Repository, process: "subprocess.Popen[bytes]", *, sizes_only: bool) -> None:
        self._repository, self._process, self._sizes_only = repository, process, sizes_only

    def read(self, ids: Sequence[str], limit: int) -> list[Blob]:
        """Returns at most `AT_ONCE` files; the content of one with more than `limit` bytes is left out."""
        source, answers = self._process.stdin, self._process.stdout
        assert source is not None and answers is not None  # noqa: S101, PT018, they are pipes
        try:
            source.write("".join(f"{name}\n" for name in ids).encode())
            source.flush()
            return [self._answer(answers, name, limit) for name in ids]
        except (BrokenPipeError, ValueError) as error:
            raise self._unreadable(", ".join(ids[:1])) from error

    def _answer(self, answers: IO[bytes], name: str, limit: int) -> Blob:
        words = answers.readline().split()
        if len(words) != 3 or words[1] != b"blob":  # noqa: PLR2004, id, type and size
            raise self._unreadable(name)
        size = int(words[2])
        if self._sizes_only:
            return Blob(size, None)
        content = None
        if size <= limit:
            content = answers.read(size)
        else:
            left = size
            while left and (piece := answers.read(min(left, _READ))):
                left -= len(piece)
        if answers.read(1) != b"\n":
            raise self._unreadable(name)
        return Blob(size, content)

    def _unreadable(self, name: str) -> CorruptRepository:
        return CorruptRepository(
            f"git cannot read object {name} of {self._repository.folder}",
            repository=self._repository.folder,
            hint=f"{command('git', '-C', self._repository.folder, 'fsck')} says what is damaged",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _feed(pipe: IO[bytes] | None, lines: Iterable[str]) -> None:
    assert pipe is not None  # noqa: S101, it is a pipe
    try:
        with pipe:
            for line in lines:
                pipe.write(line.encode())
    except (BrokenPipeError, ValueError):  # git ended early, or was ended; its exit code says which
        pass


def _parsed(pieces: Iterator[bytes]) -> Iterator[tuple[Commit, Delta]]:
    commit = Commit("", 0, "")
    for piece in pieces:
        record = piece.lstrip(b"\n")
        if not record.startswith(b":"):
            commit = _commit(record)
            continue
        old_mode, new_mode, old_id, new_id, status = record[1:].decode().split(" ")
        source = path = _path(next(pieces))
        if status[0] in "RC":
            path = _path(next(pieces))
        yield (
            commit,
            Delta(status[0], old_mode.startswith("100"), new_mode.startswith("100"), old_id, new_id, source, path),
        )


def _commit(header: bytes) -> Commit:
    name, _, rest = header.partition(b" ")
    time, _, author = rest.partition(b" ")
    try:
        ts_ns = min(max(int(time), 0) * _NS, _MAX_NS)
    except ValueError:  # a commit that says no time
        ts_ns = 0
    return Commit(name.decode(), ts_ns, author.decode(errors="replace").strip() or "unknown")


def _path(raw: bytes) -> str:
    # What is not UTF-8 is written as an escape: a row can hold it, and no memory is called so.
    return raw.decode("utf-8", "backslashreplace")


def _first_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else "it does not say why"
