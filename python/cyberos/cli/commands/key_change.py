"""`cyberos key rotate` and `delete`."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.crypto.keys import PROVIDERS
from cyberos.crypto.rotation import Rotation
from cyberos.errors import BadArgument
from cyberos.operations import keys as operations

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing")
_YES = click.option("--yes", is_flag=True, help="Do not ask")


@click.command(cls=Command)
@click.argument("reference", metavar="[KEY]", required=False)
@click.option(
    "--kind", type=click.Choice([operations.SIGNING, operations.MASTER]), required=True, help="Say which kind of key"
)
@click.option("--provider", type=click.Choice(PROVIDERS), help="Say where the new master key is kept [as the old one]")
@_DRY_RUN
@_YES
@pass_settings
def rotate(
    settings: Settings,
    reference: str | None,
    kind: str,
    provider: str | None,
    dry_run: bool,  # noqa: FBT001, it is the option's value
    yes: bool,  # noqa: FBT001
) -> None:
    """Put a new key in the place of one.

    Of a key that signs (KEY: file:NAME or keyring:NAME [CYBEROS_KEY; else file:default]) the public half is kept:
    the heads that it signed still count. Give the new public half to those who check your signatures. Where somebody
    else may have the old key, delete it instead, so that it counts no longer.

    A new master key wraps the keys of all sessions, and the old one is destroyed. No transcript changes. From then on
    older copies of the keystore are of no use, so that nobody can read a session that was purged before, even with a
    copy of it. With `env` the new key is in CYBEROS_NEW_MASTER_KEY, and afterwards belongs into CYBEROS_MASTER_KEY.
    """
    if kind == operations.MASTER:
        if reference is not None:
            raise BadArgument("there is one master key, and KEY does not name it", argument="KEY")
        _rotate_master(settings, provider, dry_run=dry_run, yes=yes)
        return
    if provider is not None:
        raise BadArgument("a key that signs stays where it is: KEY says where", argument="--provider")
    held, store, named = keys.held(), settings.store_if_any(), keys.signing_key(reference)
    planned = operations.rotate(held, named, store=store, dry_run=True)
    if not dry_run:
        output.confirm(f"Replace the key {planned.key} and destroy it?", assumed=yes)
        planned = operations.rotate(held, named, store=store)
    output.emit(planned, _rotated, as_json=settings.json)


@click.command(cls=Command)
@click.argument("reference", metavar="KEY")
@_DRY_RUN
@_YES
@pass_settings
def delete(settings: Settings, reference: str, dry_run: bool, yes: bool) -> None:  # noqa: FBT001
    """Destroy a key that signs.

    KEY is file:NAME or keyring:NAME. What it signed, and what was signed by those in whose place it came, counts from
    then on only for who names their public halves (--key). Signed heads stay where they are.
    """
    held = keys.held()
    planned = operations.delete(held, reference, dry_run=True)
    if not dry_run:
        output.confirm(f"Destroy the key {planned.key}? What it signed counts no longer by itself", assumed=yes)
        planned = operations.delete(held, reference)
    output.emit(planned, _deleted, as_json=settings.json)


def _rotate_master(settings: Settings, provider: str | None, *, dry_run: bool, yes: bool) -> None:
    held = keys.held()
    planned = operations.rotate_master(held, provider, dry_run=True)
    if dry_run:
        output.emit(planned, lambda result: _rotation(result, "would wrap"), as_json=settings.json)
        return
    output.confirm(f"Replace the master key {planned.old_key} and destroy it?", assumed=yes)
    output.emit(
        operations.rotate_master(held, provider), lambda result: _rotation(result, "wraps"), as_json=settings.json
    )


def _rotated(result: operations.Rotated) -> Iterator[str]:
    yield output.printable(f"{result.key}  {'would be replaced' if result.dry_run else 'is a new key'}")
    if result.public:
        yield output.printable(f"new  {result.public}")
    if result.old_public:
        yield output.printable(f"old  {result.old_public}  what it signed still counts")


def _deleted(result: operations.Deleted) -> Iterator[str]:
    former = f", and what is known of {output.counted(result.retired, 'former key')}" if result.retired else ""
    yield output.printable(f"{'would destroy' if result.dry_run else 'destroyed'} {result.key}{former}")


def _rotation(result: Rotation, wraps: str) -> Iterator[str]:
    yield f"{result.key}  {wraps} the keys of {output.counted(result.rewrapped, 'session')}"
    if result.unreachable:
        yield f"older copies of the keystore: {output.counted(result.unreachable, 'erased key')} out of reach"
    for key in result.left:
        yield f"to destroy  {key}"
