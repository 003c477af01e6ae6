"""Checking a project of block memory."""

from collections.abc import Callable
from typing import NamedTuple

from cyberos.blocks import check as core
from cyberos.blocks.engine import authenticate
from cyberos.blocks.invariants import Problem
from cyberos.core.reader import AuditChainReader
from cyberos.operations.blocks import place as places
from cyberos.operations.blocks.place import Place


class Checked(NamedTuple):
    """What is wrong with a project. What the store's log has not been told yet is no fault."""

    project_id: str
    project: str
    sound: bool
    problems: list[Problem]


def check(place: Place, *, progress: Callable[[int], object] | None = None) -> Checked:
    """Checks the tables, every invariant and every hash, and compares them with what the store's log was told."""
    with places.project(place) as at:
        principal_id = authenticate(at.engine, at.caller, "read")
        reader = AuditChainReader(place.store)
        found = list(core.examine(at.engine.database, at.project_id, principal_id, reader, progress))
        if places.is_beside(place):
            found += core.forgotten(at.engine.database, reader)
    sound = all(problem.id == core.NOT_ANCHORED for problem in found)
    return Checked(at.project_id, at.name, sound, found)
