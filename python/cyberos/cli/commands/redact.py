"""`cyberos redact`."""

import click

from cyberos.cli import inputs, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import redaction


@click.command(cls=Command)
@click.argument("file", required=False, default="-")
@click.option("--allow", multiple=True, metavar="TEXT", help="Let this text stand")
@click.option(
    "--allow-pattern", multiple=True, metavar="RE", help="Let stand what this regular expression matches all of"
)
@pass_settings
def redact(settings: Settings, file: str, allow: tuple[str, ...], allow_pattern: tuple[str, ...]) -> None:
    """Print a text without secrets and personal data.

    The text is that of FILE, or standard input. What the manifest.json of the store at hand allows stays.
    With --json: the text, how often each tag was put in, and how many candidates were allowed.
    """
    store = settings.store_if_any()
    redacted = redaction.redact(store, inputs.read(file), allow, allow_pattern)
    if settings.json:
        output.write_json(redacted)
    else:
        output.write_bytes(redacted.text.encode())
