"""Writes docs/cli.md from the commands' own help: `python tests/docs/cli_page.py`."""

from collections.abc import Iterator
from pathlib import Path

import click

from cyberos.cli.lazy import LazyGroup
from cyberos.cli.main import root

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

# Groups that are others under another name.
ALIASES = ("transcript",)

HEAD = """\
# The command line

`python -m cyberos` is the same program. Global options go before or after the command. Exit codes are in
[errors.md](errors.md). For completion in bash, put `eval "$(_CYBEROS_COMPLETE=bash_source cyberos)"` in `~/.bashrc`;
zsh and fish work the same way with `zsh_source` and `fish_source`.
"""


def sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yields the help of a command and of all below it."""
    ctx = click.Context(command, parent=parent, info_name=name, terminal_width=100)
    text = "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
    if parent is not None:  # the global options stand in the root's help
        text = text.partition("Global options:")[0].rstrip()
    yield f"\n## {ctx.command_path}\n\n```\n{text}\n```\n"
    if isinstance(command, LazyGroup) and command.name not in ALIASES:
        for below in command.table:
            found = command.get_command(ctx, below)
            assert found is not None
            yield from sections(found, below, ctx)


def render() -> str:
    """Returns the page."""
    return HEAD + "".join(sections(root, "cyberos"))


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
