"""Repositories that are not as they should be, or that mean harm."""

import os

import pytest

from cyberos.core.reader import AuditChainReader
from cyberos.errors import (
    AclDenied,
    BadArgument,
    CorruptRepository,
    ProgramMissing,
    RepositoryNotFound,
    RepositoryRefused,
)
from tests.exchange.conftest import imported_rows
from tests.exchange.repositories import FILE, LINK, MODULE, Commit, git, make

A = Commit({"a.md": (FILE, b"1\n")})


def empty(store):
    return AuditChainReader(store).last_seq() == 0 and not list((store / "memories").iterdir())


def test_no_repository(tmp_path, store, import_git):
    with pytest.raises(RepositoryNotFound, match="is not a folder"):
        import_git(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RepositoryNotFound, match="is not a git repository"):
        import_git(tmp_path / "folder")
    # Nor is a folder inside of one, or what is found by going up.
    (make(tmp_path / "r", [A]) / "sub").mkdir()
    with pytest.raises(RepositoryNotFound, match="is not a git repository"):
        import_git(tmp_path / "r" / "sub")
    assert empty(store)


def test_a_repository_without_a_commit(tmp_path, store, import_git):
    git(tmp_path, "init", "-q", "r")
    with pytest.raises(RepositoryNotFound, match="has no commit yet"):
        import_git(tmp_path / "r")
    assert empty(store)


def test_a_shallow_clone(tmp_path, store, import_git):
    make(tmp_path / "r", [A, Commit({"a.md": (FILE, b"2\n")})])
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/r", "shallow")
    with pytest.raises(RepositoryRefused, match="shallow"):
        import_git(tmp_path / "shallow")
    assert empty(store)


def test_a_bare_repository_and_a_git_folder_are_fine(tmp_path, store, import_git):
    make(tmp_path / "r.git", [A], bare=True)
    done = import_git(tmp_path / "r.git", into=None)
    assert (done.into, done.puts) == ("memories/r", 1)
    make(tmp_path / "s", [A])
    assert import_git(tmp_path / "s" / ".git", into=None).into == "memories/s"


def test_no_git(tmp_path, store, import_git):
    with pytest.raises(ProgramMissing, match="cannot run /nowhere/git"):
        import_git(make(tmp_path / "r", [A]), git="/nowhere/git")


@pytest.mark.parametrize("what", ["blob", "tree", "commit", "head"])
def test_a_corrupt_repository_leaves_the_commits_before(tmp_path, store, import_git, what):
    commits = [Commit({"a.md": (FILE, b"%d\n" % n), "b.md": (FILE, b"b%d\n" % n)}) for n in range(6)]
    repository = make(tmp_path / "r", commits)
    named = {"blob": "main~2:b.md", "tree": "main~2^{tree}", "commit": "main~2", "head": "main"}[what]
    name = git(repository, "rev-parse", named).decode().strip()
    file = repository / ".git/objects" / name[:2] / name[2:]  # few objects are not packed
    content = file.read_bytes()
    file.unlink()
    with pytest.raises(CorruptRepository) as raised:
        import_git(repository)
    assert "fsck" in raised.value.hints[0]
    if what in ("commit", "head"):
        assert empty(store)
        return
    rows = imported_rows(store)
    # Mended, it goes on there.
    file.write_bytes(content)
    import_git(repository)
    assert len(imported_rows(store)) == 12 > len(rows)


def test_files_that_are_too_large_are_skipped_and_told(tmp_path, store, import_git):
    large = b"x" * (3 << 20)
    commits = [
        Commit({"a.md": (FILE, b"1\n")}),
        Commit({"a.md": (FILE, large), "b.md": (FILE, large)}),
        Commit({"a.md": (FILE, b"3\n"), "c.md": (FILE, large)}),
        Commit({"c.md": (FILE, b"4\n")}),
    ]
    repository = make(tmp_path / "r", commits)
    said = import_git(repository, dry_run=True)
    done = import_git(repository)
    assert said._replace(dry_run=False) == done
    assert [(item.source, item.why) for item in done.skipped] == [
        (name, "it has 3,145,728 bytes; a memory has at most 1,048,576") for name in ("a.md", "b.md", "c.md")
    ]
    rows = [(row["op"], row["path"].removeprefix("memories/r/")) for row in imported_rows(store)]
    assert rows == [("put", "a.md"), ("put", "a.md"), ("delete", "a.md"), ("put", "c.md")]


def test_names_that_differ_by_case_or_form_or_that_no_memory_can_have(tmp_path, store, import_git):
    tree = {
        "README.md": (FILE, b"1\n"),
        "Readme.md": (FILE, b"2\n"),
        "caf\u00e9.md": (FILE, b"3\n"),
        "cafe\u0301.md": (FILE, b"4\n"),
        ".hidden/x.md": (FILE, b"5\n"),
        os.fsdecode(b"latin-\xe9.md"): (FILE, b"6\n"),
        "folder.md/x.md": (FILE, b"7\n"),
        "a\tb.md": (FILE, b"8\n"),
        "d/" * 600 + "deep.md": (FILE, b"9\n"),
        "x" * 250 + "/" + "y" * 260 + ".md": (FILE, b"10\n"),
        "z" * 252 + ".md": (FILE, b"11\n"),
        "link.md": (LINK, b"README.md"),
        "module.md": (MODULE, b"1" * 40),
    }
    repository = make(tmp_path / "r", [Commit(tree)])
    done = import_git(repository)
    long = next(item for item in done.mapped if item.source.startswith("xx"))
    assert (store / long.path).read_bytes() == b"10\n"
    others = [item for item in done.mapped if item is not long]
    assert {(item.source, item.path.removeprefix("memories/r/"), item.why) for item in others} == {
        ("Readme.md", "Readme~1550ec65.md", "collision"),
        ("cafe\u0301.md", "caf\u00e9.md", "spelling"),
        ("caf\u00e9.md", "caf\u00e9~76610ba5.md", "collision"),
        (".hidden/x.md", "_hidden/x.md", "spelling"),
        ("latin-\\xe9.md", "latin-_xe9.md", "spelling"),
        ("folder.md/x.md", "folder.md_/x.md", "spelling"),
        ("a\tb.md", "a_b.md", "spelling"),
    }
    assert [(item.source[:4], "longer than 1024" in item.why) for item in done.skipped] == [("d/d/", True)]
    assert done.puts == 10
    assert (store / "memories/r" / ("z" * 252 + ".md")).read_bytes() == b"11\n"
    assert {(store / item.path).read_bytes() for item in others} == {b"%d\n" % n for n in range(2, 9)}


def test_a_file_whose_case_alone_changes_keeps_its_memory(tmp_path, store, import_git):
    commits = [Commit({name: (FILE, b"1\n2\n3\n")}) for name in ("readme.md", "README.md")]
    commits.append(Commit({"README.md": (FILE, b"1\n2\n3\n4\n")}))
    done = import_git(make(tmp_path / "r", commits))
    assert [(row["op"], row["path"]) for row in imported_rows(store)] == [("put", "memories/r/readme.md")] * 2
    assert [tuple(item) for item in done.mapped] == [("README.md", "memories/r/readme.md", "collision")]


def test_nothing_that_the_repository_names_is_run(tmp_path, store, import_git):
    repository = make(tmp_path / "r", [Commit({"a.md": (FILE, b"1\n"), ".gitattributes": (FILE, b"*.md diff=x\n")}), A])
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    for key in (
        *("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager", "pager.diff-tree"),
        *("core.sshCommand", "core.editor", "gpg.program", "core.gitProxy", "filter.x.smudge", "filter.x.process"),
    ):
        git(repository, "config", key, str(trap))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "alias.diff-tree", f"!{trap}")
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/attributes").write_text("*.md diff=x filter=x\n")
    for hook in ("post-checkout", "reference-transaction", "pre-commit", "post-index-change"):
        (repository / ".git/hooks").mkdir(exist_ok=True)
        os.symlink(trap, repository / ".git/hooks" / hook)
    assert import_git(repository).puts == 1
    assert not sprung.exists()


def test_what_is_missing_is_not_fetched(tmp_path, store, import_git):
    origin = make(tmp_path / "origin", [A, Commit({"a.md": (FILE, b"2\n")})])
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{origin}", "partial.git")
    with pytest.raises(CorruptRepository):
        import_git(tmp_path / "partial.git")
    assert empty(store)


def test_settings_that_change_what_renames_are_do_not_count(tmp_path, store, import_git):
    text = b"".join(b"line %d\n" % n for n in range(20))
    repository = make(tmp_path / "r", [Commit({"a.md": (FILE, text)}), Commit({"b.md": (FILE, text + b"x\n")})])
    for key, value in (("diff.renames", "false"), ("diff.renameLimit", "1"), ("diff.orderFile", "/nowhere")):
        git(repository, "config", key, value)
    assert (done := import_git(repository)).moves == 1, done


def test_authors_of_any_kind(tmp_path, store, import_git):
    commits = [
        Commit({"a.md": (FILE, b"%d\n" % n)}, author=author)
        for n, author in enumerate(("Zoë ☃ <z@x>", " <>", 'q"uo\\te <q@x>', "Ada <ada@example.org>"))
    ]
    import_git(make(tmp_path / "r", commits))
    rows = imported_rows(store)
    assert [row["actor"] for row in rows] == ["Zoë ☃ <z@x>", "<>", 'q"uo\\te <q@x>', "Ada <ada@example.org>"]
    assert [row["ts"] for row in rows][:2] == ["2020-09-13T12:26:40Z", "2020-09-13T13:26:40Z"]


def test_who_imports_must_be_allowed_to_write_and_the_authors_need_not(tmp_path, store, import_git):
    repository = make(tmp_path / "r", [A])
    (store / "memories/STORE.yaml").write_text(
        "store_id: s\ndefault_mode: read\nacl:\n  - {actor: 'Ada*', mode: read-write}\n"
    )
    with pytest.raises(AclDenied):
        import_git(repository)
    (store / "memories/STORE.yaml").write_text(
        "store_id: s\ndefault_mode: read\nacl:\n  - {actor: ann, mode: read-write}\n"
    )
    import_git(repository)
    assert [row["actor"] for row in imported_rows(store)] == ["Ada Lovelace <ada@example.org>"]


@pytest.mark.parametrize("into", ["", "memories", "elsewhere/x", "memories/../x", "memories//x", "/memories"])
def test_a_folder_that_cannot_hold_memories(tmp_path, store, import_git, into):
    if into == "memories":
        assert import_git(make(tmp_path / "r", [A]), into=into).puts == 1
        return
    with pytest.raises(BadArgument, match="cannot import into"):
        import_git(make(tmp_path / "r", [A]), into=into)


@pytest.mark.parametrize("glob", ["", "/etc/*.md", "a\0b"])
def test_a_pattern_that_is_none(tmp_path, store, import_git, glob):
    with pytest.raises(BadArgument, match="not a pattern"):
        import_git(make(tmp_path / "r", [A]), glob=glob)


def test_a_pattern_that_looks_like_gits_own_magic_is_only_a_pattern(tmp_path, store, import_git):
    assert import_git(make(tmp_path / "r", [A]), glob=":(exclude)x").puts == 0
