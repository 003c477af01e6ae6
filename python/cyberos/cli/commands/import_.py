"""`cyberos import`."""

import shutil
from collections.abc import Iterator, Sequence

import click

from cyberos.cli import keys, output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.exchange.names import Mapped
from cyberos.exchange.plan import Skipped
from cyberos.operations import importing as operations

COMMANDS = {
    "git": Entry(__name__, "git", "Import the history of a git repository's Markdown files"),
    "dir": Entry(__name__, "dir_", "Import the Markdown files of a folder as they are now"),
}
# How many lines a person wants of a list.
_SHOWN = 20
_GLOB = click.option("--glob", metavar="PATTERN", default="**/*.md", help="Which files [**/*.md]")
_INTO = click.option("--into", metavar="FOLDER", help="Below this folder of memories [memories/NAME, after its folder]")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only say what would be done, under which paths")


@click.group("import", cls=LazyGroup, table=COMMANDS)
def import_() -> None:
    """Bring in memories from elsewhere."""


@click.command(cls=Command)
@click.argument("repository")
@_GLOB
@_INTO
@_DRY_RUN
@pass_settings
def git(settings: Settings, repository: str, glob: str, into: str | None, dry_run: bool) -> None:  # noqa: FBT001
    """Import the history of a git repository's Markdown files.

    REPOSITORY is a folder on this machine, bare or not. The first-parent history of its HEAD becomes puts, moves and
    deletions, each with the commit's author and time; the row says which commit. What is in already is not imported
    again: run it anew to go on after an interruption, or to bring in new commits.
    """
    store, actor = settings.store(), settings.actor()
    with output.Progress("planning" if dry_run else "importing", "commits") as progress:
        done = operations.import_git(
            store,
            repository,
            actor=actor,
            git=shutil.which("git") or "git",
            glob=glob,
            into=into,
            dry_run=dry_run,
            progress=progress,
        )
    output.emit(done, _git_lines, as_json=settings.json)
    if not dry_run:
        keys.sign_if_due(store)


@click.command("dir", cls=Command)
@click.argument("folder")
@_GLOB
@_INTO
@_DRY_RUN
@pass_settings
def dir_(settings: Settings, folder: str, glob: str, into: str | None, dry_run: bool) -> None:  # noqa: FBT001
    """Import the Markdown files of a folder as they are now.

    Each file becomes a memory, or new content of the memory that it became before. Links are not followed; stores and
    .git in the folder are left out.
    """
    store, actor = settings.store(), settings.actor()
    with output.Progress("planning" if dry_run else "importing", "files") as progress:
        done = operations.import_dir(
            store, folder, actor=actor, glob=glob, into=into, dry_run=dry_run, progress=progress
        )
    output.emit(done, _dir_lines, as_json=settings.json)
    if not dry_run:
        keys.sign_if_due(store)


def _dir_lines(done: operations.ImportedDir) -> Iterator[str]:
    yield from _mapped(done.mapped)
    yield from _skipped(done.skipped)
    verb = "would import" if done.dry_run else "imported"
    yield output.printable(
        f"{verb} {done.puts:,} of {done.files:,} files into {done.into}; {done.unchanged:,} are there already"
    )


def _git_lines(done: operations.ImportedGit) -> Iterator[str]:
    yield from _mapped(done.mapped)
    yield from _skipped(done.skipped)
    verb = "would import" if done.dry_run else "imported"
    behind = f" after {done.after[:12]}" if done.after else ""
    if not done.commits:
        yield f"everything up to {done.head[:12]} is in {done.into} already"
        return
    yield output.printable(
        f"{verb} {done.commits:,} commits{behind} up to {done.head[:12]} into {done.into}: "
        f"{done.puts:,} puts, {done.moves:,} moves, {done.deletes:,} deletions"
    )


def _mapped(mapped: Sequence[Mapped]) -> Iterator[str]:
    for item in mapped[:_SHOWN]:
        why = ", since another memory has its name" if item.why == "collision" else ""
        yield output.printable(f"{item.source} → {item.path}{why}")
    yield from _more(mapped, "files under other names")


def _skipped(skipped: Sequence[Skipped]) -> Iterator[str]:
    for item in skipped[:_SHOWN]:
        where = f" at commit {item.commit[:12]}" if item.commit else ""
        yield output.printable(f"skipped {item.source}{where}: {item.why}")
    yield from _more(skipped, "skipped")


def _more(items: Sequence[object], what: str) -> Iterator[str]:
    if len(items) > _SHOWN:
        yield f"and {len(items) - _SHOWN:,} more {what}; --json lists all"
