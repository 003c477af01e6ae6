"""`cyberos get`."""

import click

from cyberos.cli import output, versions
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import reading


@click.command(cls=Command)
@click.argument("path")
@click.option("--at", metavar="SEQ|TIME", help="As it was at this row or time")
@pass_settings
def get(settings: Settings, path: str, at: str | None) -> None:
    """Print a memory."""
    memory = reading.get(settings.store(), path, versions.moment(at) if at is not None else None)
    output.write_warnings(memory.warnings)
    if settings.json:
        output.write_json(memory)
    else:
        if memory.sidecar is not None:
            output.write_warnings([f"{memory.sidecar} holds further fields; --json shows them"])
        output.write_bytes(memory.content)
