"""`cyberos verify-proof`."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.core import proofs
from cyberos.errors import BadProof, IoFailure
from cyberos.operations import proofs as operations


@click.command("verify-proof", cls=Command)
@click.argument("file")
@keys.trusted_keys
@pass_settings
def verify_proof(settings: Settings, file: str, named: tuple[str, ...]) -> None:
    """Check a proof; needs no store.

    FILE is what `cyberos prove` made, or - for standard input.
    Give the public key of the log that you trust: it names the log, too.
    """
    try:
        with click.open_file(file, "rb") as handle:
            content = handle.read(proofs.LONGEST + 1)
    except OSError as error:
        raise IoFailure(f"cannot read {file}: {error.strerror}", file=file, errno=error.errno) from error
    if len(content) > proofs.LONGEST:
        raise BadProof(f"it is longer than {proofs.LONGEST} bytes: no proof is", file=file)
    result = operations.verify(content, keys.held(), named=named, file=file)
    output.emit(result, _human, as_json=settings.json)


def _human(result: operations.Proved) -> Iterator[str]:
    yield output.printable(
        f"proved: row {result.seq} of the log {result.origin}, under its head of {result.size:,} rows"
    )
    yield output.printable(f"{result.at}  {result.kind}  {result.path}  by {result.actor}")
    if result.content_sha256:
        here = "in the proof, and right" if result.body is not None else "not in the proof"
        yield f"content {result.content_sha256}, {here}"
    yield output.printable(f"signed by {result.key}")
