"""The master key, which wraps the keys of sessions: where it is, and that it is the right one.

Its provider is a variable, CYBEROS_MASTER_KEY; a file of its owner's; or the operating system's keyring. A keystore
names its master keys after itself and counts them, so that two never share a name.
"""

import os
import re
from typing import Final

from cyberos.crypto import envelope, keystore_file
from cyberos.crypto.keys import Keys, parse
from cyberos.crypto.keystore_file import State
from cyberos.errors import CyberosError, KeyMissing, KeyRetired, WrongKey

VARIABLE: Final = "env:CYBEROS_MASTER_KEY"
# Where the next one is while a rotation goes from one variable to the other.
NEXT_VARIABLE: Final = "env:CYBEROS_NEW_MASTER_KEY"


def name(provider: str, keystore_id: str, generation: int) -> str:
    """Returns the reference of a keystore's master key."""
    return VARIABLE if provider == "env" else f"{provider}:{keystore_id}-{generation}"


def id_of(key: bytes) -> str:
    """Returns what tells a master key from others, and tells nothing about it: 16 hexadecimal digits."""
    import hashlib

    return hashlib.sha256(envelope.joined(b"cyberos-master-id-v1", key)).hexdigest()[:16]


def get(masters: Keys, state: State) -> bytes:
    """Returns the master key of a keystore; raises `KeyMissing`, `WrongKey`, `KeyRetired` or `KeyRefused`."""
    try:
        key = masters.get(state.key)
    except KeyMissing as error:
        if _has_newer(masters, state):
            raise KeyRetired(
                f"the keystore is an older copy: its master key {state.key} was retired and destroyed",
                key=state.key, hint="restore the newest copy; nothing opens what only this one has",
            ) from None  # fmt: skip
        raise KeyMissing(
            f"the master key is not there: {error.message}", key=state.key, hint=_how_to_get(state.key)
        ) from None
    found = id_of(key)
    if found == state.master:
        return key
    if found in state.retired:
        raise KeyRetired(
            f"the master key in {state.key} was retired", key=state.key,
            hint=f"put the one in its place that replaced it: its id is {state.master}",
        )  # fmt: skip
    raise WrongKey(
        f"the master key in {state.key} is not this keystore's: its id is {found}, not {state.master}", key=state.key,
        hint="put the right one in its place; without it the sealed sessions stay closed",
    )  # fmt: skip


def destroyed(masters: Keys, reference: str) -> bool:
    """Destroys a master key; returns whether it is gone."""
    try:
        masters.delete(reference)
    except CyberosError:
        return False
    return True


def wrap(master: bytes, key: bytes, store_id: str, session_id: str) -> str:
    """Returns the key of a session, sealed by the master key for this session alone."""
    nonce = os.urandom(envelope.NONCE)
    sealed: bytes = envelope.aead(master).encrypt(nonce, key, _bound(store_id, session_id))
    return envelope.encode(nonce + sealed)


def unwrap(master: bytes, wrapped: str, store_id: str, session_id: str, file: str) -> bytes:
    """Returns the key of a session; raises `CorruptKeystore`."""
    cipher = envelope.aead(master)
    from cryptography.exceptions import InvalidTag

    try:
        raw = envelope.decode(wrapped)
        key: bytes = cipher.decrypt(raw[: envelope.NONCE], raw[envelope.NONCE :], _bound(store_id, session_id))
    except (ValueError, InvalidTag):
        raise keystore_file.corrupt(file, f"the key of session {session_id} is not what was kept", session_id) from None
    return key


def _bound(store_id: str, session_id: str) -> bytes:
    return envelope.joined(b"cyberos-session-key-v1", store_id.encode(), session_id.encode())


def _has_newer(masters: Keys, state: State) -> bool:
    provider, _ = parse(state.key)
    if provider == "keyring":
        try:
            masters.get(name(provider, state.id, state.generation + 1))
        except CyberosError:
            return False
        return True
    own = re.compile(rf"file:{re.escape(state.id)}-([0-9]+)")
    return any((found := own.fullmatch(key)) and int(found[1]) > state.generation for key in masters.list())


def _how_to_get(reference: str) -> str:
    provider, variable = parse(reference)
    if provider == "env":
        return f"set {variable} to it; without it the sealed sessions stay closed"
    return "put it back from a copy; without it the sealed sessions stay closed"
