"""`cyberos import git` as people see it."""

import json

import pytest

from tests.exchange.repositories import FILE, Commit, git, make


@pytest.fixture
def repository(tmp_path):
    text = b"".join(b"line %d\n" % n for n in range(20))
    commits = [
        Commit({"notes.md": (FILE, text), ".github/x.md": (FILE, b"x" * (2 << 20))}),
        Commit({"renamed.md": (FILE, text + b"more\n")}, author="Zoë <z@example.org>"),
    ]
    return make(tmp_path / "project", commits)


def test_what_it_says(cli, store, repository):
    skipped = "skipped .github/x.md at commit {}: it has 2,097,152 bytes; a memory has at most 1,048,576\n"
    first, head = (git(repository, "rev-parse", "--short=12", name).decode().strip() for name in ("main~1", "main"))
    said = cli("--store", store, "import", "git", repository, "--dry-run")
    counts = f"2 commits up to {head} into memories/project: 2 puts, 1 move, 0 deletions\n"
    assert said == (0, skipped.format(first) + "would import " + counts, "")
    assert cli("--store", store, "import", "git", repository) == (
        0,
        skipped.format(first) + "imported " + counts,
        "",
    )
    again = cli("--store", store, "import", "git", repository)
    assert again == (0, f"everything up to {head} is in memories/project already\n", "")
    history = cli("--store", store, "history", "memories/project/renamed.md", "--show-body").out
    assert "Zoë <z@example.org>" in history
    assert "+more" in history
    assert cli("--store", store, "doctor").code == 0


def test_as_json(cli, store, repository):
    done = json.loads(cli("--store", store, "import", "git", repository, "--into", "memories/x", "--json").out)
    assert (done["commits"], done["puts"], done["moves"], done["dry_run"]) == (2, 2, 1, False)
    assert (done["after"], done["into"], done["glob"]) == (None, "memories/x", "**/*.md")
    rows = json.loads(cli("--store", store, "history", "memories/x/renamed.md", "--json").out)
    assert rows[0]["extra"]["imported"]["commit"] == done["head"]


def test_another_pattern(cli, store, repository):
    done = json.loads(cli("--store", store, "import", "git", repository, "--glob", "docs/*.md", "--json").out)
    assert (done["commits"], done["puts"]) == (2, 0)


def test_what_is_no_repository_is_told(cli, store, tmp_path):
    done = cli("--store", store, "import", "git", tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error[repository_not_found]: ")
