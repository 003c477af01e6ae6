"""`cyberos show`."""

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.versions import split
from cyberos.operations import versions as operations


@click.command(cls=Command)
@click.argument("version", metavar="PATH@SEQ|TIME")
@pass_settings
def show(settings: Settings, version: str) -> None:
    """Print a memory as it was at a row or a time.

    PATH is the memory's name now; it may have had another one then. SEQ is a row's number from `cyberos history`. TIME
    stands for the last row that is not later: where a clock stepped back, the order of the rows counts.
    """
    path, at = split(version)
    shown = operations.show(settings.store(), path, at)
    if settings.json:
        output.write_json(shown)
    else:
        output.write_bytes(shown.content)
