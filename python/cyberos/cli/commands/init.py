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
@pass_settings
def init(settings: Settings, folder: str | None) -> None:
    """Make an empty store.

    FOLDER is the store itself; without it, and without --store, it is .cyberos/memory/store in the current folder.
    """
    where = folder or settings.named_store or os.path.join(os.getcwd(), layout.IN_PROJECT)
    output.emit(memories.init(where), _human, as_json=settings.json)


def _human(result: memories.Created) -> Iterator[str]:
    yield f"made an empty store at {result.store}"
