"""`cyberos verify`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument, Kind
from cyberos.operations import verify as operations


@click.command(cls=Command)
@click.option("--deep", is_flag=True, help="Hash every kept version again as well")
@click.option(
    "--against",
    metavar="WHERE",
    multiple=True,
    help="Demand that the log continues every signed head in this file, folder or git repository; "
    "`remembered`: every one that you have signed",
)
@click.option(
    "--key", "named", metavar="NAME+ID+KEY", multiple=True, help="Trust this public key, and no other [your own keys]"
)
@pass_settings
def verify(
    settings: Settings,
    deep: bool,  # noqa: FBT001, it is the option's value
    against: tuple[str, ...],
    named: tuple[str, ...],
) -> Kind | None:
    """Check the log: frames, order, links, hashes, Merkle peaks.

    Ends with 1 where something is wrong. Nothing is changed; `cyberos doctor` checks more and can repair. Whoever can
    write to the store can make another log that is whole: only signed heads that are kept elsewhere (--against) tell.
    """
    held = None
    if against:
        from cyberos.cli import keys

        held = keys.held()
    elif named:
        raise BadArgument("--key says who may sign heads, and no heads are named", hint="name them: --against WHERE")
    with output.Progress("verifying") as progress:
        result = operations.verify(
            settings.store(),
            deep=deep,
            against=against,
            held=held,
            trusted=named,
            progress=lambda _what, done, total: progress(done, total),
        )
    output.emit(result, _human, as_json=settings.json)
    return None if result.ok else Kind.FINDINGS


def _human(result: operations.Verified) -> Iterator[str]:
    for finding in result.findings:
        yield f"{finding.check}: {_place(finding)}: {output.printable(finding.what)}"
    for note in result.notes:
        yield f"note: {_place(note)}: {output.printable(note.what)}"
    if result.truncated:
        yield "there is more; this list is cut"
    verdict = "ok" if result.ok else output.counted(len(result.findings), "finding")
    rows, segments = output.counted(result.rows, "row"), output.counted(result.segments, "segment")
    yield f"{verdict}: {rows} in {segments}, {output.counted(result.bytes, 'byte')}"
    if result.bodies is not None:
        yield f"{output.counted(result.bodies, 'kept version')} hashed again, {result.purged:,} purged"
    if result.heads is not None:
        yield f"held against {output.counted(result.heads, 'signed head')}"
    if result.chain:
        yield f"last row {result.last_seq}, chain {result.chain}"
    if result.root:
        yield f"Merkle root {result.root}"


def _place(finding: operations.Finding) -> str:
    where = output.printable(finding.file)
    if finding.offset is not None:
        where += f" at byte {finding.offset}"
    if finding.seq is not None:
        where += f" (row {finding.seq})"
    return where
