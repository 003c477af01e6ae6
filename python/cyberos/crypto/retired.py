"""Public halves of keys that were replaced: what those signed still counts.

They lie beside the keys, in `keys/retired.json` of the user's configuration folder: for each key's reference those of
its predecessors, the oldest first, in base64.
"""

import base64
import json
import os
from collections.abc import Iterator
from typing import Final

from cyberos import durable
from cyberos.crypto import private, signing
from cyberos.crypto.keys import Keys
from cyberos.errors import CyberosError, IoFailure, KeyRefused

_FILE: Final = "retired.json"
_LONGEST: Final = 1 << 20
_PUBLIC: Final = 32


def of(held: Keys, reference: str) -> list[bytes]:
    """Returns the public halves of the keys that were called so before; raises `KeyRefused`."""
    return _load(held).get(reference, [])


def current_publics(held: Keys) -> Iterator[bytes]:
    """Yields the public half of each key in a file that can be used."""
    for reference in held.list():
        try:
            yield signing.public_of(held.get(reference))
        except CyberosError:  # one that cannot be used is none; `key list` tells
            continue


def all_publics(held: Keys) -> list[bytes]:
    """Returns the public half of each key in a file that can be used, then of each that was replaced."""
    former = (public for retired in _load(held).values() for public in retired)
    return list(dict.fromkeys([*current_publics(held), *former]))


def add(held: Keys, reference: str, public: bytes) -> None:
    """Notes that the key with this public half is about to be replaced. Doing so twice changes nothing."""
    known = _load(held)
    if public not in known.get(reference, []):
        _save(held, {**known, reference: [*known.get(reference, []), public]})


def forget(held: Keys, reference: str) -> None:
    """Forgets all that were called so."""
    known = _load(held)
    if known.pop(reference, None):
        _save(held, known)


def _path(held: Keys) -> str:
    return os.path.join(held.folder, held.kind.folder, _FILE)


def _load(held: Keys) -> dict[str, list[bytes]]:
    path = _path(held)
    content = private.read(path, longest=_LONGEST, instead="remove it: what the former keys signed counts no longer")
    if content is None:
        return {}
    try:
        found = {
            str(reference): [base64.b64decode(text, validate=True) for text in texts]
            for reference, texts in json.loads(content).items()
        }
    except (ValueError, AttributeError, TypeError):
        found = {"": [b""]}
    if any(len(public) != _PUBLIC for publics in found.values() for public in publics):
        raise KeyRefused(
            f"{path} is no list of public keys", key=path, hint="put a copy back, or remove it: then what they signed "
            "counts only for who names their public halves",
        )  # fmt: skip
    return found


def _save(held: Keys, known: dict[str, list[bytes]]) -> None:
    folder = os.path.dirname(_path(held))
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise IoFailure.of("cannot make", folder, error) from error
    texts = {reference: [base64.b64encode(public).decode() for public in known[reference]] for reference in known}
    durable.replace(_path(held), json.dumps(texts, indent=2).encode() + b"\n", shared=True)
