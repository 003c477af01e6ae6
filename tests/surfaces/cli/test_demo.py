"""`cyberos demo`: the first thing a stranger sees."""

import json


def test_it_builds_asks_verifies_and_says_what_to_try(cli, tmp_path):
    done = cli("demo", tmp_path / "here", "--rows", "3000")
    assert done.code == 0, done.err
    assert done.err == ""
    for text in (
        "3,000",
        "history, hot",
        "history, never",
        "No history for 'memories/facts/never-was.md'.",
        "nothing wrong",
    ):
        assert text in done.out
    tried = [line.strip() for line in done.out.splitlines() if line.startswith("  cyberos ")]
    assert len(tried) >= 4


def test_what_it_says_to_try_works(cli, tmp_path, monkeypatch):
    import shlex

    done = cli("demo", tmp_path / "here", "--rows", "2000")
    monkeypatch.setenv("CYBEROS_STORE", str(tmp_path / "here"))
    for line in done.out.splitlines():
        if line.startswith(("  cyberos ", "$ cyberos ")):
            again = cli(*shlex.split(line.strip("$ "))[1:])
            assert again.code == 0, (line, again.err)


def test_the_same_seed_makes_the_same_work(cli, tmp_path):
    results = []
    for name in ("one", "two"):
        result = json.loads(cli("demo", tmp_path / name, "--rows", "500", "--seed", "3", "--json").out)
        results.append([(answer["path"], answer["rows"]) for answer in result["answers"]])
        assert result["verified"]["findings"] == []
    assert results[0] == results[1]


def test_without_a_folder_it_makes_a_temporary_one(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = json.loads(cli("demo", "--rows", "100", "--json").out)
    assert result["store"].startswith(str(tmp_path))


def test_a_folder_that_is_in_use_is_left_alone(cli, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    done = cli("demo", tmp_path, "--rows", "100")
    assert done.code == 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.txt"]
