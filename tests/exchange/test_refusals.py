"""What access lists would refuse is told by a dry run, and nothing is written by it."""

import json

import pytest

from cyberos.core.reader import AuditChainReader
from cyberos.errors import AclDenied, BadConfig
from cyberos.operations import importing
from tests.exchange.repositories import FILE, Commit, make

LISTED = "store_id: s\ndefault_mode: read-write\nacl:\n  - actor: 'ann'\n    mode: read\n"


@pytest.fixture
def guarded(store):
    """A folder in which ann may only read."""
    (store / "memories/r/kept").mkdir(parents=True)
    (store / "memories/r/kept/STORE.yaml").write_text(LISTED)
    return store


@pytest.fixture
def repository(tmp_path):
    first = {"a.md": (FILE, b"a long enough text\n"), "kept/b.md": (FILE, b"b\n")}
    moved = {"kept/a.md": (FILE, b"a long enough text\n"), "kept/b.md": (FILE, b"b\n")}
    return make(tmp_path / "repository", [Commit(first), Commit(moved), Commit({"c.md": (FILE, b"c\n")})])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "folder/kept").mkdir(parents=True)
    for name in ("a.md", "kept/a.md", "kept/b.md"):
        (tmp_path / "folder" / name).write_text(name)
    return tmp_path / "folder"


def run(what, store, source, actor="ann", *, dry_run=True):
    return getattr(importing, what)(str(store), str(source), actor=actor, into="memories/r", dry_run=dry_run)


@pytest.mark.parametrize("what", ["import_git", "import_dir"])
def test_a_dry_run_names_each_path_once_and_the_import_ends_at_the_first(what, guarded, repository, folder):
    source = repository if what == "import_git" else folder
    done = run(what, guarded, source)
    assert sorted(item.path for item in done.refused) == ["memories/r/kept/a.md", "memories/r/kept/b.md"]
    assert all("memories/r/kept/STORE.yaml does not let 'ann' write" in item.why for item in done.refused)
    assert AuditChainReader(guarded).last_seq() == 0
    assert run(what, guarded, source, "bob").refused == ()
    with pytest.raises(AclDenied) as caught:
        run(what, guarded, source, dry_run=False)
    assert done.refused[0].why == caught.value.message
    assert run(what, guarded, source, "bob", dry_run=False).refused == ()


def test_a_list_that_only_warns_refuses_nothing(guarded, folder):
    text = (guarded / "AGENTS.md").read_text()
    (guarded / "AGENTS.md").write_text(text.replace("14.4", "14.x"))
    assert run("import_dir", guarded, folder).refused == ()
    assert run("import_dir", guarded, folder, dry_run=False).puts == 3


def test_a_list_that_cannot_be_understood_is_an_error_of_the_dry_run_too(guarded, folder):
    (guarded / "memories/r/kept/STORE.yaml").write_text("acl: [")
    with pytest.raises(BadConfig):
        run("import_dir", guarded, folder)


def test_the_command_says_what_would_be_refused(cli, guarded, folder):
    command = ("--store", guarded, "--actor", "ann", "import", "dir", folder, "--into", "memories/r", "--dry-run")
    told = cli(*command)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[0].startswith("refused: memories/r/kept/STORE.yaml does not let 'ann' write memories/")
    assert told.out.splitlines()[2] == "the import would end with an error at the first path that is refused"
    refused = json.loads(cli(*command, "--json").out)["refused"]
    assert [item["path"] for item in refused] == ["memories/r/kept/a.md", "memories/r/kept/b.md"]
