"""An import that is interrupted anywhere continues where it stopped, and nothing is imported twice."""

import random
import signal
import subprocess
import sys
from typing import Any

import pytest

from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import HistoryRewritten
from cyberos.exchange import git_import
from cyberos.operations import importing, verify
from tests.exchange.conftest import essence, imported_rows
from tests.exchange.repositories import FILE, Commit, git, make, wild


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made") / "repository", wild(7, 60))


@pytest.fixture
def whole(repository, tmp_path, cli):
    """What an import that nobody interrupts writes."""
    other = tmp_path / "other"
    assert cli("init", other).code == 0
    importing.import_git(str(other), str(repository), actor="ann", into="memories/r")
    return essence(imported_rows(other))


def kinds(store):
    return [row["op"] for row in AuditChainReader(store).iter_rows() if row["op"].startswith("import.")]


@pytest.mark.parametrize("seed", range(6))
def test_wherever_it_is_killed_it_goes_on_there(store, import_git, repository, whole, monkeypatch, seed):
    dice = random.Random(seed)
    monkeypatch.setattr(git_import, "_ROWS", dice.choice((1, 2, 7)))
    real = Writer.apply
    left = [0]

    def apply(self, changes, **options):
        left[0] -= 1
        if left[0]:
            return real(self, changes, **options)
        # What a crash leaves of a group are some of its rows, from the first on.
        count = dice.randrange(len(changes) + 1)
        cut: dict[str, Any] = {
            key: value[:count] if isinstance(value, list) else value for key, value in options.items()
        }
        if count:
            real(self, changes[:count], **cut)
        raise KilledError

    monkeypatch.setattr(Writer, "apply", apply)
    killed = 0
    while True:
        left[0] = dice.randrange(1, 12)
        try:
            import_git(repository)
        except KilledError:
            killed += 1
            continue
        break
    assert killed > 2
    assert essence(imported_rows(store)) == whole
    # It may have been killed before its first row, but it began once.
    assert kinds(store) == ["import.start", "import.end"]
    assert verify.verify(str(store), deep=True).ok


def test_a_process_that_is_killed_leaves_whole_commits_and_the_next_one_goes_on(store, import_git, repository, whole):
    script = (
        "import os, signal, sys\n"
        "from cyberos.core.writer import Writer\n"
        "from cyberos.exchange import git_import\n"
        "from cyberos.operations import importing\n"
        "git_import._ROWS = 20\n"
        "real, left = Writer.apply, [4]\n"
        "def apply(self, changes, **options):\n"
        "    done = real(self, changes, **options)\n"
        "    left[0] -= 1\n"
        "    left[0] or os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return done\n"
        "Writer.apply = apply\n"
        "importing.import_git(sys.argv[1], sys.argv[2], actor='ann', into='memories/r')\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(store), str(repository)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    rows = imported_rows(store)
    assert 0 < len(rows) < len(whole)
    import_git(repository)
    assert essence(imported_rows(store)) == whole
    living = {memory.path: memory.content_sha256 for memory in AuditChainReader(store).native.memories_at()[0]}
    files = {file.relative_to(store).as_posix() for file in (store / "memories").rglob("*") if file.is_file()}
    assert files == set(living)


def test_what_is_in_is_not_imported_again(store, import_git, repository):
    import_git(repository)
    last = AuditChainReader(store).last_seq()
    again = import_git(repository)
    assert (again.commits, again.puts, again.moves, again.deletes) == (0, 0, 0, 0)
    assert AuditChainReader(store).last_seq() == last


def test_new_commits_are_added_and_the_same_as_if_all_came_at_once(tmp_path, store, import_git, repository, whole):
    commits = wild(7, 60)
    for length in (1, 17, 18, 60):
        folder = tmp_path / f"clone-{length}"
        git(tmp_path, "clone", "-q", "--no-checkout", str(repository), str(folder))
        behind = len(commits) - length
        git(folder, "update-ref", "HEAD", git(folder, "rev-parse", f"HEAD~{behind}").decode().strip())
        import_git(folder)
    assert essence(imported_rows(store)) == whole


def test_a_dry_run_says_what_will_be_done_and_writes_nothing(store, import_git, repository):
    said = import_git(repository, dry_run=True)
    assert AuditChainReader(store).last_seq() == 0
    done = import_git(repository)
    assert said._replace(dry_run=False) == done
    assert done.mapped


def test_a_history_that_was_rewritten_is_refused(tmp_path, store, import_git):
    first = make(tmp_path / "first", [Commit({"a.md": (FILE, b"1\n")}), Commit({"a.md": (FILE, b"2\n")})])
    import_git(first)
    last = AuditChainReader(store).last_seq()
    git(first, "update-ref", "HEAD", git(first, "rev-parse", "HEAD~1").decode().strip())
    with pytest.raises(HistoryRewritten, match="not in the history"):
        import_git(first)
    assert AuditChainReader(store).last_seq() == last


def test_where_the_line_of_first_parents_changed_only_what_is_missing_is_added(tmp_path, store, import_git):
    one = (FILE, b"one\n")
    commits = [
        Commit({"a.md": one}),
        Commit({"a.md": one, "mine.md": one}),  # was the head when it was imported
        Commit({"a.md": one, "theirs.md": one}, (0,)),
        Commit({"a.md": one, "theirs.md": one, "mine.md": one}, (2, 1)),  # they merged it
        Commit({"a.md": (FILE, b"two\n"), "theirs.md": one, "mine.md": one}),
    ]
    repository = make(tmp_path / "repository", commits)
    head = git(repository, "rev-parse", "main").decode().strip()
    git(repository, "update-ref", "HEAD", git(repository, "rev-parse", "main~1^2").decode().strip())
    import_git(repository)
    git(repository, "update-ref", "HEAD", head)
    done = import_git(repository)
    assert (done.commits, done.puts) == (2, 2)
    rows = [(row["op"], row["path"]) for row in imported_rows(store)]
    assert rows == [("put", f"memories/r/{name}.md") for name in ("a", "mine", "theirs", "a")]


def test_a_memory_that_was_moved_or_deleted_meanwhile_does_not_stop_an_import(tmp_path, store, import_git):
    text = b"".join(b"line %d\n" % n for n in range(20))
    commits = [
        Commit({"a.md": (FILE, text), "b.md": (FILE, b"b\n"), "c.md": (FILE, b"c\n")}),
        Commit({"renamed.md": (FILE, text)}),
        Commit({"renamed.md": (FILE, text + b"more\n")}),
    ]
    repository = make(tmp_path / "repository", commits)
    head = git(repository, "rev-parse", "main").decode().strip()
    git(repository, "update-ref", "HEAD", git(repository, "rev-parse", "main~2").decode().strip())
    import_git(repository)
    with Writer(store, actor="bob") as writer:
        writer.delete("memories/r/a.md")
        writer.move("memories/r/b.md", "memories/mine.md")
    git(repository, "update-ref", "HEAD", head)
    import_git(repository)
    paths = [memory.path for memory in AuditChainReader(store).native.memories_at()[0]]
    assert paths == ["memories/mine.md", "memories/r/renamed.md"]
    assert (store / "memories/r/renamed.md").read_bytes() == text + b"more\n"


def test_memories_of_others_are_not_overwritten(tmp_path, store, import_git):
    with Writer(store, actor="bob") as writer:
        writer.put("memories/r/a.md", "bob's\n")
    (store / "memories/r/B.md").write_text("not recorded yet\n")
    repository = make(tmp_path / "repository", [Commit({"a.md": (FILE, b"a\n"), "b.md": (FILE, b"b\n")})])
    done = import_git(repository)
    assert [item.why for item in done.mapped] == ["collision", "collision"]
    assert (store / "memories/r/a.md").read_text() == "bob's\n"
    assert (store / "memories/r/B.md").read_text() == "not recorded yet\n"
    assert {(store / item.path).read_bytes() for item in done.mapped} == {b"a\n", b"b\n"}
