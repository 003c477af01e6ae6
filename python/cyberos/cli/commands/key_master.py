"""`cyberos key init`, `rotate` and `status`: the master key, with which sessions are encrypted."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.crypto.keys import PROVIDERS
from cyberos.crypto.rotation import Rotation
from cyberos.operations import keys as operations


@click.command(cls=Command)
@click.option(
    "--provider", type=click.Choice(PROVIDERS), default="file", show_default=True, help="Say where the key is kept"
)
@pass_settings
def init(settings: Settings, provider: str) -> None:
    """Make the master key, with which sessions are encrypted.

    Each session has a key of its own; they lie in your configuration folder (CYBEROS_CONFIG, else ~/.config/cyberos),
    wrapped with the master key. That is in a file there, in the operating system's keyring, or with `env` in the
    variable CYBEROS_MASTER_KEY: 32 random bytes in base64 or hexadecimal, as `openssl rand -base64 32` prints them.
    Without the master key no encrypted session can be read.
    """
    made = operations.init(keys.held(), provider, store=keys.store_if_any(settings))
    output.emit(made, _status, as_json=settings.json)


@click.command(cls=Command)
@click.option("--kind", type=click.Choice([operations.MASTER]), required=True, help="Say which kind of key")
@click.option("--provider", type=click.Choice(PROVIDERS), help="Say where the new key is kept [as the old one]")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing")
@click.option("--yes", is_flag=True, help="Do not ask")
@pass_settings
def rotate(
    settings: Settings,
    kind: str,  # noqa: ARG001, there is one so far
    provider: str | None,
    dry_run: bool,  # noqa: FBT001, it is the option's value
    yes: bool,  # noqa: FBT001
) -> None:
    """Put a new key in the place of one.

    A new master key wraps the keys of all sessions, and the old one is destroyed. No transcript changes. From then on
    older copies of the keystore are of no use, so that nobody can read a session that was purged before, even with a
    copy of it. With `env` the new key is in CYBEROS_NEW_MASTER_KEY, and afterwards belongs into CYBEROS_MASTER_KEY.
    """
    held = keys.held()
    planned = operations.rotate_master(held, provider, dry_run=True)
    if dry_run:
        output.emit(planned, lambda result: _rotation(result, "would wrap"), as_json=settings.json)
        return
    output.confirm(f"Replace the master key {planned.old_key} and destroy it?", assumed=yes)
    output.emit(
        operations.rotate_master(held, provider), lambda result: _rotation(result, "wraps"), as_json=settings.json
    )


@click.command(cls=Command)
@pass_settings
def status(settings: Settings) -> None:
    """Tell how the keys of sessions are kept."""
    output.emit(operations.status(keys.held()), _status, as_json=settings.json)


def _status(result: operations.KeyStatus) -> Iterator[str]:
    if result.key is None:
        yield output.printable(f"no keystore at {result.path}: sessions cannot be encrypted")
        yield "make one: cyberos key init"
        return
    yield output.printable(f"keystore    {result.path}")
    yield f"master key  {result.key}  id {result.master}  since {result.since}"
    yield f"sessions    {result.sessions:,}"
    if result.problem is not None:
        yield output.printable(f"problem     {result.problem}")
    if result.erased:
        erased = output.counted(result.erased, "erased key")
        yield f"erased      an older copy of the keystore still has {erased}: cyberos key rotate --kind master"
    for key in result.left:
        yield f"to destroy  {key}"


def _rotation(result: Rotation, wraps: str) -> Iterator[str]:
    yield f"{result.key}  {wraps} the keys of {output.counted(result.rewrapped, 'session')}"
    if result.unreachable:
        yield f"older copies of the keystore: {output.counted(result.unreachable, 'erased key')} out of reach"
    for key in result.left:
        yield f"to destroy  {key}"
