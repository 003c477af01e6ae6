"""What was sealed cannot be opened."""

from cyberos.errors.family import CyberosError, Kind


class WrongKey(CyberosError):
    """The key is not the one that this was sealed with."""

    code = "wrong_key"
    kind = Kind.KEY
    fields = ("key",)
    key: str | None


class KeyRetired(CyberosError):
    """The key was replaced by another one and opens nothing any more."""

    code = "key_retired"
    kind = Kind.KEY
    fields = ("key",)
    key: str | None


class KeyErased(CyberosError):
    """The key of this session was erased, so that nobody can read the session again."""

    code = "key_erased"
    kind = Kind.NOT_FOUND
    fields = ("session_id",)
    session_id: str | None


class SealBroken(CyberosError):
    """A sealed turn is not what was sealed in its place."""

    code = "seal_broken"
    kind = Kind.CORRUPT
    fields = ("session_id", "turn")
    session_id: str | None
    turn: int | None


class CorruptKeystore(CyberosError):
    """The keystore is damaged."""

    code = "corrupt_keystore"
    kind = Kind.CORRUPT
    fields = ("file", "session_id")
    file: str | None
    session_id: str | None


class KeystoreLocked(CyberosError):
    """Another process is changing the keystore."""

    code = "keystore_locked"
    kind = Kind.BUSY
    fields = ("file",)
    file: str | None
