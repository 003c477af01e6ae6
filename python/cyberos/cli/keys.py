"""The user's keys on the command line."""

import os
from typing import TYPE_CHECKING, Any

import click

from cyberos.cli import output
from cyberos.crypto import keys

if TYPE_CHECKING:
    from cyberos.crypto.keystore import Keystore
    from cyberos.operations.automatic import Signer


def held() -> keys.Keys:
    """Returns the user's keys: in CYBEROS_CONFIG, else in `cyberos` below XDG_CONFIG_HOME or ~/.config."""
    folder = os.environ.get("CYBEROS_CONFIG")
    if not folder:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
        folder = os.path.join(base, "cyberos")
    return keys.Keys(folder, os.environ)


def keystore(store: str) -> "Keystore":
    """Returns the keystore of the user, who has one or not."""
    from cyberos.crypto.keystore import Keystore

    return Keystore.locate(held().folder, os.environ, store=store)


def signing_key(named: str | None) -> str:
    """Returns the reference of the key to sign with: the one that was named, else CYBEROS_KEY, else the default."""
    return named or os.environ.get("CYBEROS_KEY") or keys.DEFAULT


def signer(store: str) -> "Signer":
    """Returns what signs heads of a store's log without being asked; it warns where that fails."""
    from cyberos.operations.automatic import Signer

    return Signer(store, held(), signing_key(None), tell=lambda warning: output.write_warnings([warning]))


sign_with = click.option("--sign-with", metavar="KEY", help="Sign with this key [CYBEROS_KEY; else file:default]")


def trusted_keys(command: Any) -> Any:
    """Adds the option that names public keys."""
    return click.option(
        "--key", "named", metavar="NAME+ID+KEY", multiple=True,
        help="Trust this public key, and no other [those of your own keys]",
    )(command)  # fmt: skip
