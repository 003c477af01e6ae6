import runpy
from pathlib import Path

SCRIPT = Path(__file__).with_name("errors_page.py")


def test_the_page_of_errors_is_what_the_classes_say():
    page = runpy.run_path(str(SCRIPT))
    assert page["PAGE"].read_text(encoding="utf-8") == page["render"](), "run: python tests/docs/errors_page.py"
