"""An import says what git says: the same changes by commit, and the same contents."""

import hashlib
from collections import defaultdict
from pathlib import Path

import pytest

from cyberos._native import split_memory
from cyberos.core.history import walk
from cyberos.core.reader import AuditChainReader
from tests.exchange.conftest import imported_rows
from tests.exchange.repositories import FILE, PROGRAM, Commit, git, make, raw_log, wild

FILES = (FILE, PROGRAM)
ROOT = Path(__file__).parents[2]


def expected(repository):
    """The changes that git's log means, by commit: (kind, source, path)."""
    commits = {}
    for commit, records in raw_log(repository, "-M50%", "-l1000"):
        changes = []
        for record in records:
            was, now = record.old_mode in FILES, record.new_mode in FILES
            if record.status == "R" and was and now:
                changes.append(("move", record.source, record.path))
            if was and not now:
                changes.append(("delete", record.source, record.source))
            elif now and (not was or record.old_id != record.new_id):
                changes.append(("put", record.path, record.path))
        if changes:
            commits[commit] = sorted(changes)
    return commits


def told(rows):
    """The same from the log's rows; where a memory is from is known from the row that made it."""
    commits = defaultdict(list)
    sources = {}
    for row in rows:
        origin = row["extra"]["imported"]
        if row["op"] == "move":
            sources[row["extra"]["to"]] = origin["path"]
            change = ("move", sources.pop(row["path"]), origin["path"])
        else:
            sources.setdefault(row["path"], origin["path"])
            assert sources[row["path"]] == origin["path"]
            change = (row["op"], origin["path"], origin["path"])
            if row["op"] == "delete":
                del sources[row["path"]]
        commits[origin["commit"]].append(change)
    return {commit: sorted(changes) for commit, changes in commits.items()}


def trees(repository):
    """The plain files that match, with their blobs, after each commit that changed one."""
    tree: dict[str, str] = {}
    found = {}
    for commit, records in raw_log(repository, "--no-renames"):
        for record in records:
            tree.pop(record.path, None)
            if record.new_mode in FILES:
                tree[record.path] = record.new_id
        found[commit] = dict(tree)
    return found


def digests(repository, ids):
    """SHA-256 of blobs."""
    ids = sorted(ids)
    said, found, at = git(repository, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in ids).encode()), {}, 0
    for name in ids:
        begin = said.index(b"\n", at) + 1
        at = begin + int(said[at:begin].split()[2])
        found[name] = hashlib.sha256(said[begin:at]).hexdigest()
        at += 1
    return found


def check_trees(store, repository, rows):
    """After the last row of each commit, the memories are the files of its tree."""
    wanted = trees(repository)
    ids = digests(repository, {name for tree in wanted.values() for name in tree.values()})
    reader = AuditChainReader(store)
    living: dict[str, tuple[str, str]] = {}
    last = None
    by_commit = {}
    for row in rows:
        origin = row["extra"]["imported"]
        if origin["commit"] != last and last is not None:
            by_commit[last] = dict(living.values())
        last = origin["commit"]
        if row["op"] == "move":
            living[row["extra"]["to"]] = (origin["path"], living.pop(row["path"])[1])
        elif row["op"] == "delete":
            del living[row["path"]]
        else:
            living[row["path"]] = (origin["path"], row["content_sha256"])
            assert reader.native.body(row["content_sha256"])[0] is not None
    if last is not None:
        by_commit[last] = dict(living.values())
    for commit, found in by_commit.items():
        assert found == {path: ids[name] for path, name in wanted[commit].items()}, commit


def applied(older, diff):
    """Applies a unified diff to lines."""
    old, new, at = older.splitlines(keepends=True), [], 0
    lines = diff.splitlines(keepends=True)[2:]
    for number, line in enumerate(lines):
        bare = number + 1 < len(lines) and lines[number + 1].startswith("\\")
        text = line[1:].removesuffix("\n") if bare else line[1:]
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:])
            count = int(line.split()[1].partition(",")[2] or 1)
            begin = start - 1 if count else start
            new += old[at:begin]
            at = begin
        elif line.startswith("+"):
            new.append(text)
        elif line.startswith((" ", "-")):
            assert old[at] == text
            new += [text] * line.startswith(" ")
            at += 1
    return "".join(new + old[at:])


def check_diffs(store, paths):
    """Each row's diff, applied to the older body, gives the body that the row wrote; returns how many there were."""
    reader = AuditChainReader(store)
    count = 0
    for path in paths:
        for entry in walk(store, path):
            if entry.body_diff is None:
                assert entry.body_diff_reason in ("no_content", "first", "binary")
                continue
            assert entry._source
            assert entry._source[0].older
            versions = [reader.native.body(sha)[0] for sha in (entry._source[0].older[0], entry.body_hash or "")]
            before, after = (split_memory(version or b"")[2].decode() for version in versions)
            assert applied(before, entry.body_diff) == after
            count += 1
    return count


@pytest.mark.parametrize("seed", range(6))
def test_rows_by_commit_are_gits_log_and_memories_are_its_files(tmp_path, store, import_git, seed):
    repository = make(tmp_path / "repository", wild(seed, 40))
    done = import_git(repository)
    rows = imported_rows(store)
    assert told(rows) == expected(repository)
    check_trees(store, repository, rows)
    assert check_diffs(store, {row["path"] for row in rows})
    assert (done.commits, done.skipped) == (40, ())
    assert len(rows) == done.puts + done.moves + done.deletes


def test_merges_count_as_what_they_did_to_their_first_parent(tmp_path, store, import_git):
    side = wild(100, 12)
    commits = list(wild(101, 12))
    base = len(commits)
    commits += [Commit(commit.tree, (4,) if not number else None) for number, commit in enumerate(side)]
    commits.append(Commit({**commits[base - 1].tree, "merged.md": (FILE, b"both\n")}, (base - 1, len(commits) - 1)))
    commits.append(Commit({"last.md": (FILE, b"1\n")}))
    repository = make(tmp_path / "repository", commits)
    import_git(repository)
    rows = imported_rows(store)
    assert told(rows) == expected(repository)
    check_trees(store, repository, rows)
    assert rows[0]["extra"]["imported"]["path"] != "merged.md"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_this_repositorys_own_history(store, import_git):
    import_git(ROOT)
    rows = imported_rows(store)
    assert told(rows) == expected(ROOT)
    check_trees(store, ROOT, rows)
    assert check_diffs(store, [memory.path for memory in AuditChainReader(store).native.memories_at()[0]]) > 20
