"""What a keystore holds, and its file.

Lines: a JSON object; then for each session that has a key an array of the store's id, the session's and the wrapped
key; at last the SHA-256, in hexadecimal, of all before it, by which damage is told from keys that were never there.
Nobody parses the keys of all sessions to find the one of a session. In format 1 the object held them.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from cyberos.errors import BadConfig, CorruptKeystore

FORMAT: Final = 2
LONGEST: Final = 256 << 20
# How many master keys are remembered as retired, so that whoever comes with one is told so.
_REMEMBERED: Final = 64
_ONE_OBJECT: Final = 1
# A digest and the end of its line.
_TRAILER: Final = 65

# Per store id and session id: under which generation of the master key a key was erased.
Erased = dict[str, dict[str, int]]


class Wrapped:
    """The wrapped keys of sessions, in base64, as they stand in the file; each session has one at most."""

    __slots__ = ("lines",)

    def __init__(self, lines: bytes = b"") -> None:
        """Takes the lines of the file, each with its end."""
        self.lines: Final = lines

    @classmethod
    def of(cls, keys: Iterable[tuple[str, str, str]]) -> "Wrapped":
        """Returns keys that are given with the ids of their stores and sessions."""
        return cls(b"".join(_line(*each) for each in keys))

    def get(self, store_id: str, session_id: str) -> str | None:
        """Returns the key of a session, as it stands there, or `None`."""
        start, end = self._find(store_id, session_id)
        # Base64 is escaped by no JSON, and what is no base64 does not open.
        return self.lines[start:end].rpartition(b',"')[2].decode("ascii", "replace")[: -len('"]\n')] if end else None

    def replaced(self, store_id: str, session_id: str, wrapped: str | None) -> "Wrapped":
        """Returns the keys with another one of a session, or with none."""
        start, end = self._find(store_id, session_id)
        others = self.lines[:start] + self.lines[end:] if end else self.lines
        return Wrapped(others if wrapped is None else others + _line(store_id, session_id, wrapped))

    def all(self, file: str) -> Iterator[tuple[str, str, str]]:
        """Yields the store's id, the session's, and the key of each; raises `CorruptKeystore`."""
        for line in self.lines.splitlines():
            try:
                store_id, session_id, wrapped = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                raise corrupt(file, "it is no keystore") from None
            yield store_id, session_id, wrapped

    def _find(self, store_id: str, session_id: str) -> tuple[int, int]:
        """Returns where the line of a session begins and ends; it ends at 0 where there is none."""
        beginning = _dumped([store_id, session_id])[:-1] + b","
        start = 0 if self.lines.startswith(beginning) else self.lines.find(b"\n" + beginning) + 1
        return start, self.lines.index(b"\n", start) + 1 if self.lines.startswith(beginning, start) else 0

    def __len__(self) -> int:
        return self.lines.count(b"\n")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wrapped) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)


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
    keys: Wrapped
    erased: Erased
    retiring: list[str]
    retired: list[str]

    def with_key(self, store_id: str, session_id: str, wrapped: str | None) -> "State":
        """Returns the state with a key of a session, or with a note that it was erased."""
        of_store = {name: under for name, under in self.erased.get(store_id, {}).items() if name != session_id}
        if wrapped is None:
            of_store[session_id] = self.generation
        others = {name: kept for name, kept in self.erased.items() if name != store_id}
        return self._replace(
            keys=self.keys.replaced(store_id, session_id, wrapped),
            erased={**others, store_id: of_store} if of_store else others,
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

    def with_master(self, key: str, master: str, now_ns: int, keys: Wrapped) -> "State":
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


def encode(state: State) -> bytes:
    """Returns the content of the file."""
    import hashlib

    about = {name: value for name, value in state._asdict().items() if name != "keys"}
    head, lines = _dumped({"format": FORMAT, **about}), state.keys.lines
    digest = hashlib.sha256(head)
    # The last end of a line does not count: that of format 1's only one did not.
    digest.update(memoryview(b"\n")[: len(lines)])
    digest.update(memoryview(lines)[:-1])
    return b"".join((head, b"\n", lines, digest.hexdigest().encode(), b"\n"))


def parse(content: bytes, file: str) -> State:
    """Returns what a file says; raises `CorruptKeystore`, or `BadConfig` where a newer program wrote it."""
    import hashlib

    end = max(0, len(content) - _TRAILER)
    digest = hashlib.sha256(memoryview(content)[: max(0, end - 1)]).hexdigest()
    if content[max(0, end - 1) :] != f"\n{digest}\n".encode():
        raise corrupt(file, "it is not what was written")
    lines = content.index(b"\n") + 1
    about = content[:lines]
    try:
        values = json.loads(about)
        made_by = values.pop("format")
        if made_by == FORMAT:
            return State(**values, keys=Wrapped(content[lines:end]))
        if made_by == _ONE_OBJECT:
            return State(**{**values, "keys": _of_object(values["keys"])})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise corrupt(file, "it is no keystore") from None
    raise BadConfig(f"{file} has the format {made_by}, which this version of cyberos does not know", file=file)


def _of_object(keys: dict[str, dict[str, str]]) -> Wrapped:
    return Wrapped.of(
        (store_id, session_id, wrapped)
        for store_id, of_store in keys.items()
        for session_id, wrapped in of_store.items()
    )


def _line(store_id: str, session_id: str, wrapped: str) -> bytes:
    return _dumped([store_id, session_id, wrapped]) + b"\n"


def _dumped(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def corrupt(file: str, what: str, session_id: str | None = None) -> CorruptKeystore:
    """Returns the error of a damaged keystore."""
    return CorruptKeystore(
        f"{file} is damaged: {what}", file=file, session_id=session_id,
        hint="restore a copy that is no older than the last `cyberos key rotate --kind master`",
    )  # fmt: skip
