"""Signing heads of the log, keeping them where a rollback does not reach, and holding the log against them."""

import json
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cyberos import clock
from cyberos.core import checkpoints, heads
from cyberos.core.checkpoints import Checkpoint
from cyberos.core.inspection import check_format
from cyberos.core.reader import AuditChainReader
from cyberos.crypto import keys, retired, signing
from cyberos.crypto.keys import Keys
from cyberos.crypto.signing import Verifier
from cyberos.errors import BadConfig, BadNote, CyberosError, KeyMissing, VersionNotFound


class Head(NamedTuple):
    """A signed head: the root, in hexadecimal, of the first `size` rows of the log `origin`, and who signed it.

    `at` is the time of its last row.
    """

    origin: str
    size: int
    root: str
    signers: list[str]
    at: str | None
    note: str


class Made(NamedTuple):
    """A head that was asked for. `created` is false where it was signed before; `copied` says where it is now, too."""

    head: Head
    created: bool
    copied: list[str]
    warnings: list[str]


class Heads(NamedTuple):
    """The signed heads of a store, the smallest first."""

    checkpoints: list[Head]


class Copies(NamedTuple):
    """Where the signed heads of a store are copied to."""

    origin: str
    places: list[str]


class Contradiction(NamedTuple):
    """A signed head that the log contradicts, or one that nobody who is trusted has signed."""

    place: str
    size: int | None
    what: str


class Held(NamedTuple):
    """What holding the log against signed heads found: how many were looked at, and which it contradicts."""

    heads: int
    contradictions: list[Contradiction]


def create(store: str, held: Keys, reference: str = keys.DEFAULT, *, size: int | None = None) -> Made:
    """Signs the log's head, remembers it, and copies it to where this user's settings say."""
    origin = checkpoints.origin_of(store)
    key = held.get(reference)
    remembered = heads.remembered(held.folder, origin)
    made, created = checkpoints.create(store, key, remembered=remembered, size=size)
    heads.append(heads.memory_of(held.folder, origin), made.note)
    copied, warnings = [], []
    for place in _settings(held.folder).get(origin, []):
        try:
            heads.copy(place, origin, made.note, f"{origin}: {made.size} rows")
            copied.append(place)
        except CyberosError as error:  # the head is signed, and the other places may be there
            warnings.append(f"the signed head is not copied to {place}: {error.message}")
    return Made(_head(made, AuditChainReader(store)), created, copied, warnings)


def list_heads(store: str) -> Heads:
    """Returns the signed heads that lie in a store."""
    reader = AuditChainReader(store)
    return Heads([_head(checkpoint, reader) for checkpoint in checkpoints.stored(store)])


def export(store: str, *, size: int | None = None) -> bytes:
    """Returns the newest note in a store, or that of `size` rows."""
    check_format(store)
    found = [checkpoint for checkpoint in checkpoints.stored(store) if size in (None, checkpoint.size)]
    if not found:
        what = "no signed head" if size is None else f"no signed head of {size} rows"
        raise VersionNotFound(f"the store has {what}", seq=size, hint="cyberos checkpoint create makes one")
    return found[-1].note


def copies(store: str, folder: str, *, add: str | None = None, remove: str | None = None) -> Copies:
    """Returns where the heads of a store are copied to, after a change. `folder` is the user's configuration folder."""
    origin, settings = checkpoints.origin_of(store), _settings(folder)
    places = settings.get(origin, [])
    if add is not None:
        place = _absolute(add)
        # Whoever cannot write there learns it now.
        for checkpoint in checkpoints.stored(store)[-1:]:
            heads.copy(place, origin, checkpoint.note, f"{origin}: {checkpoint.size} rows")
        places = [*dict.fromkeys([*places, place])]
    if remove is not None:
        places = [place for place in places if place not in (remove, _absolute(remove))]
    if add is not None or remove is not None:
        text = json.dumps({**settings, origin: places}, indent=2, ensure_ascii=False) + "\n"
        heads.write_new(os.path.join(folder, _SETTINGS), text.encode())
    return Copies(origin, places)


_SETTINGS = "copies.json"


def _absolute(place: str) -> str:
    prefix, folder = ("git:", place[4:]) if place.startswith("git:") else ("", place)
    return prefix + os.path.abspath(folder)


def _settings(folder: str) -> dict[str, list[str]]:
    path = os.path.join(folder, _SETTINGS)
    try:
        with open(path, "rb") as handle:
            found = json.load(handle)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadConfig(f"{path} cannot be read: {error}", file=path) from None
    if not isinstance(found, dict) or not all(isinstance(places, list) for places in found.values()):
        raise BadConfig(f"{path} must be an object of lists", file=path)
    return found


def trusted(held: Keys, origin: str, named: Iterable[str] = ()) -> list[Verifier]:
    """Returns the public keys that may sign heads of a log.

    They are those named, else those of this user's keys in files and of the ones that were replaced.
    """
    verifiers = [signing.parse_verifier(text) for text in named]
    if not verifiers:
        verifiers = [Verifier(origin, public) for public in retired.all_publics(held)]
    if not verifiers:
        raise KeyMissing(
            "no key is known whose signature would count",
            hint="give the signer's public key: --key NAME+ID+KEY, as `cyberos key show` prints it there",
        )
    return verifiers


def hold(store: str, held: Keys, places: Sequence[str], *, named: Sequence[str] = ()) -> Held:
    """Holds the log against every signed head at some places (`remembered`: those this user has seen).

    All roots are computed from the rows. Raises `BadNote` where a place has no head at all.
    """
    origin = checkpoints.origin_of(store)
    reader = AuditChainReader(store)
    last = reader.last_seq()
    verifiers: list[Verifier] = []
    good: list[tuple[str, Checkpoint]] = []
    wrong: list[Contradiction] = []
    for place in places:
        own = place == REMEMBERED
        notes = heads.remembered(held.folder, origin) if own else heads.read(place, origin)
        if not notes:
            raise BadNote(
                f"no signed head of {origin} is at {place}", file=place, hint="cyberos checkpoint create makes one"
            )
        for note in notes:
            try:
                checkpoint = checkpoints.parse(note)
                if not own:
                    verifiers = verifiers or trusted(held, origin, named)
                    checkpoint, _ = checkpoints.verified(note, verifiers)
            except BadNote as error:
                wrong.append(Contradiction(place, None, f"a signed head cannot be trusted: {error.message}"))
                continue
            if checkpoint.origin != origin:
                what = f"the signed head is of the log {checkpoint.origin}, and this is {origin}"
                wrong.append(Contradiction(place, checkpoint.size, what))
            else:
                good.append((place, checkpoint))
    there = [checkpoint.size for _, checkpoint in good if checkpoint.size <= last]
    roots = dict(zip(there, reader.native.roots(there), strict=True)) if there else {}
    for place, checkpoint in good:
        if roots.get(checkpoint.size) != checkpoint.root:
            wrong.append(Contradiction(place, checkpoint.size, checkpoints.contradiction(checkpoint, last)))
    return Held(len(good), wrong)


REMEMBERED = "remembered"


def _head(checkpoint: Checkpoint, reader: AuditChainReader) -> Head:
    signers = [f"{name}+{signature[:4].hex()}" for name, signature in signing.parse(checkpoint.note).signatures]
    at = None
    if 1 <= checkpoint.size <= reader.last_seq():
        rows, _ = reader.native.rows(checkpoint.size, checkpoint.size)
        at = clock.iso_seconds(rows[0]["ts_ns"]) if rows else None
    return Head(checkpoint.origin, checkpoint.size, checkpoint.root.hex(), signers, at, checkpoint.note.decode())
