"""`cyberos revert`."""

from collections.abc import Iterator
from typing import Final

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument
from cyberos.operations import reverting
from cyberos.operations.reverting import Reversion, Reverted, Skipped

_REASONS: Final = {
    "edited_by_hand": "edited by hand since",
    "path_taken": "another memory or folder is where it was, or has that name in other letters",
    "purged": "the version before was purged",
    "damaged": "the version before is damaged: `cyberos verify --deep` says where",
    "unavailable": "the version before was never kept: the log holds only its hash",
}


@click.command(cls=Command)
@click.option("--session", "session_id", metavar="ID", help="Undo what was written in this session")
@click.option("--dream", "dream_id", metavar="ID", help="Undo what this dream wrote")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing")
@pass_settings
def revert(
    settings: Settings,
    session_id: str | None,
    dream_id: str | None,
    dry_run: bool,  # noqa: FBT001, it is the option's value
) -> None:
    """Undo what a session or a dream did to memories.

    Every memory that it changed gets the path and the content back that it had before, by new rows in one commit;
    nothing of the history is rewritten, so this can be undone too. Memories that others have changed since are left as
    they are and listed, as are those whose version before was purged.
    """
    if (session_id is None) == (dream_id is None):
        raise BadArgument("say what to undo: --session ID or --dream ID", argument="--session")
    key: reverting.Key = "dream_id" if session_id is None else "session_id"
    unit, store, actor = session_id or dream_id or "", settings.store(), settings.actor()
    with output.Progress("reading the log") as progress:
        done = reverting.revert(store, key, unit, actor=actor, dry_run=dry_run, progress=progress)
    output.emit(done, _lines, as_json=settings.json)
    if done.seqs:
        keys.signer(store).sign_if_due()


def _lines(result: Reverted) -> Iterator[str]:
    for each in result.reverted:
        yield output.printable(_told(each, "would be " if result.dry_run else ""))
    for skipped in result.skipped:
        yield output.printable(f"left as it is  {skipped.path}: {_why(skipped)}")
    for path in result.unchanged:
        yield output.printable(f"as before      {path}")
    rows = f": {output.counted(len(result.seqs), 'row')}" if result.seqs else ""
    verb = "would be brought back" if result.dry_run else "brought back"
    yield f"{output.counted(len(result.reverted), 'memory', 'memories')} {verb}{rows}"


def _told(each: Reversion, would: str) -> str:
    if each.to is None:
        return f"{would}deleted        {each.path}"
    moved = f"{each.path} → {each.to}" if each.path != each.to else each.to
    content = f", as of row {each.restored_from_seq}" if "put" in each.changes else ""
    return f"{would}brought back   {moved}{content}"


def _why(skipped: Skipped) -> str:
    if skipped.seq is not None:
        return f"changed since by {skipped.actor} (row {skipped.seq})"
    return _REASONS[skipped.reason]
