"""What a keystore holds, and its file.

Two lines: a JSON object, and its SHA-256 in hexadecimal, by which damage is told from keys that were never there.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cyberos.errors import BadConfig, CorruptKeystore

FORMAT: Final = 1
LONGEST: Final = 256 << 20
# How many master keys are remembered as retired, so that whoever comes with one is told so.
_REMEMBERED: Final = 64

# Per store id and session id: a wrapped key in base64, or under which generation of the master key it was erased.
Keys = dict[str, dict[str, str]]
Erased = dict[str, dict[str, int]]


class State(NamedTuple):
    """What a keystore holds.

    `key` is the master key's reference and `master` its id; `generation` counts master keys. `retiring` are references
    of master keys that are to be destroyed, `retired` the ids of those that were in use. `erased` are the keys that an
    older copy of the keystore still has, wrapped with a master key that may still be there.
    """

    id: str
    generation: int
    key: str
    master: str
    since_ns: int
    keys: Keys
    erased: Erased
    retiring: list[str]
    retired: list[str]

    def with_key(self, store_id: str, session_id: str, wrapped: str | None) -> "State":
        """Returns the state with a key of a session, or with a note that it was erased."""
        return self._replace(
            keys=_with(self.keys, store_id, session_id, wrapped),
            erased=_with(self.erased, store_id, session_id, self.generation if wrapped is None else None),
        )

    def settled(self, retiring: list[str]) -> "State":
        """Returns the state with fewer master keys that are to be destroyed.

        With none left, what was erased under an earlier one is out of reach for everybody.
        """
        erased = self.erased
        if not retiring:
            erased = {}
            for store_id, of_store in self.erased.items():
                if now := {name: under for name, under in of_store.items() if under == self.generation}:
                    erased[store_id] = now
        return self._replace(retiring=retiring, erased=erased)

    def all_keys(self) -> Iterator[tuple[str, str, str]]:
        """Yields the store's id, the session's, and the wrapped key of each."""
        for store_id, of_store in self.keys.items():
            for session_id, wrapped in of_store.items():
                yield store_id, session_id, wrapped

    def with_master(self, key: str, master: str, now_ns: int, keys: Keys) -> "State":
        """Returns the state under another master key; the one so far is retiring, unless it is a variable."""
        retiring = [*self.retiring, *([] if self.key.startswith("env:") else [self.key])]
        changed = self._replace(
            generation=self.generation + 1,
            key=key,
            master=master,
            since_ns=now_ns,
            keys=keys,
            retired=[*self.retired, self.master][-_REMEMBERED:],
        )
        return changed.settled(retiring)


def _with(
    of_stores: dict[str, dict[str, Any]], store_id: str, session_id: str, value: Any
) -> dict[str, dict[str, Any]]:
    of_store = {name: kept for name, kept in of_stores.get(store_id, {}).items() if name != session_id}
    if value is not None:
        of_store[session_id] = value
    others = {name: kept for name, kept in of_stores.items() if name != store_id}
    return {**others, store_id: of_store} if of_store else others


def encode(state: State) -> bytes:
    """Returns the content of the file."""
    import hashlib

    body = json.dumps({"format": FORMAT, **state._asdict()}, sort_keys=True, separators=(",", ":")).encode()
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def parse(content: bytes, file: str) -> State:
    """Returns what a file says; raises `CorruptKeystore`, or `BadConfig` where a newer program wrote it."""
    import hashlib

    body, _, digest = content.partition(b"\n")
    if digest != hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise corrupt(file, "it is not what was written")
    try:
        values = json.loads(body)
        made_by = values.pop("format")
        state = State(**values) if made_by == FORMAT else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise corrupt(file, "it is no keystore") from None
    if state is None:
        raise BadConfig(f"{file} has the format {made_by}, which this version of cyberos does not know", file=file)
    return state


def corrupt(file: str, what: str, session_id: str | None = None) -> CorruptKeystore:
    """Returns the error of a damaged keystore."""
    return CorruptKeystore(
        f"{file} is damaged: {what}", file=file, session_id=session_id,
        hint="restore a copy that is no older than the last `cyberos key rotate --kind master`",
    )  # fmt: skip
