"""`cyberos import`."""

import os
import shutil
from collections.abc import Iterator, Sequence

import click

from cyberos import layout
from cyberos.cli import keys, output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.output import counted
from cyberos.cli.settings import Settings, pass_settings
from cyberos.exchange.names import Mapped
from cyberos.exchange.plan import Skipped
from cyberos.exchange.refusals import Refused
from cyberos.operations import exporting
from cyberos.operations import importing as operations

COMMANDS = {
    "git": Entry(__name__, "git", "Import the history of a git repository's Markdown files"),
    "dir": Entry(__name__, "dir_", "Import the Markdown files of a folder as they are now"),
    "zip": Entry(__name__, "zip_", "Make a store of a zip that `cyberos export` wrote"),
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
        keys.signer(store).sign_if_due()


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
        keys.signer(store).sign_if_due()


@click.command("zip", cls=Command)
@click.argument("file")
@click.argument("folder", required=False)
@pass_settings
def zip_(settings: Settings, file: str, folder: str | None) -> None:
    """Make a store of a zip that `cyberos export` wrote.

    FOLDER is the store to be made; without it, and without --store, it is .cyberos/memory/store in the current folder.
    All of it is verified first, and anything else than an export is refused.
    """
    where = folder or settings.named_store or os.path.join(os.getcwd(), layout.IN_PROJECT)
    with output.Progress("importing", "bytes") as progress:
        done = exporting.import_zip(file, where, progress=progress)
    output.emit(done, _zip_lines, as_json=settings.json)


def _zip_lines(done: exporting.ImportedZip) -> Iterator[str]:
    yield output.printable(
        f"made a store at {done.store}: {counted(done.rows, 'row')}, {counted(done.bodies, 'version')}, "
        f"{counted(done.memories, 'memory', 'memories')}"
    )
    if done.chain:
        yield f"last row {done.rows}, chain {done.chain}"
    if done.root:
        yield f"Merkle root {done.root}"


def _dir_lines(done: operations.ImportedDir) -> Iterator[str]:
    yield from _mapped(done.mapped)
    yield from _skipped(done.skipped)
    yield from _refused(done.refused)
    verb = "would import" if done.dry_run else "imported"
    yield output.printable(
        f"{verb} {done.puts:,} of {counted(done.files, 'file')} into {done.into}; {done.unchanged:,} are there already"
    )


def _git_lines(done: operations.ImportedGit) -> Iterator[str]:
    yield from _mapped(done.mapped)
    yield from _skipped(done.skipped)
    yield from _refused(done.refused)
    verb = "would import" if done.dry_run else "imported"
    behind = f" after {done.after[:12]}" if done.after else ""
    if not done.commits:
        yield f"everything up to {done.head[:12]} is in {done.into} already"
        return
    yield output.printable(
        f"{verb} {counted(done.commits, 'commit')}{behind} up to {done.head[:12]} into {done.into}: "
        f"{counted(done.puts, 'put')}, {counted(done.moves, 'move')}, {counted(done.deletes, 'deletion')}"
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


def _refused(refused: Sequence[Refused]) -> Iterator[str]:
    for item in refused[:_SHOWN]:
        yield output.printable(f"refused: {item.why}")
    yield from _more(refused, "refused")
    if refused:
        yield "the import would end with an error at the first path that is refused"


def _more(items: Sequence[object], what: str) -> Iterator[str]:
    if len(items) > _SHOWN:
        yield f"and {len(items) - _SHOWN:,} more {what}; --json lists all"
