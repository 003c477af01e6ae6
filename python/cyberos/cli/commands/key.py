"""`cyberos key`."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import keys as operations

COMMANDS = {
    "init": Entry("cyberos.cli.commands.key_master", "init", "Make the master key, with which sessions are encrypted"),
    "create": Entry(__name__, "create", "Make a key to sign with"),
    "rotate": Entry("cyberos.cli.commands.key_change", "rotate", "Put a new key in the place of one"),
    "delete": Entry("cyberos.cli.commands.key_change", "delete", "Destroy a key that signs"),
    "list": Entry(__name__, "list_", "List the keys in files, and the master key"),
    "status": Entry("cyberos.cli.commands.key_master", "status", "Tell how the keys of sessions are kept"),
    "show": Entry(__name__, "show", "Print a key's public half, by which others check signatures"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def key() -> None:
    """Make and show the keys of signed heads and encrypted sessions."""


@click.command(cls=Command)
@click.argument("name", default="default")
@click.option("--keyring", is_flag=True, help="Keep it in the operating system's keyring, not in a file")
@pass_settings
def create(settings: Settings, name: str, keyring: bool) -> None:  # noqa: FBT001, it is the option's value
    """Make a key to sign with.

    It lies in your configuration folder (CYBEROS_CONFIG, else ~/.config/cyberos), never in a store. Keep a copy in a
    safe place, and give its public half to those who check your signatures.
    """
    reference = f"keyring:{name}" if keyring else f"file:{name}"
    made = operations.create(keys.held(), reference, store=settings.store_if_any())
    output.emit(made, _human, as_json=settings.json)


@click.command("list", cls=Command)
@pass_settings
def list_(settings: Settings) -> None:
    """List the keys in files, and the master key."""
    found = operations.list_keys(keys.held(), store=settings.store_if_any())
    output.emit(found, _list, as_json=settings.json)


@click.command(cls=Command)
@click.argument("reference", metavar="[KEY]", required=False)
@pass_settings
def show(settings: Settings, reference: str | None) -> None:
    """Print a key's public half, by which others check signatures.

    KEY is file:NAME, env:VARIABLE or keyring:NAME. The public half carries the id of the store.
    """
    shown = operations.show(keys.held(), keys.signing_key(reference), store=settings.store_if_any())
    output.emit(shown, lambda result: [str(result.public)], as_json=settings.json)


def _list(result: operations.KeyList) -> Iterator[str]:
    for found in result.keys:
        yield from _human(found)


def _human(result: operations.Key) -> Iterator[str]:
    kind = result.kind if result.kind != operations.SIGNING else None
    yield output.printable("  ".join(filter(None, (result.key, kind, result.public, result.problem))))
