"""A key, a signature, or what was signed is not what it must be."""

from cyberos.errors.family import CyberosError, Kind


class KeyMissing(CyberosError):
    """There is no such key."""

    code = "key_missing"
    kind = Kind.KEY
    fields = ("key",)
    key: str | None


class KeyRefused(CyberosError):
    """A key is malformed, or others could have read it."""

    code = "key_refused"
    kind = Kind.KEY
    fields = ("key",)
    key: str | None


class BadNote(CyberosError):
    """A signed head is malformed, or no key that is trusted has signed it."""

    code = "bad_note"
    kind = Kind.CORRUPT
    fields = ("file",)
    file: str | None


class BadProof(CyberosError):
    """A proof does not prove what it says."""

    code = "bad_proof"
    kind = Kind.CORRUPT
    fields = ("file", "seq")
    file: str | None
    seq: int | None


class LogRewritten(CyberosError):
    """The log is not a continuation of what was signed, or read before."""

    code = "log_rewritten"
    kind = Kind.CORRUPT
    fields = ("origin", "size", "last_seq")
    origin: str | None
    size: int | None
    last_seq: int | None
