"""The programs in Rust, for what Python cannot measure."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from stores import Built

_ROOT = Path(__file__).parents[1]


def floors(built: Built, rounds: int) -> dict[str, Any]:
    """Reads the log as fast as one thread can, and hashes; checks that it met every row."""
    found = _run("floors", str(built.folder / "audit"), str(rounds))
    if found["rows"] != built.rows:
        raise AssertionError(f"{found['rows']} rows in the segments, {built.rows} were written")
    return found


def group_commit(puts: int) -> dict[str, Any]:
    """Lets one thread write, then eight, with syncs of 2 ms."""
    return _run("group_commit", str(puts), "2")


def _run(name: str, *args: str) -> dict[str, Any]:
    program = _target() / "release" / name
    command = ["cargo", "build", "--locked", "--release", "--quiet", "-p", "cyberos-benches"]
    subprocess.run(command, cwd=_ROOT, check=True)
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _target() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", _ROOT / "target"))
