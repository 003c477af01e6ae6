"""Who may record: what the store's owner approved, and the access list of `sessions/`; asked before what exists."""

import os

from cyberos import config, layout
from cyberos.core.sessions import book, terms
from cyberos.core.sessions.book import Known
from cyberos.core.writer import Writer
from cyberos.crypto.envelope import SessionCipher
from cyberos.crypto.keystore import Erased, Keystore
from cyberos.errors import BadConfig, KeyMissing


def enter(writer: Writer, session_id: str, kind: str, actor: str | None = None) -> None:
    """Raises `BadArgument` for what is no id, and `AclDenied` where the actor may not write below `sessions/`."""
    writer.permit(actor or writer.actor, book.name_of(terms.check_id(session_id)), kind)


def enter_all(writer: Writer, kind: str) -> None:
    """Raises `AclDenied` where the writer's actor may not write below `sessions/`."""
    writer.permit(writer.actor, f"{layout.SESSIONS}/", kind)


def permit_owner(writer: Writer, known: Known, kind: str) -> None:
    """Raises `AclDenied` where the session's own actor may not write any more."""
    if known.actor != writer.actor:
        writer.permit(known.actor, book.name_of(known.id), kind)


def store_id(store: str | os.PathLike[str]) -> str:
    """Returns the name under which a store's keys are kept: its id; raises `BadConfig` where it has none.

    Stores without an id would share their keys: purging a session of one would destroy a session of another.
    """
    found = config.load(store).store_id
    if not found:
        raise BadConfig(
            "the store has no id, and keys are kept by it", file=layout.MANIFEST, key="store_id",
            hint='give it one in manifest.json, "store_id": "NAME", a word of letters, digits, ., _ and -',
        )  # fmt: skip
    return found


def new_cipher(writer: Writer, session_id: str, classification: str) -> SessionCipher | None:
    """Returns the cipher of a session that is about to start; `None` where it will not be encrypted.

    A restricted one is, or does not start: `KeyMissing`. A confidential one is where there is a keystore.
    """
    keystore = writer.keystore
    if keystore is None or not keystore.available():
        if classification == terms.RESTRICTED:
            raise KeyMissing(
                "a restricted session is encrypted, and there is no key for it", hint="make one: cyberos key init"
            )
        return None
    return keystore.create(store_id(writer.store_path), session_id)


def cipher(writer: Writer, known: Known) -> SessionCipher | None:
    """Returns the cipher of a session; `None` where it is not encrypted. Raises what opening a keystore raises."""
    return cipher_from(writer.keystore, writer.store_path, known)


def cipher_from(keystore: Keystore | None, store: str | os.PathLike[str], known: Known) -> SessionCipher | None:
    """As `cipher`, without a writer."""
    keystore = require_keystore(keystore, known)
    if not keystore or not known.encrypted:
        return None
    if not keystore.available():
        raise KeyMissing(
            f"session {known.id} is encrypted with a key of a keystore that is not at {keystore.path}", key=known.id,
            hint="bring that keystore back, or say with CYBEROS_CONFIG where it is: a new one does not have the key",
        )  # fmt: skip
    return keystore.open(store_id(store), known.id)


def require_keystore(keystore: Keystore | None, known: Known) -> Keystore | None:
    """Returns the keystore; raises `KeyMissing` where there is none and the session is encrypted."""
    if known.encrypted and keystore is None:
        raise KeyMissing(
            f"session {known.id} is encrypted, and there is no keystore", key=known.id,
            hint="open the writer with the keystore: Writer(store, keystore=…)",
        )  # fmt: skip
    return keystore


def erase_key(writer: Writer, known: Known) -> Erased:
    """Erases a session's key, where there is one; raises what `require_keystore` raises."""
    keystore = require_keystore(writer.keystore, known)
    if keystore is None or not known.encrypted:
        return Erased((), None)
    return keystore.erase(store_id(writer.store_path), known.id)
