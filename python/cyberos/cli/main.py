"""The root command, the table of commands, and the one place where an outcome becomes an exit code."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import click
from click.exceptions import Exit, NoArgsIsHelpError

from cyberos import __version__
from cyberos.cli import output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.errors import BadArgument, CyberosError, IoFailure, Kind

EXIT_CODES: Final = {
    Kind.FINDINGS: 1,
    Kind.USAGE: 2,
    Kind.NOT_FOUND: 3,
    Kind.REFUSED: 4,
    Kind.CONFLICT: 5,
    Kind.BUSY: 6,
    Kind.CORRUPT: 7,
    Kind.KEY: 8,
    Kind.CONFIG: 9,
    Kind.INTERNAL: 70,
}
INTERRUPTED: Final = 128 + 2
BROKEN_PIPE: Final = 128 + 13

COMMANDS: Final = {
    "init": Entry("cyberos.cli.commands.init", "init", "Make an empty store"),
    "put": Entry("cyberos.cli.commands.put", "put", "Give a memory new content"),
    "move": Entry("cyberos.cli.commands.move", "move", "Give a memory another path"),
    "delete": Entry("cyberos.cli.commands.delete", "delete", "Delete a memory"),
    "get": Entry("cyberos.cli.commands.get", "get", "Print a memory"),
    "list": Entry("cyberos.cli.commands.list", "list_", "List the memories whose path begins with PREFIX"),
    "search": Entry("cyberos.cli.commands.search", "search", "Search the memories there are, the best match first"),
    "history": Entry(
        "cyberos.cli.commands.history", "history", "Show who changed a memory, when and how, newest first"
    ),
    "show": Entry("cyberos.cli.commands.show", "show", "Print a memory as it was at a row or a time"),
    "diff": Entry("cyberos.cli.commands.diff", "diff", "Show what changed in a memory between two rows or times"),
    "blame": Entry("cyberos.cli.commands.blame", "blame", "Show who wrote each line of a memory"),
    "restore": Entry("cyberos.cli.commands.restore", "restore", "Give a memory the content it had at a row or a time"),
    "revert": Entry("cyberos.cli.commands.revert", "revert", "Undo what a session or a dream did to memories"),
    "import": Entry("cyberos.cli.commands.import_", "import_", "Bring in memories from elsewhere"),
    "export": Entry("cyberos.cli.commands.export", "export", "Write the store into a zip that verifies by itself"),
    "verify": Entry(
        "cyberos.cli.commands.verify", "verify", "Check the log: frames, order, links, hashes, Merkle peaks"
    ),
    "checkpoint": Entry(
        "cyberos.cli.commands.checkpoint", "checkpoint", "Sign heads of the log, so that a rewritten one is noticed"
    ),
    "prove": Entry("cyberos.cli.commands.prove", "prove", "Prove to somebody else that a row is in the log"),
    "verify-proof": Entry("cyberos.cli.commands.verify_proof", "verify_proof", "Check a proof; needs no store"),
    "key": Entry("cyberos.cli.commands.key", "key", "Make and show the keys of signed heads and encrypted sessions"),
    "session": Entry("cyberos.cli.commands.session", "session", "Record conversations, read them, and let them expire"),
    "transcript": Entry(
        "cyberos.cli.commands.session", "transcript", "The same as `cyberos session`, under another name"
    ),
    "serve": Entry("cyberos.cli.commands.serve", "serve", "Serve the store over HTTP, for reading"),
    "blocks": Entry(
        "cyberos.cli.commands.blocks", "blocks", "Let several sessions work on one project, each on a branch"
    ),
    "redact": Entry("cyberos.cli.commands.redact", "redact", "Print a text without secrets and personal data"),
    "doctor": Entry("cyberos.cli.commands.doctor", "doctor", "Check that the store is as it should be"),
    "acl": Entry("cyberos.cli.commands.acl", "acl", "Show who may write where"),
    "demo": Entry("cyberos.cli.commands.demo", "demo", "Build a sample store, ask it for histories, and verify it"),
    "protocol": Entry("cyberos.cli.commands.protocol", "protocol", "Show what the store's owner has approved"),
    "version": Entry("cyberos.cli.commands.version", "version", "Print the version"),
}


def _show_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001, click's signature
    if value and not ctx.resilient_parsing:
        output.write_lines([f"cyberos {__version__}"])
        ctx.exit()


@click.group(cls=LazyGroup, table=COMMANDS)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit",
)
def root() -> None:
    """The memory of AI agents that its owner can audit."""


def main(args: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    args = sys.argv[1:] if args is None else list(args)
    as_json, color = _wishes(args)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            code = _run(args)
            output.flush()
        except NoArgsIsHelpError as error:
            output.say(error.format_message() + "\n")
            code = EXIT_CODES[Kind.USAGE]
        except click.ClickException as error:
            code = _report(_usage(error), as_json=as_json, color=color)
        except UnicodeEncodeError as error:
            # Bytes on the command line that are no text: only files and folders may have such names.
            code = _report(BadArgument(f"not valid UTF-8: {error.object!r}"), as_json=as_json, color=color)
        except CyberosError as error:
            code = _report(error, as_json=as_json, color=color)
        with suppress(IoFailure):  # an error is reported already
            output.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001, this is where the unforeseen ends
        import traceback

        output.say(traceback.format_exc())
        return _report(CyberosError(f"{type(error).__name__}: {error}"), as_json=as_json, color=color)
    return code


def _run(args: list[str]) -> int:
    """Does what `click.Command.main` does, except that what goes wrong stays an exception."""
    if completing := os.environ.get("_CYBEROS_COMPLETE"):
        from click.shell_completion import shell_complete

        try:
            return shell_complete(root, {}, "cyberos", "_CYBEROS_COMPLETE", completing)
        except OSError as error:
            raise output.undelivered(error) from error
    try:
        with root.make_context("cyberos", args) as ctx:
            outcome = root.invoke(ctx)
    except Exit as early:  # --help, --version
        return early.exit_code
    return EXIT_CODES[outcome] if isinstance(outcome, Kind) else 0


def _wishes(args: list[str]) -> tuple[bool, bool | None]:
    """Returns whether errors shall be JSON, and in colour: also where the command line cannot be understood."""
    options = args[: args.index("--")] if "--" in args else args
    color = True if "--color" in options else None
    return "--json" in options, False if "--no-color" in options else color


def _usage(error: click.ClickException) -> CyberosError:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return BadArgument(error.format_message(), hint=f"{ctx.command_path if ctx else 'cyberos'} --help")


def _report(error: CyberosError, *, as_json: bool, color: bool | None) -> int:
    output.write_error(error, as_json=as_json, color=color)
    return EXIT_CODES[error.kind]
