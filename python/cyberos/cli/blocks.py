"""What the commands of block memory have in common."""

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from cyberos.cli import output
from cyberos.cli.settings import Settings
from cyberos.operations.blocks.place import Place
from cyberos.operations.blocks.sessions import Changed

F = TypeVar("F", bound=Callable[..., Any])


def in_project(command: F) -> F:
    """Adds the option that names a project."""
    return click.option("--project", metavar="NAME", help="The project, by name or id [the store's]")(command)


def repeatable(command: F) -> F:
    """Adds the option that makes a request one that can be repeated."""
    return click.option("--key", metavar="KEY", help="Carry the request out once, however often it is made with KEY")(
        command
    )


def place(settings: Settings, project: str | None = None) -> Place:
    """Returns where block memory is, by the options and the environment."""
    return Place(
        settings.store(),
        settings.actor(),
        os.environ.get("CYBEROS_BLOCKS_URL") or None,
        os.environ.get("CYBEROS_BLOCKS_TOKEN") or None,
        project,
    )


def tell(settings: Settings, changed: Changed, human: Callable[[Any], Iterator[str]]) -> None:
    """Writes what became of a change."""
    output.write_warnings(changed.warnings)
    if settings.json:
        output.write_json({**changed.result._asdict(), "anchored": changed.anchored, "warnings": changed.warnings})
        return
    lines = human(changed.result)
    output.write_lines(map(output.printable, lines))


def again(result: Any) -> str:
    """Returns what is said of an answer that was given before."""
    return " (carried out before)" if result.replayed else ""
