"""What a command may import: start-up is part of the product."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cyberos.core import session
from cyberos.core.search import search
from tests.sessions.conftest import approve

# Never on the way to an answer about history.
HEAVY = {
    *("fastapi", "starlette", "uvicorn", "pydantic", "rich", "mcp"),
    *("cryptography", "yaml", "orjson", "zstandard"),
    *("psycopg", "apsw", "sqlite3"),
}

# What ours may load beyond what click has loaded already. Each costs part of the ten milliseconds we have.
ALLOWED = {"cyberos"}


def modules(code, *args):
    """Returns the top-level modules that are loaded after running `code`, and those of ours in full."""
    script = f"{code}\nimport sys; loaded = list(sys.modules); import json; print(json.dumps(loaded))"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", script, *args], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def run_main(*args):
    return modules("import sys\nfrom cyberos.cli.main import main\nmain(sys.argv[1:])", *args)


def tops(names):
    return {name.partition(".")[0] for name in names}


CLICK = tops(modules("import click"))
HELP = tops(modules("import click; click.Command('x').main(['--help'], standalone_mode=False)"))


def test_help_imports_no_command():
    loaded = run_main("--help")
    assert not {
        name for name in loaded if name.startswith(("cyberos.cli.commands.", "cyberos.operations", "cyberos.core"))
    }


@pytest.mark.parametrize(
    ("args", "click_loads"),
    [(["--help"], HELP), (["version"], CLICK), (["protocol", "status", "--help"], HELP), (["serve", "--help"], HELP)],
)
def test_nothing_is_imported_that_click_does_not_need(args, click_loads):
    loaded = tops(run_main(*args))
    assert not loaded & HEAVY
    assert loaded - click_loads <= ALLOWED, "import it where it is used, or say here why start-up can afford it"


PEER = str(Path(__file__).parents[1] / "fixtures" / "peer-store")
A = "memories/facts/moved/fact-001-336.md"
JSON = {"json", "_json"}
HASH = {"hashlib", "_hashlib", "_blake2"}


@pytest.mark.parametrize(
    ("args", "more"),
    [
        (["history", A], HASH),  # upstream kept no versions: does a working file hold one?
        (["history", A, "--json", "--show-body"], JSON | HASH),
        (["history", "--all-paths"], HASH),
        (["list"], set()),
        (["verify"], set()),
        (["get", A], HASH),  # of a file that may have been edited by hand
    ],
)
def test_reading_imports_next_to_nothing(args, more):
    loaded = tops(run_main("--store", PEER, *args))
    assert not loaded & HEAVY
    assert loaded - CLICK <= ALLOWED | more, "import it where it is used, or say here why start-up can afford it"


def test_a_command_imports_only_itself():
    loaded = {name for name in run_main("version") if name.startswith("cyberos.cli.commands.")}
    assert loaded == {"cyberos.cli.commands.version"}


@pytest.mark.parametrize(
    "module", ["cyberos.errors", "cyberos.clock", "cyberos.layout", "cyberos.config", "cyberos.core.paths"]
)
def test_the_foundations_are_light(module):
    loaded = tops(modules(f"import {module}"))
    assert not loaded & (HEAVY | {"click", "dataclasses", "inspect", "pathlib", "json", "logging", "asyncio"})


def test_histories_with_versions_need_no_hash(writer):
    for number in range(3):
        writer.put("memories/facts/a.md", f"{number}\n")
    writer.move("memories/facts/a.md", "memories/facts/b.md")
    loaded = tops(
        run_main("--store", str(writer.store_path), "history", "memories/facts/b.md", "--json", "--show-body")
    )
    assert loaded - CLICK <= ALLOWED | JSON


def test_writing_to_a_store_that_has_a_search_index_opens_no_database(writer):
    writer.put("memories/facts/a.md", "a\n")
    search(writer.store_path, "a")
    loaded = tops(run_main("--store", str(writer.store_path), "delete", "memories/facts/a.md"))
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    "args",
    [
        ["session", "append", "--id", "a", "--role", "user", "--content", "Hello."],
        ["session", "end", "--id", "a"],
        ["put", "memories/facts/a.md", __file__],
    ],
)
def test_what_hooks_call_on_every_turn_imports_no_cipher_and_no_other_command(writer, args):
    approve(writer.store_path)
    session.start(writer, "a")
    loaded = run_main("--store", str(writer.store_path), *args)
    assert not tops(loaded) & (HEAVY | HASH | {"hmac"})
    assert not loaded & {f"cyberos.core.sessions.{name}" for name in ("purging", "recovery", "inspection")}
