"""Importing a folder's files, and the patterns that choose them."""

import os
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.core.reader import AuditChainReader
from cyberos.errors import BadArgument
from cyberos.exchange import globs
from cyberos.operations import importing
from tests.exchange.repositories import git


@pytest.fixture
def import_dir(store):
    def run(folder, into="memories/d", **options):
        return importing.import_dir(str(store), str(folder), actor="ann", into=into, **options)

    return run


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notes"
    for name, content in {
        "a.md": b"a\n",
        "A.md": b"A\n",
        "b.txt": b"b\n",
        "sub dir/über.MD": b"u\n",
        "sub dir/c.md": b"c\n",
        "large.md": b"x" * (2 << 20),
        ".git/d.md": b"no\n",
        "inner/.cyberos/memory/store/memories/x.md": b"no\n",
        "inner/.cyberos/memory/store/manifest.json": b"{}",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    os.symlink(folder / "a.md", folder / "link.md")
    os.symlink(folder, folder / "loop")
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"bad-\xff.md")).write_bytes(b"bad\n")
    return folder


def test_files_become_memories_and_again_only_what_changed(store, folder, import_dir):
    said = import_dir(folder, dry_run=True)
    assert AuditChainReader(store).last_seq() == 0
    done = import_dir(folder)
    assert said._replace(dry_run=False) == done
    assert (done.files, done.puts, done.unchanged) == (5, 4, 0)
    assert [item.source for item in done.skipped] == ["large.md"]
    mapped = {item.source: item.path for item in done.mapped}
    assert mapped.keys() == {"a.md", "bad-\\xff.md"}
    files = {str(f.relative_to(store / "memories/d")): f.read_bytes() for f in (store / "memories").rglob("*.md")}
    assert files == {
        "A.md": b"A\n",
        mapped["a.md"].removeprefix("memories/d/"): b"a\n",
        "bad-_xff.md": b"bad\n",
        "sub dir/c.md": b"c\n",
    }
    (folder / "a.md").write_bytes(b"a2\n")
    again = import_dir(folder)
    assert (again.puts, again.unchanged) == (1, 3)
    assert (store / mapped["a.md"]).read_bytes() == b"a2\n"
    assert (store / "memories/d/A.md").read_bytes() == b"A\n"
    row = AuditChainReader(store).row(5)
    assert (row["actor"], row["extra"]["imported"]) == ("ann", {"from": "dir", "path": "a.md"})


def test_a_file_that_grows_or_goes_is_skipped(folder, import_dir, monkeypatch):
    real = os.open
    monkeypatch.setattr(os, "open", lambda file, *args: real(str(file).replace("c.md", "gone.md"), *args))
    done = import_dir(folder)
    assert [item.why for item in done.skipped if item.source == "sub dir/c.md"] == [
        "it cannot be read: No such file or directory"
    ]


def test_what_is_no_folder(tmp_path, import_dir):
    with pytest.raises(BadArgument, match="is not a folder"):
        import_dir(tmp_path / "nowhere")


def test_what_it_says(cli, store, folder):
    done = cli("--store", store, "import", "dir", folder, "--glob", "sub dir/*", "--dry-run")
    mapped = "sub dir/über.MD → memories/notes/sub dir/über.md\n"
    assert done == (0, mapped + "would import 2 of 2 files into memories/notes; 0 are there already\n", "")
    done = cli("--store", store, "import", "dir", folder)
    assert done.out.endswith("imported 4 of 5 files into memories/notes; 0 are there already\n")


PATHS = ("a.md", "a/b.md", "a/b/c.md", "b.txt", ".x/a.md", "a/[x].md", "ab.md", "a/.md", "x^y.md", "a!.md")
PATTERNS = st.lists(
    st.sampled_from(["*", "?", "**/", "/", "a", "b", ".md", "[ab]", "[!a]", "[a-c]", "[", "]", "^", "**", "[^]", "x"]),
    min_size=1,
    max_size=5,
).map("".join)


@pytest.fixture(scope="module")
def tracked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("globs")
    git(folder, "init", "-q", ".")
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")
    git(folder, "add", "-f", ".")
    return folder


@pytest.mark.parametrize(
    "glob",
    ["**/*.md", "*.md", "a/**", "**", "a/*/c.md", "**/b/*.md", "[!a]*.md", "?.md", "a/[[]x].md", "*", "**/[a-b].md"],
)
def test_patterns_mean_what_they_mean_to_git(tracked, glob):
    assert matched(glob) == by_git(tracked, glob)


@given(PATTERNS)
def test_every_pattern_is_one_or_is_refused(glob):
    with suppress(BadArgument):
        matched(glob)


def matched(glob):
    return {path for path in PATHS if globs.compiled(glob).fullmatch(path)}


def by_git(folder, glob):
    said = subprocess.run(
        ["git", "ls-files", "-z", "--", f":(top,glob){glob}"], cwd=folder, capture_output=True, check=True
    ).stdout
    return {os.fsdecode(path) for path in said.split(b"\0") if path}


def test_fields_that_lie_beside_a_file_are_told_since_no_row_could_tell_of_them(store, tmp_path, import_dir):
    folder = tmp_path / "upstream"
    folder.mkdir()
    for name in ("a.md", "a.meta.json", "b.md", "c.meta.json"):
        (folder / name).write_text("{}")
    done = import_dir(folder)
    assert [(item.source, item.why.partition(",")[0]) for item in done.skipped] == [
        ("a.meta.json", "it holds fields of memories/d/a.md")
    ]
    again = import_dir(folder, glob="**/*", dry_run=True)
    assert [item.source for item in again.skipped] == ["a.meta.json", "c.meta.json"]
    assert (done.puts, done.files, again.unchanged, again.files) == (2, 2, 2, 4)
