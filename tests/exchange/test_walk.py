"""What somebody does who knows the README alone: its own commands, as they stand there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exchange.repositories import FILE, Commit, make

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Stranger:
    """A shell in an empty folder, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "work"
        scripts = folder / "bin"
        for made in (self.cwd, scripts, folder / "home"):
            made.mkdir()
        (scripts / "cyberos").write_text(f'#!/bin/sh\nexec {sys.executable} -W ignore -m cyberos "$@"\n')
        (scripts / "cyberos").chmod(0o755)
        path = f"{scripts}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = {"PATH": path, "HOME": str(folder / "home"), "COLUMNS": "100"}

    def run(self, command: str) -> str:
        """Returns what a command line that must succeed prints."""
        done = subprocess.run(["sh", "-ec", command], cwd=self.cwd, env=self.env, capture_output=True, check=False)
        assert (done.returncode, done.stderr.decode()) == (0, ""), f"{command}: {done}"
        return done.stdout.decode()


@pytest.fixture
def stranger(tmp_path):
    first = {"README.md": (FILE, b"# Project\n\nIt is about deploys.\n"), "docs/a b.md": (FILE, b"a\n")}
    then = {"README.md": (FILE, b"# Project\n\nIt is about deploys and approvals.\n"), "docs/b.md": (FILE, b"a\n")}
    make(tmp_path / "project", [Commit(first), Commit(then)])
    return Stranger(tmp_path)


def commands(containing):
    """The lines of the README's only block with this in it, without their comments."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    (block,) = (block for language, block in blocks if not language and containing in block)
    return [line.partition("  #")[0].rstrip() for line in block.splitlines()]


def test_whoever_has_the_readme_imports_reads_exports_and_proves(stranger):
    said = {command: stranger.run(command) for command in commands("cyberos init")}
    assert "Deploys need two approvals." in said["cyberos search 'deploy* approvals'"]

    said = {command: stranger.run(command) for command in commands("cyberos import git")}
    history = said["cyberos history memories/project/README.md"]
    assert said["cyberos --store ../copy history memories/project/README.md"] == history
    assert len(history.splitlines()) == 2
    assert "2 commits" in said["cyberos import git ../project"]
    seq = int(history[1:].partition("]")[0])
    assert "approvals" in stranger.run(f"cyberos show memories/project/README.md@{seq}")
    for store in ("", "--store ../copy "):
        assert stranger.run(f"cyberos {store}verify").startswith("ok: ")

    key = ""
    for command in commands("cyberos prove"):
        out = stranger.run(command.replace("NAME+ID+KEY", key))
        key = out.split()[1] if command == "cyberos key create" else key
    (by_eye,) = re.findall(r"`(python docs/verify_proof\.py [^`]*)`", README)
    proof = f"python {ROOT}/docs/verify_proof.py deploys.proof {key}"
    assert proof.replace(f"{ROOT}/", "").replace(key, "NAME+ID+KEY") == by_eye
    assert json.loads(stranger.run(proof))["path"] == "memories/facts/deploys.md", "the row that moved it"

    # And with the file that was imported.
    stranger.run(f"cyberos prove memories/project/README.md@{seq} --body -o readme.proof")
    proved = json.loads(stranger.run(f"cyberos verify-proof readme.proof --key {key} --json"))
    assert (proved["seq"], proved["path"]) == (seq, "memories/project/README.md")


def test_whoever_has_the_readme_records_a_conversation_and_erases_it(stranger):
    stranger.run("cyberos init")
    said = {command: stranger.run(command) for command in commands("cyberos session start")}
    assert "during session review-7 turn 0" in said["cyberos history memories/facts/approvals.md"]
    assert "Ask for two approvals." in said["cyberos session read --id review-7"]
    assert "memories/facts/approvals.md" in said["cyberos session show --id review-7 --writes"]
    assert "1 memory brought back" in said["cyberos revert --session review-7"]
    assert "memories" not in stranger.run("cyberos list")
    assert "1 turn" in said["cyberos session purge --id review-7 --yes"]
    assert stranger.run("cyberos doctor").endswith("nothing is wrong\n")
