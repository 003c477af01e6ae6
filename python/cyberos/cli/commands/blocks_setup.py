"""`cyberos blocks enrol`, `setup` and `token`."""

from collections.abc import Iterator

import click

from cyberos.blocks.administration import Setup, Token
from cyberos.blocks.results import Enrolled
from cyberos.cli import blocks, output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations.blocks import sessions
from cyberos.operations.blocks import setup as operations

COMMANDS = {
    "create": Entry(__name__, "create", "Make a token"),
    "list": Entry(__name__, "list_", "List the tokens, without what they are"),
    "revoke": Entry(__name__, "revoke", "Make a token worth nothing"),
}


@click.command(cls=Command)
@click.argument("name", required=False)
@pass_settings
def enrol(settings: Settings, name: str | None) -> None:
    """Enrol the store in a project.

    NAME is by default that of the folder that the store is for. A project is made where there is none of that name. Its
    events are told to the log of each store that is enrolled in it, so that a database that was put back is noticed.
    """
    blocks.tell(settings, sessions.enrol(blocks.place(settings), name), _enrolled)


@click.command(cls=Command)
@click.option("--role", metavar="ROLE", help="In PostgreSQL: the role that may use the tables, which must not own them")
@pass_settings
def setup(settings: Settings, role: str | None) -> None:
    """Make the tables, or bring them up.

    In PostgreSQL, run it as the role that is to own them; others then work under ROLE, which can add, and change only a
    session's state and a project's head. `enrol` does it for the file beside the store.
    """
    output.emit(operations.set_up(blocks.place(settings), role=role), _set_up, as_json=settings.json)


@click.group(cls=LazyGroup, table=COMMANDS)
def token() -> None:
    """Make and revoke tokens, which a server demands."""


@click.command(cls=Command)
@click.argument("principal")
@click.option("--name", "display", default="", metavar="TEXT", help="What it is for")
@click.option("--scopes", default="read write", metavar="LIST", help="Of read, write [read write]")
@click.option("--days", type=click.IntRange(1, 36_500), default=365, metavar="N", help="How long it is good for [365]")
@pass_settings
def create(settings: Settings, principal: str, display: str, scopes: str, days: int) -> None:
    """Make a token.

    It stands for PRINCIPAL, and is printed now and never again: only its hash is kept. A principal owns projects;
    all its tokens are worth the same but for their scopes. Run it as the role that owns the tables.
    """
    made = operations.create_token(blocks.place(settings), principal, display=display, scopes=scopes, days=days)
    output.emit(made, lambda found: [str(found.token)], as_json=settings.json)


@click.command("list", cls=Command)
@pass_settings
def list_(settings: Settings) -> None:
    """List the tokens, without what they are."""
    found = operations.list_tokens(blocks.place(settings))
    output.emit(found, lambda each: map(_token, each.tokens), as_json=settings.json)


@click.command(cls=Command)
@click.argument("token_id", metavar="ID")
@pass_settings
def revoke(settings: Settings, token_id: str) -> None:
    """Make a token worth nothing."""
    done = operations.revoke_token(blocks.place(settings), token_id)
    output.emit(done, lambda found: [f"{found.credential_id} is revoked"], as_json=settings.json)


def _enrolled(result: Enrolled) -> Iterator[str]:
    what = "made" if result.created else "known"
    yield f"project {result.name} ({what}): {result.project_id}"
    yield f"{result.store_id} {'is now' if result.bound else 'was already'} enrolled in it"


def _set_up(result: Setup) -> Iterator[str]:
    yield from (f"applied {name}" for name in result.applied)
    yield output.printable(f"{result.database} is up to date")
    if result.role is not None:
        yield output.printable(f"{result.role} may use it")


def _token(found: Token) -> str:
    state = f"revoked {found.revoked[:19]}Z" if found.revoked else f"until {found.expires[:19]}Z"
    parts = (found.credential_id, found.principal_id, found.scopes, state, found.display)
    return output.printable("  ".join(filter(None, parts)))
