"""What is measured of importing and exporting."""

import random
import shutil
import subprocess
import time
from pathlib import Path

import stores
from measure import Stats, seconds
from report import Case
from stores import Built

from cyberos.core import store as core_stores
from cyberos.operations import exporting, importing

_COMMITS = 10_000
_RENAMED = 0.03


def git_import(work: Path, runs: int, commits: int = _COMMITS) -> Case:
    """The import of a repository's history, in turns with what git takes to say that history."""
    repository = work / f"repository-{commits}"
    if not repository.is_dir():
        _make(repository, commits)
    log = ["git", "-C", str(repository), "log", "--raw", "-M", "--first-parent", "-z"]
    rates, by_git = [], []
    for _ in range(runs):
        by_git.append(commits / seconds(lambda: subprocess.run(log, stdout=subprocess.DEVNULL, check=True)))
        folder = work / "imported"
        shutil.rmtree(folder, ignore_errors=True)
        core_stores.init(folder)
        start = time.perf_counter()
        done = importing.import_git(str(folder), str(repository), actor="bench")
        rates.append(commits / (time.perf_counter() - start))
        if done.commits != commits:
            raise AssertionError(done)
        shutil.rmtree(folder)
    figures, git = Stats.of(rates), Stats.of(by_git).median
    wanted = min(2_000, git / 2)
    measured = f"{figures.median:,.0f} commits/s; git log --raw -M {git:,.0f}"
    target = f"median >= {wanted:,.0f} commits/s"
    return Case("import git", commits, "rows/s", figures, target, measured, figures.median >= wanted)


def export(built: Built, work: Path, runs: int) -> Case:
    """An export with all versions."""
    file, rates = work / "export.zip", []
    for _ in range(runs):
        file.unlink(missing_ok=True)
        start = time.perf_counter()
        done = exporting.export(str(built.folder), str(file))
        rates.append(done.bytes / 2**20 / (time.perf_counter() - start))
    file.unlink(missing_ok=True)
    figures = Stats.of(rates)
    measured = f"{figures.median:,.0f} MiB/s"
    return Case("export", built.rows, "MiB", figures, "median >= 100 MB/s", measured, figures.median * 2**20 >= 1e8)


def _make(repository: Path, commits: int) -> None:
    """Makes a repository of notes: most commits change one, some rename one, some add one, some touch other files."""
    dice = random.Random(stores.SEED)
    repository.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    notes: dict[str, list[str]] = {}
    lines = []
    for number in range(commits):
        lines += [
            f"commit refs/heads/{_branch(repository)}",
            f"committer A <a@example.org> {1_500_000_000 + number} +0000",
        ]
        lines += ["data 1", "x"]
        if number % 5 == 4 or not notes:
            lines += ["M 100644 inline src/code.py", *_data(f"number = {number}\n")]
        name = f"docs/{dice.randrange(40)}/note-{number}.md"
        if len(notes) < 20 or dice.random() < 0.1:
            notes[name] = [f"line {place} of note {number}\n" for place in range(20)]
        elif dice.random() < _RENAMED:
            old = dice.choice(list(notes))
            notes[name] = notes.pop(old)
            lines.append(f"D {old}")
        else:
            name = dice.choice(list(notes))
            notes[name][dice.randrange(20)] = f"changed in {number}\n"
        lines += [f"M 100644 inline {name}", *_data("".join(notes[name]))]
    stream = "\n".join(lines) + "\n"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=stream.encode(), check=True)


def _branch(repository: Path) -> str:
    return (repository / ".git/HEAD").read_text().rpartition("/")[2].strip()


def _data(text: str) -> list[str]:
    return [f"data {len(text)}", text]
