"""The families there are, in the order in which they are checked and repaired."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Step

Check = Callable[[Examination], Iterable[Finding]]
Repair = Callable[[Examination, Sequence[Finding]], Iterator[Step]]


class Family(NamedTuple):
    """A family of invariants. `repair` gets those findings of the family that may be repaired now."""

    name: str
    check: Check
    repair: Repair | None = None


_own: list[Family] = []
_above: list[Family] = []


def register(family: Family) -> None:
    """Adds a family of a layer above, behind those that are there; its findings' ids begin with its name."""
    if any(known.name == family.name for known in families()):
        raise ValueError(f"there is a family {family.name} already")
    _above.append(family)


def families() -> tuple[Family, ...]:
    """Returns all families, those of this package first."""
    if not _own:
        from cyberos.doctor import (
            bodies,
            index,
            kinds,
            lifecycle,
            log,
            manifest,
            peaks,
            permissions,
            protocol,
            search,
            sessions,
            shapes,
            strays,
            view,
        )

        # What the log says comes first: the rest follows from it.
        modules = (manifest, log, kinds, bodies, view, peaks, index, search, protocol, permissions, strays)
        _own.extend(module.FAMILY for module in modules)
        _own.extend((lifecycle.FAMILY, lifecycle.CLASSIFICATION, shapes.FAMILY, sessions.FAMILY))
    return (*_own, *_above)
