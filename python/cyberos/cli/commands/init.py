"""`cyberos init`."""

import os
from collections.abc import Iterator

import click

from cyberos import layout
from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import memories


@click.command(cls=Command)
@click.argument("folder", required=False)
@click.option(
    "--allow-network-file-system", "allowed", is_flag=True, help="Put it there although locks may not keep others out"
)
@pass_settings
def init(settings: Settings, folder: str | None, allowed: bool) -> None:  # noqa: FBT001, it is the option's value
    """Make an empty store.

    FOLDER is the store itself; without it, and without --store, it is .cyberos/memory/store in the current folder.
    """
    where = folder or settings.named_store or os.path.join(os.getcwd(), layout.IN_PROJECT)
    output.emit(memories.init(where, allow_network_file_system=allowed), _human, as_json=settings.json)


def _human(result: memories.Created) -> Iterator[str]:
    yield f"made an empty store at {result.store}"
