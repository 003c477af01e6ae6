"""What a store's owner has approved."""

from typing import NamedTuple

from cyberos.core import protocol
from cyberos.core.inspection import check_format


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


class Approved(NamedTuple):
    """An amendment that the owner approved: `seq` is the row that records it, null where it was in force already."""

    section: str
    seq: int | None


def approve(store: str, phrase: str, *, actor: str) -> Approved:
    """Adds the section that `phrase` approves to the store's AGENTS.md, and records the approval as a row."""
    import hashlib

    from cyberos.core.writer import Writer

    check_format(store)
    amendment = protocol.amendment_for(phrase)
    text = protocol.load(store)
    amended = protocol.amended(text, amendment)
    if amended == text:
        return Approved(amendment.section, None)
    with Writer(store, actor=actor) as writer:
        # The row first: an approval that is not on record must not be in force.
        receipt = writer.emit_aux(
            "protocol.approved",
            {
                "phrase": amendment.phrase,
                "section": amendment.section,
                "sha256_after": hashlib.sha256(protocol.encode(amended)).hexdigest(),
                "sha256_before": hashlib.sha256(protocol.encode(text)).hexdigest(),
            },
        )
        protocol.save(store, amended)
    return Approved(amendment.section, receipt.seq)


def status(store: str) -> ProtocolStatus:
    """Returns what the protocol text of a store says now."""
    check_format(store)
    found = protocol.sections(protocol.load(store))
    return ProtocolStatus(
        store=store,
        sections=found,
        acl_binding=protocol.ACL in found,
        amendments=tuple(Section(a.section, a.section in found, a.phrase) for a in protocol.AMENDMENTS),
    )
