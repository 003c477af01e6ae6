"""Ed25519 signatures over text, as C2SP signed notes: https://c2sp.org/signed-note.

A note is a text that ends with a line feed, an empty line, and a line for each signature: an em dash, the key's name,
and in base64 the key's id and the signature.
"""

import base64
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cyberos.errors import BadArgument, BadNote, ExtraMissing

ED25519: Final = b"\x01"
_DASH: Final = "\N{EM DASH} "
_ID: Final = 4
_SIGNATURE: Final = 64
_MOST_SIGNATURES: Final = 64
LONGEST: Final = 1 << 20


class Verifier(NamedTuple):
    """A public key and the name under which it signs. As text: `NAME+ID+KEY`, as other programs for notes write it."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """What tells apart keys of one name."""
        import hashlib

        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:_ID]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"


class Note(NamedTuple):
    """A note whose signatures are not checked yet: pairs of the key's name and its id with the signature."""

    text: str
    signatures: tuple[tuple[str, bytes], ...]


def check_name(name: str) -> str:
    """Returns a key's name, which a note can show in one word."""
    if not name or "+" in name or any(char.isspace() or not char.isprintable() for char in name):
        raise BadArgument(f"a note cannot be signed by {name!r}: it must be one word without +", argument="name")
    return name


def parse_verifier(text: str) -> Verifier:
    """Returns a public key; raises `BadArgument`."""
    name, _, rest = text.strip().partition("+")
    key_id, _, key = rest.partition("+")
    try:
        material = base64.b64decode(key, validate=True)
    except ValueError:
        material = b""
    verifier = Verifier(name, material[1:])
    if material[:1] != ED25519 or len(material) != 1 + 32 or not name or verifier.id.hex() != key_id:
        raise BadArgument(
            f"not a public key: {text!r}", argument="key", hint="`cyberos key show` prints one: NAME+ID+KEY"
        )
    return verifier


def require() -> None:
    """Raises `ExtraMissing` where signatures can be neither made nor checked."""
    _ed25519()


def public_of(key: bytes) -> bytes:
    """Returns the public half of a key."""
    public: bytes = _ed25519().Ed25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()
    return public


def sign(text: str, name: str, key: bytes) -> bytes:
    """Returns the note with the text, signed under a name."""
    verifier = Verifier(check_name(name), public_of(key))
    signature = _ed25519().Ed25519PrivateKey.from_private_bytes(key).sign(text.encode())
    return f"{text}\n{_DASH}{name} {base64.b64encode(verifier.id + signature).decode()}\n".encode()


def parse(note: bytes) -> Note:
    """Returns the parts of a note; raises `BadNote` where it is none."""
    try:
        whole = note.decode()
    except UnicodeDecodeError:
        raise BadNote("it is not UTF-8") from None
    if len(note) > LONGEST or re.search(r"[\x00-\x09\x0b-\x1f]", whole):
        raise BadNote("it is no signed text")
    text, blank, lines = whole.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise BadNote("it has no signatures, or is cut off")
    signatures = []
    for line in lines[:-1].split("\n"):
        words = line.removeprefix(_DASH).split(" ")
        try:
            signature = base64.b64decode(words[-1], validate=True)
        except ValueError:
            signature = b""
        if not line.startswith(_DASH) or len(words) != 2 or not words[0] or len(signature) <= _ID:  # noqa: PLR2004
            raise BadNote("a line of it is no signature")
        signatures.append((words[0], signature))
    if len(signatures) > _MOST_SIGNATURES:
        raise BadNote("it has too many signatures")
    return Note(text + "\n", tuple(signatures))


def verify(note: bytes, verifiers: Iterable[Verifier]) -> tuple[str, Verifier]:
    """Returns a note's text and the first of the keys that has signed it.

    Raises `BadNote` where none has, or where a signature of one of them is wrong. Those of others count for nothing.
    """
    parsed = parse(note)
    good = None
    for verifier in verifiers:
        for name, signature in parsed.signatures:
            if name != verifier.name or signature[:_ID] != verifier.id:
                continue
            if not is_signed(parsed.text, signature[_ID:], verifier.public):
                raise BadNote(f"the signature of {verifier.name} ({verifier.id.hex()}) is wrong")
            good = good or verifier
    if good is None:
        signers = ", ".join(f"{name} ({signature[:_ID].hex()})" for name, signature in parsed.signatures)
        raise BadNote(f"no key that is trusted has signed it, only {signers}")
    return parsed.text, good


def is_signed(text: str, signature: bytes, public: bytes) -> bool:
    """Whether a signature is right."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    if len(signature) != _SIGNATURE:
        return False
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ExtraMissing(
            "signing and checking signatures need the package cryptography", extra="crypto",
            hint="pip install 'cyberos[crypto]'",
        ) from None  # fmt: skip
    return ed25519
