"""What a store's owner has approved."""

from typing import NamedTuple

from cyberos.core import protocol


class Section(NamedTuple):
    """A section of the protocol that can be approved."""

    section: str
    in_force: bool
    phrase: str


class ProtocolStatus(NamedTuple):
    """Which sections a store's AGENTS.md has, and which could be added."""

    store: str
    sections: tuple[str, ...]
    acl_binding: bool
    amendments: tuple[Section, ...]


def status(store: str) -> ProtocolStatus:
    """Returns what the protocol text of a store says now."""
    found = protocol.sections(protocol.load(store))
    return ProtocolStatus(
        store=store,
        sections=found,
        acl_binding=protocol.ACL in found,
        amendments=tuple(Section(a.section, a.section in found, a.phrase) for a in protocol.AMENDMENTS),
    )
