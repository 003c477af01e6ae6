"""Sessions on the command line: how one is named, and how what was said is shown."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.core.sessions.reading import Turn

session_id = click.option("--id", "session_id", metavar="ID", required=True, help="The session")


def lines(turn: Turn) -> Iterator[str]:
    """Yields a turn as people read it."""
    redacted = " (redacted)" if turn.redactions_applied else ""
    yield f"[{turn.turn_seq:>6}] {turn.ts} {output.printable(turn.role)}{redacted}"
    for line in turn.content.splitlines():
        yield f"         {output.printable(line, keep=chr(9))}"
