"""A group of commands that imports a command's module only when that command is meant.

The help lines stand in the group's table, so that neither `--help` nor shell completion imports anything; a test holds
them to what the commands say of themselves.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cyberos.cli.options import GLOBAL_OPTIONS, HELP_OPTION, write_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command is, and the first line of its help."""

    module: str
    attribute: str
    help: str


class LazyGroup(click.Group):
    """A group with a table of commands in place of the commands."""

    def __init__(self, name: str | None, table: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(name, add_help_option=False, **kwargs)
        self.params.extend((HELP_OPTION, *GLOBAL_OPTIONS))
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, the base class's signature
        """Returns the names in the table's order."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a command."""
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.attribute)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options and the commands into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])
        write_options(self, ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Returns the commands that begin so, and the group's own options."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=entry.help) for name, entry in self.table.items() if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)
