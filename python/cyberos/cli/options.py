"""The options that every command takes, before and after its name, and the class of commands that has them."""

from typing import Any

import click

from cyberos.cli import output
from cyberos.cli.settings import remember


def _show_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001, click's signature
    if value and not ctx.resilient_parsing:
        output.write_lines([ctx.get_help()])
        ctx.exit()


# Click's own asks for a translation of its text at every start, which loads `locale` and costs two milliseconds.
HELP_OPTION = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_help,
    help="Show this help and exit",
)


def _global(*names: str, **attributes: Any) -> click.Option:
    return click.Option(names, default=None, expose_value=False, callback=remember, **attributes)


GLOBAL_OPTIONS: tuple[click.Option, ...] = (
    _global("--store", metavar="DIR", help="Use this store [CYBEROS_STORE; else the nearest .cyberos/memory/store]"),
    _global("--actor", metavar="NAME", help="Act under this name [CYBEROS_ACTOR; else the user's]"),
    _global("--json", is_flag=True, flag_value=True, type=bool, help="Print JSON"),
    _global("--color/--no-color", help="Colour the output or do not [NO_COLOR; else only on a terminal]"),
)


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Writes a command's own options, then the global ones in a section of their own."""
    own = [param for param in command.get_params(ctx) if param not in GLOBAL_OPTIONS]
    shared = [param for param in GLOBAL_OPTIONS if param in command.params]
    for title, params in (("Options", own), ("Global options", shared)):
        if records := [record for param in params if (record := param.get_help_record(ctx)) is not None]:
            with formatter.section(title):
                formatter.write_dl(records)


class Command(click.Command):
    """A command that also takes the global options."""

    def __init__(self, name: str | None, **kwargs: Any) -> None:
        super().__init__(name, add_help_option=False, **kwargs)
        # Where a command has an option of the same name, that one is meant behind the command's name.
        own = {name for param in self.params for name in param.opts}
        self.params.extend((HELP_OPTION, *(option for option in GLOBAL_OPTIONS if own.isdisjoint(option.opts))))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options into the help."""
        write_options(self, ctx, formatter)
