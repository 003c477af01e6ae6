"""Makes git repositories for tests, with git's own fast-import, and asks git what is in them."""

import os
import random
import subprocess
from pathlib import Path
from typing import NamedTuple

FILE, PROGRAM, LINK, MODULE = "100644", "100755", "120000", "160000"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "LC_ALL": "C",
}
START = 1_600_000_000
Tree = dict[str, tuple[str, bytes]]


class Commit(NamedTuple):
    """A whole tree; `parents` are places of earlier commits (default: the one before)."""

    tree: Tree
    parents: tuple[int, ...] | None = None
    author: str = "Ada Lovelace <ada@example.org>"


def git(folder: Path, *args: str, stdin: bytes = b"", check: bool = True) -> bytes:
    return subprocess.run(
        ["git", *args], cwd=folder, input=stdin, capture_output=True, check=check, env=ENVIRONMENT
    ).stdout


def make(folder: Path, commits: list[Commit], *, bare: bool = False) -> Path:
    """Makes a repository whose branch main ends with the last commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", *(["--bare"] if bare else []), ".")
    lines: list[bytes] = []
    for number, commit in enumerate(commits):
        parents = commit.parents if commit.parents is not None else ((number - 1,) if number else ())
        lines.append(f"commit refs/heads/{'main' if number == len(commits) - 1 else f'c{number}'}".encode())
        lines.append(f"mark :{number + 1}".encode())
        lines.append(f"author {commit.author} {START + number * 3_600} +0200".encode())
        lines.append(f"committer Charles <c@example.org> {START + number * 3_600 + 60} +0000".encode())
        message = f"commit {number}\n\nwith a text".encode()
        lines.append(b"data %d\n%s" % (len(message), message))
        for place, parent in enumerate(parents):
            lines.append(f"{'merge' if place else 'from'} :{parent + 1}".encode())
        lines.append(b"deleteall")
        for path, (mode, content) in commit.tree.items():
            quoted = (
                b'"' + os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
            )
            if mode == MODULE:
                lines.append(b"M 160000 %s %s" % (content, quoted))
            else:
                lines.append(b"M %s inline %s" % (mode.encode(), quoted))
                lines.append(b"data %d\n%s" % (len(content), content))
    git(folder, "fast-import", "--quiet", "--force", stdin=b"\n".join(lines) + b"\n")
    return folder


NAMES = (
    *("a.md", "b.md", "README.md", "docs/one.md", "docs/two words.md", "docs/über.md", "x/y/z/deep.md"),
    *("notes.txt", "x/code.py", ".github/bug.md", "docs/日本語.md", "UPPER.MD"),
)


def wild(seed: int, length: int) -> list[Commit]:
    """A linear history of everything that files do."""
    dice = random.Random(seed)
    tree: Tree = {}
    commits = []
    for _ in range(length):
        for _ in range(dice.choice((1, 1, 2, 5))):
            tree = _changed(dice, tree)
        commits.append(Commit(dict(tree), author=dice.choice(("Ada <ada@x>", "Zoë <z@x>", "no address <>"))))
    return commits


def _changed(dice: random.Random, tree: Tree) -> Tree:
    tree = dict(tree)
    new = dice.choice(NAMES) if dice.random() < 0.7 else f"made/{dice.randrange(10**6)}.md"
    old = dice.choice(sorted(tree)) if tree else None
    sort = dice.random()
    if old is None or sort < 0.30:
        tree[new] = (FILE, text(dice))
    elif sort < 0.50:
        mode, content = tree[old]
        tree[old] = (mode, content if mode == MODULE else edited(dice, content))
    elif sort < 0.65:  # renamed, perhaps with a change
        mode, content = tree.pop(old)
        tree[new] = (mode, content if dice.random() < 0.5 or mode == MODULE else edited(dice, content))
    elif sort < 0.72:  # swapped
        other = dice.choice(sorted(tree))
        tree[old], tree[other] = tree[other], tree[old]
    elif sort < 0.78:  # a chain: the second takes the place of the third, the first that of the second
        other = dice.choice(sorted(tree))
        if other != old:
            tree[new] = tree[other]
            tree[other] = tree.pop(old)
    elif sort < 0.86:
        del tree[old]
    elif sort < 0.90:
        mode, content = tree[old]
        tree[old] = (PROGRAM if mode == FILE else mode, content)
    elif sort < 0.94:
        tree[old] = dice.choice(((LINK, b"a.md"), (MODULE, b"1" * 40)))
    else:
        tree[new] = (FILE, dice.choice((b"", b"\0\1\xff" * 30, b"no line feed")))
    return tree


def text(dice: random.Random) -> bytes:
    return b"".join(b"line %d\n" % dice.randrange(10**9) for _ in range(dice.randrange(1, 30)))


def edited(dice: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    lines[dice.randrange(len(lines))] = b"edited %d\n" % dice.randrange(10**9)
    return b"".join(lines)


class Record(NamedTuple):
    """One raw record, as git's log says it."""

    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    source: str
    path: str


def raw_log(folder: Path, *options: str, glob: str = "**/*.md") -> list[tuple[str, list[Record]]]:
    """What `git log --raw` says, oldest first; commits without a record are left out."""
    said = git(
        folder,
        *("log", "--first-parent", "-m", "--reverse", "--raw", "-z", "--no-abbrev", "--format=%x01%H", *options),
        *("--", f":(glob){glob}"),
    )
    found: list[tuple[str, list[Record]]] = []
    pieces = iter(said.split(b"\0"))
    for raw in pieces:
        piece = raw.strip(b"\n")
        if piece.startswith(b"\1"):
            found.append((piece[1:].decode(), []))
        elif piece:
            old_mode, new_mode, old_id, new_id, status = piece[1:].decode().split()
            source = path = os.fsdecode(next(pieces))
            if status[0] in "RC":
                path = os.fsdecode(next(pieces))
            found[-1][1].append(Record(status[0], old_mode, new_mode, old_id, new_id, source, path))
    return [(commit, records) for commit, records in found if records]
