"""`cyberos key init` and `status`: the master key, with which sessions are encrypted."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.crypto.keys import PROVIDERS
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
    made = operations.init(keys.held(), provider, store=settings.store_if_any())
    output.emit(made, _status, as_json=settings.json)


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
