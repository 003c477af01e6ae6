"""Sealing the turns of a session: AES-256-GCM under a key of the session's own, as an object of base64 text.

`{"alg": "aes-256-gcm", "ct": …, "kc": …, "key_ref": …, "nonce": …}`. The nonce is 96 random bits; `ct` ends with the
tag of 16 bytes. What is sealed is bound to its place: the authenticated data is a label, the store's and the session's
id, `alg` and `key_ref`, the turn's number, its time and its role, each text behind its length. `key_ref` names the
session's key, which outlives every master key, and `kc` commits to it: GCM alone would let one text open under two
keys. Both are derived from the session's key, as is the key that encrypts.
"""

import binascii
import os
import struct
from typing import Any, Final, NamedTuple

from cyberos.errors import BadArgument, ExtraMissing, KeyMissing, SealBroken, WrongKey

ALG: Final = "aes-256-gcm"
NONCE: Final = 12
TAG: Final = 16

# Random nonces are safe for so many turns under one key: NIST SP 800-38D, 8.3.
_MOST_TURNS: Final = 1 << 32
_PLACE: Final = struct.Struct(">QQI")
_QUANTUM: Final = 4
_FIELDS: Final = {"alg", "ct", "kc", "key_ref", "nonce"}


class Foreign(NamedTuple):
    """What upstream's envelope tells of a turn that it sealed under a key of its own. `length` is the content's."""

    alg: str
    key_ref: str
    length: int
    intact: bool


def joined(*parts: bytes) -> bytes:
    """Returns the parts as one, each behind its length in four bytes, so that no two lists of parts are alike."""
    return b"".join(len(part).to_bytes(4) + part for part in parts)


def require() -> None:
    """Raises `ExtraMissing` where nothing can be sealed or opened."""
    aead(bytes(32))


def aead(key: bytes) -> Any:
    """Returns AES-256-GCM under a key; raises `ExtraMissing`."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ExtraMissing(
            "sealing and opening sessions need the package cryptography", extra="crypto",
            hint="pip install 'cyberos[crypto]'",
        ) from None  # fmt: skip
    return AESGCM(key)


def encode(raw: bytes) -> str:
    """Returns bytes in base64."""
    return binascii.b2a_base64(raw, newline=False).decode()


def decode(text: object) -> bytes:
    """Returns the bytes of a base64 text that is exactly what `encode` makes of them; raises `ValueError`."""
    if not isinstance(text, str):
        raise ValueError("it is no text")  # noqa: TRY004, it is one of several ways to be malformed
    raw = binascii.a2b_base64(text, strict_mode=True)
    # The decoder passes over bits that no byte needs; they are in the last four characters.
    whole = (len(raw) - 1) // 3 * 3
    if encode(raw[whole:]) != text[-_QUANTUM:]:
        raise ValueError("it is no base64 that was written here")
    return raw


class SessionCipher:
    """Seals and opens the turns of one session."""

    def __init__(self, key: bytes, store_id: str, session_id: str) -> None:
        """Takes the session's key, 32 random bytes; raises `ExtraMissing`."""
        self.session_id = session_id
        self.key_ref = _derived(key, b"cyberos-key-ref-v1")[:8].hex()
        self._commitment = encode(_derived(key, b"cyberos-commitment-v1"))
        self._aead = aead(_derived(key, b"cyberos-turn-key-v1"))
        self._place = joined(
            b"cyberos-turn-v1", store_id.encode(), session_id.encode(), ALG.encode(), self.key_ref.encode()
        )

    def seal(self, role: str, turn: int, time_ns: int, content: bytes) -> dict[str, str]:
        """Returns the envelope of a turn's content."""
        nonce = os.urandom(NONCE)
        sealed = self._aead.encrypt(nonce, content, self._bound(role, turn, time_ns))
        return {
            "alg": ALG,
            "ct": encode(sealed),
            "kc": self._commitment,
            "key_ref": self.key_ref,
            "nonce": encode(nonce),
        }

    def open(self, role: str, turn: int, time_ns: int, envelope: Any) -> bytes:
        """Returns what was sealed in this place.

        Raises `SealBroken` where it is not what was sealed there, `WrongKey` where it was sealed with the key of
        another session, and `KeyMissing` where upstream sealed it.
        """
        from cryptography.exceptions import InvalidTag

        if (other := foreign(envelope)) is not None:
            raise KeyMissing(
                f"turn {turn} of session {self.session_id} was sealed by another program, with a key of its own",
                key=other.key_ref, hint="read it with the program that wrote it",
            )  # fmt: skip
        if not isinstance(envelope, dict) or envelope.keys() != _FIELDS or envelope["alg"] != ALG:
            raise self._broken(turn, f"its envelope is none of {ALG}")
        if (key_ref := envelope["key_ref"]) != self.key_ref:
            raise WrongKey(
                f"turn {turn} of session {self.session_id} was sealed with another key: {key_ref}, not {self.key_ref}",
                key=key_ref, hint="the transcript was changed, or its session was recorded elsewhere",
            )  # fmt: skip
        if envelope["kc"] != self._commitment:
            raise self._broken(turn, "it commits to another key")
        try:
            nonce, sealed = decode(envelope["nonce"]), decode(envelope["ct"])
        except ValueError:
            raise self._broken(turn, "its envelope is malformed") from None
        if len(nonce) != NONCE or len(sealed) < TAG:
            raise self._broken(turn, "its envelope is malformed")
        try:
            content: bytes = self._aead.decrypt(nonce, sealed, self._bound(role, turn, time_ns))
        except (InvalidTag, BadArgument):
            raise self._broken(turn, "its content, number, role or time is not what was sealed") from None
        return content

    def _bound(self, role: str, turn: int, time_ns: int) -> bytes:
        text = role.encode("utf-8", "surrogatepass")
        if not 0 <= turn < _MOST_TURNS:
            raise BadArgument(f"a session has no turn {turn}", argument="turn")
        try:
            return self._place + _PLACE.pack(turn, time_ns, len(text)) + text
        except struct.error:
            raise BadArgument(f"not a time: {time_ns}", argument="time_ns") from None

    def _broken(self, turn: int, why: str) -> SealBroken:
        return SealBroken(
            f"turn {turn} of session {self.session_id} cannot be opened: {why}",
            session_id=self.session_id, turn=turn,
            hint="the transcript was changed after it was written; `cyberos doctor` tells where",
        )  # fmt: skip


def foreign(envelope: Any) -> Foreign | None:
    """Returns what an envelope of upstream's tells without a key, or `None` where it is none."""
    import hashlib

    if not isinstance(envelope, dict) or "cipher" not in envelope or "alg" in envelope:
        return None
    try:
        sealed = bytes.fromhex(str(envelope.get("_ct_hex", "")))
    except ValueError:
        sealed = b""
    return Foreign(
        alg=str(envelope["cipher"]),
        key_ref=str(envelope.get("key_id", "")),
        length=max(0, len(sealed) - TAG),
        intact=hashlib.sha256(sealed).hexdigest() == envelope.get("ciphertext_hash"),
    )


def _derived(key: bytes, label: bytes) -> bytes:
    """Returns one block of HKDF-Expand (RFC 5869) over SHA-256; the key is random already."""
    import hmac

    return hmac.digest(key, label + b"\x01", "sha256")
