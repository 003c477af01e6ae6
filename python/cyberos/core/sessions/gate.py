"""Who may record: what the store's owner approved, and the access list of `sessions/`; asked before what exists."""

from cyberos import config, layout
from cyberos.core.sessions import book, terms
from cyberos.core.sessions.book import Known
from cyberos.core.writer import Writer
from cyberos.crypto.envelope import SessionCipher
from cyberos.crypto.keystore import Erased, Keystore
from cyberos.errors import CyberosError, KeyMissing


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


def store_id(writer: Writer) -> str:
    """Returns the name under which a store's keys are kept."""
    return config.load(writer.store_path).store_id or "store"


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
    return keystore.create(store_id(writer), session_id)


def cipher(writer: Writer, known: Known) -> SessionCipher | None:
    """Returns the cipher of a session; `None` where it is not encrypted. Raises what opening a keystore raises."""
    keystore = require_keystore(writer, known)
    return keystore.open(store_id(writer), known.id) if keystore and known.encrypted else None


def require_keystore(writer: Writer, known: Known) -> Keystore | None:
    """Returns the writer's keystore; raises `KeyMissing` where it has none and the session is encrypted."""
    if known.encrypted and writer.keystore is None:
        raise KeyMissing(
            f"session {known.id} is encrypted, and there is no keystore", key=known.id,
            hint="open the writer with the keystore: Writer(store, keystore=…)",
        )  # fmt: skip
    return writer.keystore


def erase_key(writer: Writer, session_id: str) -> Erased:
    """Erases a session's key, where there is one."""
    if writer.keystore is None:
        return Erased((), None)
    return writer.keystore.erase(store_id(writer), session_id)


def discard_key(writer: Writer, session_id: str) -> None:
    """Erases the key of a session that did not come to be; that it cannot be must not hide why."""
    try:
        erase_key(writer, session_id)
    except CyberosError:
        return
