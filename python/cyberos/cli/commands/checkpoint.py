"""`cyberos checkpoint`."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.core import heads
from cyberos.operations import checkpoints as operations

COMMANDS = {
    "create": Entry(__name__, "create", "Sign the log's head"),
    "list": Entry(__name__, "list_", "List the signed heads in the store"),
    "export": Entry(__name__, "export", "Print a signed head, to be kept elsewhere"),
    "copies": Entry(__name__, "copies", "Say where signed heads are copied to from now on"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def checkpoint() -> None:
    """Sign heads of the log, so that a rewritten one is noticed."""


@click.command(cls=Command)
@keys.sign_with
@pass_settings
def create(settings: Settings, sign_with: str | None) -> None:
    """Sign the log's head.

    The signed head lies in the store, is remembered in your configuration folder, and is copied to where
    `cyberos checkpoint copies` says. Nothing is signed that contradicts what was signed before.

    It is signed without being asked when a segment of the log was sealed, where you have the key, and after every
    `checkpoints.every_rows` rows, where manifest.json says so: {"checkpoints": {"every_rows": 1000}}.
    """
    made = operations.create(settings.store(), keys.held(), keys.signing_key(sign_with))
    output.write_warnings(made.warnings)
    output.emit(made, _made, as_json=settings.json)


@click.command("list", cls=Command)
@pass_settings
def list_(settings: Settings) -> None:
    """List the signed heads in the store."""
    output.emit(operations.list_heads(settings.store()), _list, as_json=settings.json)


@click.command(cls=Command)
@click.option("--size", type=click.IntRange(min=0), metavar="ROWS", help="The one of so many rows [the newest]")
@click.option("-o", "--output", "file", metavar="FILE", help="Write it to this file")
@pass_settings
def export(settings: Settings, size: int | None, file: str | None) -> None:
    """Print a signed head, to be kept elsewhere.

    Whoever keeps it can tell with `cyberos verify --against FILE` whether the log still is what it was.
    """
    note = operations.export(settings.store(), size=size)
    if file is not None:
        heads.write_new(file, note)
    elif settings.json:
        output.write_json({"note": note.decode()})
    else:
        output.write_bytes(note)


@click.command(cls=Command)
@click.option("--add", metavar="WHERE", help="Copy them to this file, folder or git repository, too")
@click.option("--remove", metavar="WHERE", help="Copy them there no longer")
@pass_settings
def copies(settings: Settings, add: str | None, remove: str | None) -> None:
    """Say where signed heads are copied to from now on.

    In a git repository (its folder, or git:FOLDER) each one is a commit on refs/cyberos/STORE-ID; no branch is touched.
    To send them away: git push origin 'refs/cyberos/*'. The setting is yours and this store's, and lies in your
    configuration folder.
    """
    result = operations.copies(settings.store(), keys.held().folder, add=add, remove=remove)
    output.emit(result, lambda found: map(output.printable, found.places or ["nowhere"]), as_json=settings.json)


def _made(result: operations.Made) -> Iterator[str]:
    yield from _lines(result.head, "signed" if result.created else "was signed before")
    for place in result.copied:
        yield output.printable(f"copied to {place}")


def _list(result: operations.Heads) -> Iterator[str]:
    for head in result.checkpoints:
        yield from _lines(head, f"at {head.at}" if head.at else "")


def _lines(head: operations.Head, what: str) -> Iterator[str]:
    yield output.printable(
        f"{head.origin}  {head.size:,} rows  root {head.root}  {' '.join(head.signers)}  {what}".rstrip()
    )
