import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from cyberos.core import store as stores
from cyberos.doctor import kinds

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["errors_page.py", "cli_page.py", "blocks_page.py", "criteria_page.py"])
def test_a_page_is_what_the_code_says(script):
    page = runpy.run_path(str(Path(__file__).with_name(script)))
    assert page["PAGE"].read_text(encoding="utf-8") == page["render"](), f"run: python tests/docs/{script}"


def test_the_readme_has_the_test_command_that_ci_runs():
    command = "pip install '.[test]' && pytest"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def block(language, containing):
    """Returns the README's only block of code with this in it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = (code for code in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if containing in code)
    return found


def test_the_python_that_the_readme_shows_works(tmp_path):
    stores.init(tmp_path / ".cyberos/memory/store")
    code = block("python", "import Writer")
    command = (sys.executable, "-W", "ignore", "-")
    done = subprocess.run(command, input=code, cwd=tmp_path, check=True, text=True, capture_output=True)
    assert "memories/facts/deploys.md" in done.stdout


def test_the_format_lists_the_kinds_that_are_known():
    text = (ROOT / "rust" / "log" / "FORMAT.md").read_text(encoding="utf-8")
    table = text.partition("### Kinds")[2].partition("\n\n###")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {kind for cell in cells for kind in re.findall(r"`([^`]+)`", cell)} == {*kinds.KNOWN, "op"}


def test_links_between_pages_lead_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "rust").rglob("*.md")]
    links = [
        (page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    assert len(links) >= 10
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_decisions_are_numbered_once_each_and_without_gaps():
    pages = sorted((ROOT / "docs" / "decisions").iterdir())
    assert [page.name[:5] for page in pages] == [f"{number:04}-" for number in range(1, len(pages) + 1)]
    assert [page.read_text("utf-8").partition(":")[0] for page in pages] == [f"# {page.name[:4]}" for page in pages]
