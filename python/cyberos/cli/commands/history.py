"""`cyberos history`."""

from collections.abc import Iterator

import click

from cyberos.cli import entries, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument
from cyberos.operations import history as operations

_LIMIT = 10
_LIMIT_ALL_PATHS = 100
_INTERVAL_S = 0.1


class _Limit(click.ParamType):  # type: ignore[type-arg]  # generic only in newer releases
    """A number of entries, 1 or more, or `all`."""

    name = "n|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "all":
            return 0
        if isinstance(value, str) and value.isascii() and value.isdigit() and 0 < int(value) < 1 << 63:
            return int(value)
        return self.fail(f"{value!r} is not a number of entries: give 1 or more, or all", param, ctx)


@click.command(cls=Command)
@click.argument("path", required=False)
@click.option("--limit", type=_Limit(), metavar="N|all", help="Show at most N entries [10; 100 with --all-paths]")
@click.option("--chronological", is_flag=True, help="Show the oldest of them first")
@click.option("--no-follow-moves", is_flag=True, help="Stop at the move that brought the memory to this name")
@click.option("--show-body", is_flag=True, help="Show what changed in the body")
@click.option("--since", metavar="TIME", help="Leave out what is older: 24h, 7d, 30d or an ISO time")
@click.option("--all-paths", is_flag=True, help="Show what happened to any memory")
@click.option(
    "--filter", "filters", multiple=True, metavar="K=V", help="Keep rows by actor, kind, session_id or dream_id"
)
@click.option("--follow", is_flag=True, help="Then wait, and show new rows as they are written")
@pass_settings
def history(
    settings: Settings,
    path: str | None,
    limit: int | None,
    chronological: bool,  # noqa: FBT001, it is the option's value
    no_follow_moves: bool,  # noqa: FBT001
    show_body: bool,  # noqa: FBT001
    since: str | None,
    all_paths: bool,  # noqa: FBT001
    filters: tuple[str, ...],
    follow: bool,  # noqa: FBT001
) -> None:
    """Show who changed a memory, when and how, newest first.

    The history goes on under former names. Each entry says what changed in the frontmatter since the version before;
    --show-body adds the body. Nothing is written. With --follow, --json prints one object a line.
    """
    if all_paths == (path is not None):
        what = "--all-paths takes no path" if all_paths else "name a memory's path, or give --all-paths"
        raise BadArgument(what, argument="PATH")
    default = _LIMIT_ALL_PATHS if all_paths else _LIMIT
    pairs = entries.parse_filters(filters)
    store = settings.store()
    result = operations.history(
        store,
        path,
        limit=default if limit is None else limit or None,
        chronological=chronological or follow,  # what comes next is newer
        follow_moves=not no_follow_moves,
        since=since,
        filters=pairs,
    )
    if settings.json and not follow:
        output.write_json_items(operations.entry_json(entry, show_body=show_body) for entry in result.entries)
        output.write_warnings(result.warnings)
        return
    render = entries.renderer(settings, show_body=show_body, show_path=all_paths)
    count = 0
    for count, entry in enumerate(result.entries, 1):  # noqa: B007, counted for what is said below
        output.write_lines(render(entry))
    if not count and not follow:
        output.write_lines([_nothing(path, since=since is not None, filtered=bool(pairs))])
    output.write_warnings(result.warnings)
    if follow:
        moves = not no_follow_moves
        wait = _ticks()
        for entry in operations.follow(store, path, result.last_seq, follow_moves=moves, filters=pairs, wait=wait):
            output.write_lines(render(entry))


def _nothing(path: str | None, *, since: bool, filtered: bool) -> str:
    conditions = " and ".join(name for name, given in (("--since", since), ("--filter", filtered)) if given)
    if conditions:
        return f"No history{f' for {path!r}' if path is not None else ''} that meets {conditions}."
    return f"No history for {path!r}." if path is not None else "No history yet."


def _ticks() -> Iterator[None]:
    """Yields now and then, for as long as somebody reads the output."""
    while output.is_read():
        yield
        output.wait(_INTERVAL_S)
