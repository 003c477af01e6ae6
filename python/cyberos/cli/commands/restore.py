"""`cyberos restore`."""

import click

from cyberos.cli import changes
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.versions import split
from cyberos.operations import restoring


@click.command(cls=Command)
@click.argument("version", metavar="PATH@SEQ|TIME")
@pass_settings
def restore(settings: Settings, version: str) -> None:
    """Give a memory the content it had at a row or a time.

    This is a new change like any other; nothing of the history is rewritten.
    """
    path, at = split(version)
    store = settings.store()
    changed = restoring.restore(store, path, at, actor=settings.actor())
    changes.tell(settings, store, changed, "restored")
