"""What the global options and the environment say, for one run of one command."""

import functools
import os
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import click

from cyberos import layout
from cyberos.errors import StoreNotFound

P = ParamSpec("P")
R = TypeVar("R")

_KEY = "cyberos.cli.settings"


class Settings(NamedTuple):
    """The frozen context of a command. An option wins over the environment."""

    named_store: str | None
    named_actor: str | None
    json: bool
    color: bool | None

    def store(self) -> str:
        """Returns the folder of the store that is meant, or raises `StoreNotFound`."""
        try:
            here = os.getcwd()
        except FileNotFoundError:
            raise StoreNotFound("the current folder is gone", hint="change to another one") from None
        return layout.find_store(self.named_store, here)

    def store_if_any(self) -> str | None:
        """Returns the store that is meant, or `None` where none was named and none is found."""
        try:
            return self.store()
        except StoreNotFound:
            if self.named_store is not None:
                raise
            return None

    def actor(self) -> str:
        """Returns who acts: the name that was given, else the operating system's user."""
        if self.named_actor is not None:
            return self.named_actor
        import pwd

        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return f"uid-{os.getuid()}"


def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keeps the value of a global option; given twice, the one nearer to the end of the command line counts."""
    if value == "":
        raise click.BadParameter("must not be empty", ctx, param)
    if value is not None and param.name is not None:
        ctx.meta.setdefault(_KEY, {})[param.name] = value


def current() -> Settings:
    """Returns the settings of the command that is running."""
    given = click.get_current_context().meta.get(_KEY, {})
    return Settings(
        named_store=given.get("store") or os.environ.get("CYBEROS_STORE") or None,
        named_actor=given.get("actor") or os.environ.get("CYBEROS_ACTOR") or None,
        json=given.get("json", False),
        color=given.get("color"),
    )


def pass_settings(command: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
    """Makes the settings a command's first argument."""

    @functools.wraps(command)
    def with_settings(*args: P.args, **kwargs: P.kwargs) -> R:
        return command(current(), *args, **kwargs)

    return with_settings
