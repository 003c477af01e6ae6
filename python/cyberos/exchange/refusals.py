"""What the access lists would refuse, asked before anything is written."""

from typing import NamedTuple

from cyberos.core import access


class Refused(NamedTuple):
    """A path that an access list does not let be written, and what it says."""

    path: str
    why: str


class Refusals:
    """Asks the access lists of a store about one actor, and keeps what they refuse: each path once, in order."""

    def __init__(self, store: str, actor: str) -> None:
        self._rules, self._actor = access.rules(store), actor
        self._asked: set[str] = set()
        self._refused: list[Refused] = []

    def ask(self, *paths: str) -> None:
        """Asks about writing each of the paths; raises `BadConfig` where a list cannot be understood."""
        for path in paths:
            if path in self._asked:
                continue
            self._asked.add(path)
            decision = self._rules.decide(self._actor, path)
            if not decision.allowed:
                self._refused.append(Refused(path, decision.error().message))

    def refused(self) -> tuple[Refused, ...]:
        """Returns what was refused."""
        return tuple(self._refused)
