"""`cyberos blame`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.versions import split
from cyberos.operations import versions as operations


@click.command(cls=Command)
@click.argument("version", metavar="PATH[@SEQ|TIME]")
@pass_settings
def blame(settings: Settings, version: str) -> None:
    """Show who wrote each line of a memory.

    Each line has the row that wrote it, also under a former name, with its time, actor and session.
    """
    path, at = split(version, required=False)
    blamed = operations.blame(settings.store(), path, at)
    output.write_warnings(blamed.warnings)
    output.emit(blamed.lines, _human, as_json=settings.json)


def _human(lines: list[operations.BlamedLine]) -> Iterator[str]:
    width = max((len(line.actor or "") for line in lines), default=0)
    session = max((len(line.session_id or "") for line in lines), default=0)
    for number, line in enumerate(lines, 1):
        seq = f"{line.seq:>6}" if line.seq is not None else "     ?"
        when = f"{(line.ts or '')[:19]}Z" if line.ts else " " * 20
        actor = output.printable(line.actor or "unknown")
        note = f" {output.printable(line.session_id or ''):<{session}}" if session else ""
        text = output.printable(line.line.decode(errors="backslashreplace").rstrip("\n"), keep="\t")
        yield f"[{seq}] {when} {actor:<{width}}{note} {number:>4}) {text}"
