"""`cyberos protocol`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import protocol as operations
from cyberos.operations.protocol import Approved, ProtocolStatus

COMMANDS = {
    "approve": Entry(__name__, "approve", "Add what the owner's phrase approves to AGENTS.md"),
    "status": Entry(__name__, "status", "Show which sections of the protocol are in force"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def protocol() -> None:
    """Show what the store's owner has approved."""


@click.command(cls=Command)
@pass_settings
def status(settings: Settings) -> None:
    """Show which sections of the protocol are in force."""
    output.emit(operations.status(settings.store()), _human, as_json=settings.json)


@click.command(cls=Command)
@click.argument("phrase")
@pass_settings
def approve(settings: Settings, phrase: str) -> None:
    """Add what the owner's phrase approves to AGENTS.md.

    PHRASE is the owner's word, such as "APPROVE protocol change P22 §18". The approval is recorded as a row.
    """
    approved = operations.approve(settings.store(), phrase, actor=settings.actor())
    output.emit(approved, _approved, as_json=settings.json)


def _approved(result: Approved) -> Iterator[str]:
    if result.seq is None:
        yield f"{result.section} is in force already: nothing to do"
    else:
        yield f"[{result.seq:>6}] {result.section} is in force now"


def _human(result: ProtocolStatus) -> Iterator[str]:
    yield f"{result.store}/AGENTS.md"
    yield f"in force: {' '.join(result.sections) or 'nothing'}"
    if not result.acl_binding:
        yield "access lists only warn: there is no §14.4"
    for amendment in result.amendments:
        if not amendment.in_force:
            yield f'not approved: {amendment.section}; to approve it: cyberos protocol approve "{amendment.phrase}"'
