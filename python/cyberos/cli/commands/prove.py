"""`cyberos prove`."""

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.versions import split
from cyberos.core import heads
from cyberos.operations import proofs as operations


@click.command(cls=Command)
@click.argument("version", metavar="PATH@SEQ|TIME")
@click.option("--body", is_flag=True, help="Put the memory's content into the proof as well")
@click.option("-o", "--output", "file", metavar="FILE", help="Write it to this file")
@keys.sign_with
@pass_settings
def prove(settings: Settings, version: str, body: bool, file: str | None, sign_with: str | None) -> None:  # noqa: FBT001
    """Prove to somebody else that a row is in the log.

    The proof is one file: the row, the hashes that lead from it to the log's root, and a signed head. `cyberos
    verify-proof` checks it, and so does docs/verify_proof.py. A head is signed where there is none with the row yet.
    """
    path, at = split(version)
    assert at is not None  # noqa: S101, `split` demands it
    proof = operations.prove(settings.store(), path, at, keys.held(), keys.signing_key(sign_with), with_body=body)
    if file is not None:
        heads.write_new(file, proof.content)
        said = {**proof._asdict(), "content": None, "file": file}
        if settings.json:
            output.write_json(said)
        else:
            output.write_lines([output.printable(f"row {proof.seq} of {proof.path} is proved in {file}")])
    elif settings.json:
        output.write_json({**proof._asdict(), "content": proof.content.decode()})
    else:
        output.write_bytes(proof.content)
