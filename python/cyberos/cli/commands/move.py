"""`cyberos move`."""

import click

from cyberos.cli import changes
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import memories


@click.command(cls=Command)
@click.argument("src")
@click.argument("dst")
@click.option("--session-id", metavar="ID", help="Note the session that the change was made in")
@pass_settings
def move(settings: Settings, src: str, dst: str, session_id: str | None) -> None:
    """Give a memory another path.

    Nothing may be at DST. The memory's history stays whole: `cyberos history DST` shows it under both names.
    """
    store = settings.store()
    changed = memories.move(store, src, dst, actor=settings.actor(), session_id=session_id)
    changes.tell(settings, store, changed, f"moved {src} to")
