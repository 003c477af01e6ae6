"""`cyberos protocol`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations.protocol import ProtocolStatus
from cyberos.operations.protocol import status as protocol_status

COMMANDS = {
    "status": Entry(__name__, "status", "Show which sections of the protocol are in force"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def protocol() -> None:
    """Show what the store's owner has approved."""


@click.command(cls=Command)
@pass_settings
def status(settings: Settings) -> None:
    """Show which sections of the protocol are in force."""
    output.emit(protocol_status(settings.store()), _human, as_json=settings.json)


def _human(result: ProtocolStatus) -> Iterator[str]:
    yield f"{result.store}/AGENTS.md"
    yield f"in force: {' '.join(result.sections) or 'nothing'}"
    if not result.acl_binding:
        yield "access lists only warn: there is no §14.4"
    for amendment in result.amendments:
        if not amendment.in_force:
            yield f'not approved: {amendment.section}; to approve it: cyberos protocol approve "{amendment.phrase}"'
