"""`cyberos export`."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output, versions
from cyberos.cli.options import Command
from cyberos.cli.output import counted
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import exporting


@click.command(cls=Command)
@click.argument("file")
@click.option("--at", metavar="SEQ|TIME", help="As the store was at this row or time")
@click.option("--no-bodies", is_flag=True, help="Without the versions that memories had before")
@pass_settings
def export(settings: Settings, file: str, at: str | None, no_bodies: bool) -> None:  # noqa: FBT001
    """Write the store into a zip that verifies by itself.

    It holds the log, the versions, the memories as files and the store's settings, and no keys and no transcripts.
    Where you have a key to sign with, the head of what goes out is signed first, and goes along with those that were
    signed before. The same rows and signed heads give the same bytes on every machine. `cyberos import zip` makes a
    store of it.
    """
    store = settings.store()
    moment = versions.moment(at) if at is not None else None
    with output.Progress("exporting", "bytes") as progress:
        done = exporting.export(
            store, file, at=moment, bodies=not no_bodies, signer=keys.signer(store), progress=progress
        )
    output.emit(done, _human, as_json=settings.json)


def _human(done: exporting.Exported) -> Iterator[str]:
    for path in done.absent:
        yield f"the content of {output.printable(path)} is not kept: it is not in it"
    versions = counted(done.versions - done.missing, "version") if done.with_bodies else "no earlier versions"
    memories = counted(done.memories, "memory", "memories")
    yield output.printable(
        f"wrote {done.file}: {counted(done.rows, 'row')}, {versions}, {memories}, {done.bytes:,} bytes"
    )
    if done.chain:
        yield f"last row {done.rows}, chain {done.chain}"
    if done.head:
        yield output.printable(f"signed by {' '.join(done.head.signers)}")
