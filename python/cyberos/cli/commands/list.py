"""`cyberos list`."""

from collections.abc import Iterator

import click

from cyberos.cli import output, versions
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import reading


@click.command(cls=Command, name="list")
@click.argument("prefix", default="")
@click.option("--at", metavar="SEQ|TIME", help="As they were at this row or time")
@pass_settings
def list_(settings: Settings, prefix: str, at: str | None) -> None:
    """List the memories whose path begins with PREFIX."""
    listing = reading.list_memories(settings.store(), prefix, versions.moment(at) if at is not None else None)
    output.write_warnings(listing.warnings)
    if settings.json:
        output.write_json(listing.memories)
    else:
        output.write_lines(_human(listing))


def _human(listing: reading.Listing) -> Iterator[str]:
    for memory in listing.memories:
        yield f"[{memory.seq:>6}] {memory.ts[:19]}Z {output.printable(memory.path)}"
