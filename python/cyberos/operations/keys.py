"""The keys with which heads are signed."""

from typing import NamedTuple

from cyberos.core import checkpoints
from cyberos.crypto import keys, signing
from cyberos.crypto.keys import Keys
from cyberos.errors import CyberosError, StoreNotFound


class Key(NamedTuple):
    """A key. `public` is by what others check its signatures, as `NAME+ID+KEY`; null where no store gives the name.

    `problem` says why it cannot be used.
    """

    key: str
    public: str | None
    problem: str | None = None


class KeyList(NamedTuple):
    """The keys in files."""

    keys: list[Key]


def create(held: Keys, reference: str, *, store: str | None) -> Key:
    """Makes a new key; raises `AlreadyExists` where there is one."""
    reference = ":".join(keys.parse(reference))
    origin = None if store is None else checkpoints.origin_of(store)
    signing.require()
    return Key(reference, _public(held.create(reference), origin))


def show(held: Keys, reference: str, *, store: str | None) -> Key:
    """Returns the public half of a key under the name of a store; raises `StoreNotFound` without one."""
    if store is None:
        raise StoreNotFound(
            "a public key carries the id of a store, and there is none here", hint="name it: --store DIR"
        )
    reference, origin = ":".join(keys.parse(reference)), checkpoints.origin_of(store)
    return Key(reference, _public(held.get(reference), origin))


def list_keys(held: Keys, *, store: str | None) -> KeyList:
    """Returns the keys in files, also those that cannot be used."""
    found = []
    origin = None if store is None else checkpoints.origin_of(store)
    for reference in held.list():
        try:
            found.append(Key(reference, _public(held.get(reference), origin)))
        except CyberosError as error:
            found.append(Key(reference, None, error.message))
    return KeyList(found)


def _public(key: bytes, origin: str | None) -> str | None:
    return None if origin is None else str(signing.Verifier(origin, signing.public_of(key)))
