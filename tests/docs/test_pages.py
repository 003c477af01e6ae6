import runpy
from pathlib import Path

import pytest


@pytest.mark.parametrize("script", ["errors_page.py", "cli_page.py"])
def test_a_page_is_what_the_code_says(script):
    page = runpy.run_path(str(Path(__file__).with_name(script)))
    assert page["PAGE"].read_text(encoding="utf-8") == page["render"](), f"run: python tests/docs/{script}"


def test_the_readme_has_the_test_command_that_ci_runs():
    root = Path(__file__).parents[2]
    command = "pip install '.[test]' && pytest"
    assert command in (root / "README.md").read_text(encoding="utf-8").splitlines()
    assert command in (root / ".ci" / "run").read_text(encoding="utf-8")
