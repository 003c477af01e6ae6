"""`cyberos session`: what reads sessions."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output, spoken
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.spoken import session_id
from cyberos.operations import transcripts as operations
from cyberos.operations.transcripts import Listed, Shown

_INTERVAL_S = 0.2
_decrypt = click.option("--decrypt", is_flag=True, help="Show what a restricted session keeps encrypted")


@click.command(cls=Command)
@session_id
@_decrypt
@pass_settings
def read(settings: Settings, session_id: str, decrypt: bool) -> None:  # noqa: FBT001, it is the option's value
    """Print what was said in a session."""
    store = settings.store()
    found = operations.read(store, session_id, decrypt=decrypt, keystore=keys.keystore(store))
    if settings.json:
        output.write_json_items(turn._asdict() for turn in found.turns)
    else:
        for turn in found.turns:
            output.write_lines(spoken.lines(turn))
    output.write_warnings(found.warnings)


@click.command(cls=Command)
@session_id
@_decrypt
@click.option("-n", "last", type=click.IntRange(min=0), default=10, show_default=True, help="So many turns first")
@pass_settings
def tail(settings: Settings, session_id: str, decrypt: bool, last: int) -> None:  # noqa: FBT001
    """Print the last turns of a session, and new ones as they come.

    It returns when the session has ended. With --json, one object a line.
    """
    store = settings.store()
    keystore = keys.keystore(store)
    for turn in operations.tail(store, session_id, decrypt=decrypt, keystore=keystore, last=last, wait=_ticks()):
        output.write_lines([output.json_line(turn._asdict())] if settings.json else spoken.lines(turn))


def _ticks() -> Iterator[None]:
    while output.is_read():
        yield
        output.wait(_INTERVAL_S)


@click.command(cls=Command)
@session_id
@click.option("--format", "form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True, help="In this form")
@_decrypt
@pass_settings
def export(settings: Settings, session_id: str, form: str, decrypt: bool) -> None:  # noqa: ARG001, FBT001
    """Write a session's turns for another program.

    JSON Lines: first {"session": …}, then a line for each turn.
    """
    store = settings.store()
    found = operations.read(store, session_id, decrypt=decrypt, keystore=keys.keystore(store))
    output.write_lines(map(output.json_line, operations.export(found)))
    output.write_warnings(found.warnings)


@click.command("list", cls=Command)
@click.option("--since", metavar="TIME|AGE", default="24h", show_default=True, help="Started since then; or all")
@click.option("--classification", type=click.Choice(["confidential", "restricted"]), help="Keep those of this class")
@click.option(
    "--ended", type=click.Choice(["true", "false", "all"]), default="all", show_default=True, help="Have they ended"
)
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "pretty"]), default="jsonl", show_default=True,
    help="One JSON object a line, or for people",
)  # fmt: skip
@pass_settings
def list_(settings: Settings, since: str, classification: str | None, ended: str, form: str) -> None:
    """List the sessions, the last first.

    `days_left` is how many days the transcript is still kept.
    """
    found = operations.list_sessions(
        settings.store(),
        since=None if since == "all" else since,
        classification=classification,
        ended=None if ended == "all" else ended == "true",
    )
    if settings.json:
        output.write_json(found)
    elif form == "jsonl":
        output.write_lines(output.json_line(each._asdict()) for each in found)
    else:
        output.write_lines(map(_pretty, found) if found else ["No sessions."])


def _pretty(each: Listed) -> str:
    left = "erased" if each.days_left is None else f"{output.counted(each.days_left, 'day')} left"
    spoken = "" if each.turns_count is None else output.counted(each.turns_count, "turn")
    head = f"{each.started_at[:19]}Z {each.state:<10} {each.classification:<12} {spoken:>12}  {left:<13}"
    return f"{head} {output.printable(each.session_id)}"


@click.command(cls=Command)
@session_id
@click.option("--writes", is_flag=True, help="With the rows that were written during it")
@pass_settings
def show(settings: Settings, session_id: str, writes: bool) -> None:  # noqa: FBT001
    """Show what the log says of a session.

    That is also there when the transcript is erased.
    """
    output.emit(operations.show(settings.store(), session_id, writes=writes), _shown, as_json=settings.json)


def _shown(shown: Shown) -> Iterator[str]:
    for name, value in shown._asdict().items():
        if name != "writes" and value is not None:
            yield f"{name:<16} {output.printable(str(value))}"
    for write in shown.writes or ():
        turn = "" if write.turn is None else f" after turn {write.turn}"
        what = f"{write.kind:<8} {output.printable(write.path)}"
        yield f"[{write.seq:>6}] {write.ts[:19]}Z {what} {output.printable(write.actor)}{turn}"
