"""`cyberos version`."""

import click

from cyberos import __version__
from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings


@click.command(cls=Command)
@pass_settings
def version(settings: Settings) -> None:
    """Print the version."""
    output.emit({"version": __version__}, lambda result: [f"cyberos {result['version']}"], as_json=settings.json)
