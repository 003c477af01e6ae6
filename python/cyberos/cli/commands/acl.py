"""`cyberos acl`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.lazy import Entry, LazyGroup
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import acl as operations

COMMANDS = {
    "explain": Entry(__name__, "explain", "Say whether the actor may write a path, and which line decides it"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def acl() -> None:
    """Show who may write where."""


@click.command(cls=Command)
@click.argument("path")
@pass_settings
def explain(settings: Settings, path: str) -> None:
    """Say whether the actor may write a path, and which line decides it.

    The actor is that of --actor or CYBEROS_ACTOR, else the user.
    """
    output.emit(operations.explain(settings.store(), path, actor=settings.actor()), _human, as_json=settings.json)


def _human(result: operations.Explained) -> Iterator[str]:
    verb = "may" if result.allowed else "may not"
    yield output.printable(f"{result.actor} {verb} write {result.path}")
    if result.yaml_path is None:
        yield "no STORE.yaml governs it"
        return
    yield output.printable(f"{result.yaml_path} (store_id {result.store_id}): {result.matched_entry}")
    if result.warn_only:
        yield "the refusal only warns: AGENTS.md has no §14.4"
