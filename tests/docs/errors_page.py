"""Writes docs/errors.md from the classes: `python tests/docs/errors_page.py`."""

from pathlib import Path

from cyberos.api.statuses import STATUSES, status_of
from cyberos.cli.main import BROKEN_PIPE, EXIT_CODES, INTERRUPTED
from cyberos.errors import error_classes

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

HEAD = """\
# Errors

Every error that cyberos raises on purpose is a class of `cyberos.errors` and derives from `CyberosError`, itself a
`RuntimeError`. Its code never changes. The command prints `error[code]: message` and what to do about it on standard
error, or with `--json` one object, `{"error": {"code": …, "kind": …, "message": …, "hints": […], …}}` with those of the
error's fields that are known. `cyberos serve` answers with that same object.

## Exit codes and HTTP statuses

| code | HTTP | kind |
| --- | --- | --- |
| 0 | 200 | success |
"""

TAIL = f"""\
| {INTERRUPTED} | | interrupted (Ctrl-C) |
| {BROKEN_PIPE} | | whoever read the output has gone |

`findings` is no error: a check ran to its end and found problems. `internal` covers the machine's own failures and the
unforeseen; the latter also shows a traceback. Some classes have an HTTP status of their own.

## Classes

| code | class | kind | HTTP | meaning | fields |
| --- | --- | --- | --- | --- | --- |
"""


def render() -> str:
    """Returns the page."""
    kinds = "".join(f"| {code} | {STATUSES[kind]} | {kind.value} |\n" for kind, code in EXIT_CODES.items())
    rows = "".join(
        f"| `{error.code}` | `{error.__name__}` | {error.kind.value} | {status_of(error)} "
        f"| {(error.__doc__ or '').partition(chr(10))[0]} "
        f"| {', '.join(f'`{field}`' for field in error.fields)} |\n"
        for error in error_classes()
        if error.__module__.partition(".errors")[0] == "cyberos"
    )
    return HEAD + kinds + TAIL + rows


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
