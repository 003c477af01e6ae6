"""Making a keystore, giving it another master key, and telling how it is."""

import os
from typing import Final, NamedTuple

from cyberos import clock
from cyberos.crypto import envelope, master
from cyberos.crypto.keys import PROVIDERS, parse
from cyberos.crypto.keystore import Keystore
from cyberos.crypto.keystore_file import State, Wrapped
from cyberos.errors import AlreadyExists, BadArgument, CyberosError, KeyMissing, KeyRetired

_FIRST: Final = 1


class Rotation(NamedTuple):
    """Another master key: its reference and id, those of the one before, and how many keys of sessions it wraps.

    `unreachable` counts the sessions whose erased keys no older copy of the keystore can give back any more. `left`
    are former master keys that still have to be destroyed, since that failed or only their owner can.
    """

    key: str
    master: str
    old_key: str
    old_master: str
    rewrapped: int
    unreachable: int
    left: list[str]


class Status(NamedTuple):
    """How a keystore is. `since_ns` is when its master key came into use, `problem` why that cannot be used.

    `sessions` counts the keys of sessions, `erased` those that an older copy of the keystore could still give back,
    and `left` are former master keys that still have to be destroyed.
    """

    path: str
    key: str
    master: str
    since_ns: int
    sessions: int
    erased: int
    left: list[str]
    problem: str | None


def init(keystore: Keystore, provider: str) -> Status:
    """Makes a keystore with a master key; raises `AlreadyExists` where there is one."""
    _check(provider)
    envelope.require()
    with keystore.locked():
        if keystore.available():
            raise AlreadyExists(
                f"there is a keystore already: {keystore.path}", path=keystore.path,
                hint="another master key: cyberos key rotate --kind master",
            )  # fmt: skip
        keystore_id = os.urandom(4).hex()
        key = master.name(provider, keystore_id, _FIRST)
        made = keystore.masters.get(key) if provider == "env" else keystore.masters.create(key)
        state = State(keystore_id, _FIRST, key, master.id_of(made), clock.now_ns(), Wrapped(), {}, [], [])
        try:
            keystore.save(state)
        except CyberosError:
            if provider != "env" and not keystore.available():
                keystore.masters.delete(key)
            raise
    return _status(keystore, state)


def status(keystore: Keystore) -> Status:
    """Returns how a keystore is; raises `KeyMissing` where there is none."""
    return _status(keystore, keystore.load())


def plan(keystore: Keystore, provider: str | None = None) -> Rotation:
    """Returns what a rotation would do, as far as that is known before; raises what it would raise."""
    state = keystore.load()
    _unwrapped(keystore, state)
    key = _next_name(state, provider)
    new = _named(keystore, state) if key == master.VARIABLE else None
    erased = sum(map(len, state.erased.values()))
    left = [state.key] if state.key == master.VARIABLE else []
    return Rotation(
        key, "" if new is None else master.id_of(new), state.key, state.master, len(state.keys), erased, left
    )


def rotate(keystore: Keystore, provider: str | None = None) -> Rotation:
    """Wraps the keys of all sessions with a new master key, from then on the only one, and destroys the old one.

    No transcript is touched. A crash leaves the old master key in use or the new one; in the latter case the next
    change of the keystore destroys the old one. From a variable to a variable: CYBEROS_NEW_MASTER_KEY has the new key.
    """
    with keystore.changing() as state:
        opened = _unwrapped(keystore, state)
        key = _next_name(state, provider)
        if key == master.VARIABLE:
            new = _named(keystore, state)
        else:
            keystore.masters.delete(key)  # an interrupted rotation left it; nothing is wrapped with it
            new = keystore.masters.create(key)
        wrapped = Wrapped.of((*ids, master.wrap(new, key_of, *ids)) for ids, key_of in opened.items())
        changed = state.with_master(key, master.id_of(new), clock.now_ns(), wrapped)
        keystore.save(changed)
        settled = keystore.retire(changed)
    left = [*settled.retiring, *([state.key] if state.key == master.VARIABLE else [])]
    before, after = (sum(map(len, of.erased.values())) for of in (state, settled))
    return Rotation(key, changed.master, state.key, state.master, len(opened), before - after, left)


def _check(provider: str) -> None:
    if provider not in PROVIDERS:
        raise BadArgument(f"no provider of keys: {provider!r}", argument="provider", hint="file, keyring or env")


def _next_name(state: State, provider: str | None) -> str:
    chosen = provider or parse(state.key)[0]
    _check(chosen)
    return master.name(chosen, state.id, state.generation + 1)


def _named(keystore: Keystore, state: State) -> bytes:
    """Returns the next master key, which a variable holds."""
    where = master.NEXT_VARIABLE if state.key == master.VARIABLE else master.VARIABLE
    try:
        new = keystore.masters.get(where)
    except KeyMissing as error:
        raise KeyMissing(f"the next master key is not there: {error.message}", key=where, hint=error.hints) from None
    if master.id_of(new) == state.master:
        raise BadArgument(f"{where} holds the master key that is in use", argument="key", hint="make a new one")
    if master.id_of(new) in state.retired:
        raise KeyRetired(f"the master key in {where} was retired", key=where, hint="make a new one")
    return new


def _unwrapped(keystore: Keystore, state: State) -> dict[tuple[str, str], bytes]:
    envelope.require()
    key = keystore.master_key(state)
    return {
        (store_id, session_id): master.unwrap(key, wrapped, store_id, session_id, keystore.path)
        for store_id, session_id, wrapped in state.keys.all(keystore.path)
    }


def _status(keystore: Keystore, state: State) -> Status:
    problem = None
    try:
        keystore.master_key(state)
    except CyberosError as error:
        problem = error.message
    erased = sum(map(len, state.erased.values()))
    return Status(
        keystore.path, state.key, state.master, state.since_ns, len(state.keys), erased, state.retiring, problem
    )
