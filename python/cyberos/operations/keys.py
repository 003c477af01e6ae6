"""The keys of a user: those that sign heads, and the master key, which wraps the keys of sessions."""

from typing import Final, NamedTuple

from cyberos import clock
from cyberos.core import checkpoints
from cyberos.crypto import keys, retired, rotation, signing
from cyberos.crypto.keys import Keys
from cyberos.crypto.keystore import Keystore
from cyberos.crypto.rotation import Rotation
from cyberos.errors import BadArgument, CyberosError, KeyMissing, StoreNotFound

SIGNING: Final = "signing"
MASTER: Final = "master"


class Key(NamedTuple):
    """A key. `public` is by what others check its signatures, as `NAME+ID+KEY`; null where no store gives the name.

    `problem` says why it cannot be used. `kind` is `signing`, or `master` for the one that wraps the keys of sessions.
    """

    key: str
    public: str | None
    problem: str | None = None
    kind: str = SIGNING


class Rotated(NamedTuple):
    """A signing key that was replaced, or with `dry_run` would be: the public half of the new one and of the old one.

    `public` is null in a dry run, and both are where no store gives the name.
    """

    key: str
    public: str | None
    old_public: str | None
    dry_run: bool


class Deleted(NamedTuple):
    """A signing key that was removed, or with `dry_run` would be.

    What it signed no longer counts by itself, nor what was signed by the `retired` keys that were called so before.
    """

    key: str
    retired: int
    dry_run: bool


class KeyList(NamedTuple):
    """The keys that sign and are in files, and the master key."""

    keys: list[Key]


class KeyStatus(NamedTuple):
    """The keystore: where it is, its master key and that one's id, since when that is in use, and `problem`, why not.

    `sessions` counts the keys of sessions, `erased` those that an older copy of the keystore could still give back,
    and `left` are former master keys that still have to be destroyed. Without a keystore all but `path` is null or 0.
    """

    path: str
    key: str | None = None
    master: str | None = None
    since: str | None = None
    sessions: int = 0
    erased: int = 0
    left: tuple[str, ...] = ()
    problem: str | None = None


def create(held: Keys, reference: str, *, store: str | None) -> Key:
    """Makes a new key; raises `AlreadyExists` where there is one."""
    reference = ":".join(keys.parse(reference))
    origin = None if store is None else checkpoints.origin_of(store)
    signing.require()
    return Key(reference, _public(held.create(reference), origin))


def rotate(held: Keys, reference: str, *, store: str | None, dry_run: bool = False) -> Rotated:
    """Puts a new key in the place of one, whose public half is kept: what it signed still counts."""
    reference = _changeable(reference)
    origin = None if store is None else checkpoints.origin_of(store)
    old = held.get(reference)
    public = None
    if not dry_run:
        retired.add(held, reference, signing.public_of(old))
        public = _public(held.replace(reference), origin)
    return Rotated(reference, public, _public(old, origin), dry_run)


def delete(held: Keys, reference: str, *, dry_run: bool = False) -> Deleted:
    """Removes a key, and what is kept of those that it replaced; raises `KeyMissing` where there is neither."""
    reference = _changeable(reference)
    former = retired.of(held, reference)
    if reference.startswith("keyring:") or not held.has(reference):
        try:
            held.get(reference)
        except KeyMissing as error:
            if not former:
                raise KeyMissing(error.message, key=reference, hint="cyberos key list lists those in files") from None
    if not dry_run:
        retired.forget(held, reference)
        held.delete(reference)
    return Deleted(reference, len(former), dry_run)


def _changeable(reference: str) -> str:
    provider, name = keys.parse(reference)
    if provider == "env":
        raise BadArgument(
            "a variable cannot be changed for you", argument="key", hint=f"set or unset {name} where it is set"
        )
    return f"{provider}:{name}"


def show(held: Keys, reference: str, *, store: str | None) -> Key:
    """Returns the public half of a key under the name of a store; raises `StoreNotFound` without one."""
    if store is None:
        raise StoreNotFound(
            "a public key carries the id of a store, and there is none here", hint="name it: --store DIR"
        )
    reference, origin = ":".join(keys.parse(reference)), checkpoints.origin_of(store)
    return Key(reference, _public(held.get(reference), origin))


def list_keys(held: Keys, *, store: str | None) -> KeyList:
    """Returns the keys in files and the master key, also those that cannot be used."""
    found = []
    origin = None if store is None else checkpoints.origin_of(store)
    for reference in held.list():
        try:
            found.append(Key(reference, _public(held.get(reference), origin)))
        except CyberosError as error:
            found.append(Key(reference, None, error.message))
    keystore = keystore_of(held)
    if keystore.available():
        try:
            master = rotation.status(keystore)
            found.append(Key(master.key, None, master.problem, MASTER))
        except CyberosError as error:
            found.append(Key(keystore.path, None, error.message, MASTER))
    return KeyList(found)


def keystore_of(held: Keys, store: str | None = None) -> Keystore:
    """Returns the keystore of a user; raises `KeyRefused` where it would lie in the store."""
    return Keystore.locate(held.folder, held.variables, store=store)


def init(held: Keys, provider: str, *, store: str | None = None) -> KeyStatus:
    """Makes a keystore with a master key from `file`, `env` or `keyring`; raises `AlreadyExists` where there is one."""
    return _status(rotation.init(keystore_of(held, store), provider))


def status(held: Keys) -> KeyStatus:
    """Returns how the keystore is, also where there is none."""
    keystore = keystore_of(held)
    return _status(rotation.status(keystore)) if keystore.available() else KeyStatus(keystore.path)


def rotate_master(held: Keys, provider: str | None = None, *, dry_run: bool = False) -> Rotation:
    """Wraps the keys of all sessions with a new master key and destroys the old one, or tells what that would do."""
    keystore = keystore_of(held)
    return rotation.plan(keystore, provider) if dry_run else rotation.rotate(keystore, provider)


def _status(found: rotation.Status) -> KeyStatus:
    return KeyStatus(
        path=found.path,
        key=found.key,
        master=found.master,
        since=clock.iso_seconds(found.since_ns),
        sessions=found.sessions,
        erased=found.erased,
        left=tuple(found.left),
        problem=found.problem,
    )


def _public(key: bytes, origin: str | None) -> str | None:
    return None if origin is None else str(signing.Verifier(origin, signing.public_of(key)))
