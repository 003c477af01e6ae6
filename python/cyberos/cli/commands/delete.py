"""`cyberos delete`."""

from typing import Literal

import click

from cyberos.cli import changes, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument
from cyberos.operations import memories


@click.command(cls=Command)
@click.argument("path")
@click.option(
    "--mode",
    type=click.Choice(["tombstone", "purge"]),
    default="tombstone",
    show_default=True,
    help="Keep the versions readable, or erase them",
)
@click.option("--reason", default="", metavar="TEXT", help="Say why; a purge needs a reason")
@click.option("--yes", is_flag=True, help="Purge without asking")
@click.option("--session-id", metavar="ID", help="Note the session that the change was made in")
@pass_settings
def delete(
    settings: Settings,
    path: str,
    mode: Literal["tombstone", "purge"],
    reason: str,
    yes: bool,  # noqa: FBT001, it is the option's value
    session_id: str | None,
) -> None:
    """Delete a memory.

    A tombstone hides the memory and keeps its versions. A purge erases every version that `cyberos history PATH` shows,
    also under former names; that it happened, and why, stays in the log.
    """
    store, actor = settings.store(), settings.actor()
    if mode == "purge":
        if not reason.strip():
            raise BadArgument("a purge needs a reason: it stays in the log", argument="--reason", hint="--reason TEXT")
        output.confirm(f"Erase every version of {output.printable(path)}? This cannot be undone", assumed=yes)
    changed = memories.delete(store, path, mode, reason, actor=actor, session_id=session_id)
    changes.tell(settings, store, changed, changes.PURGED if mode == "purge" else "deleted")
