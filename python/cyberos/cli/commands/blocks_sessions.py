"""`cyberos blocks start`, `append`, `resume`, `end`, `abandon`, `resolve` and `bootstrap`."""

from collections.abc import Iterator

import click

from cyberos.blocks.facts import Fact
from cyberos.blocks.results import Abandoned, Appended, Ended, Resumed, Started
from cyberos.cli import blocks, handing, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument
from cyberos.operations.blocks import sessions


@click.command(cls=Command)
@click.argument("native_ref", metavar="HARNESS:NAME")
@click.option("--transcript", "transcript_id", metavar="ID", help="The transcript of the same conversation")
@blocks.repeatable
@blocks.in_project
@pass_settings
def start(settings: Settings, native_ref: str, transcript_id: str | None, key: str | None, project: str | None) -> None:
    """Start a session, or return the open one, of a native reference.

    The same reference returns the same session until that is over; then it starts another one, its successor.
    """
    place = blocks.place(settings, project)
    blocks.tell(settings, sessions.start(place, native_ref, transcript_id=transcript_id, key=key), _started)


@click.command(cls=Command)
@click.argument("session")
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option("--topic", metavar="T", help="What the facts are about: branches that disagree about it are told of")
@click.option("--fact-key", metavar="K", help="The fact's identity in its session: it is added once")
@click.option("--resolves", multiple=True, metavar="ID", help="A conflict that the facts settle")
@click.option("--jsonl", "file", metavar="FILE", help='Facts as JSON Lines: {"text": …, "topic": …, "key": …, …}')
@blocks.repeatable
@blocks.in_project
@pass_settings
def append(
    settings: Settings,
    session: str,
    texts: tuple[str, ...],
    topic: str | None,
    fact_key: str | None,
    resolves: tuple[str, ...],
    file: str | None,
    key: str | None,
    project: str | None,
) -> None:
    """Add facts to a session.

    Each TEXT is one; all are added, or none. FILE may be - for standard input; its fields are text, topic, key,
    resolves, data and occurred (a time). A native reference whose session is not open starts one.
    """
    if bool(texts) == (file is not None):
        raise BadArgument("give the facts as TEXT or with --jsonl", argument="TEXT")
    if file is not None:
        if topic is not None or fact_key is not None or resolves:
            raise BadArgument("with --jsonl, each line has its own topic, key and resolves", argument="--jsonl")
        facts = handing.read_facts(file)
    else:
        if fact_key is not None and len(texts) > 1:
            raise BadArgument("a key is of one fact", argument="--fact-key", hint="use --jsonl for many")
        facts = [Fact(text, topic, fact_key, resolves) for text in texts]
    blocks.tell(settings, sessions.append(blocks.place(settings, project), session, facts, key=key), _appended)


@click.command(cls=Command)
@click.argument("session")
@blocks.repeatable
@blocks.in_project
@pass_settings
def resume(settings: Settings, session: str, key: str | None, project: str | None) -> None:
    """Go on with an open session.

    Dormant or not, it is as it was left: none is made, and its base stays what it was.
    """
    blocks.tell(settings, sessions.resume(blocks.place(settings, project), session, key=key), _resumed)


@click.command(cls=Command)
@click.argument("session")
@click.option("--summary", metavar="TEXT", help="What it came to: part of the history, too")
@blocks.repeatable
@blocks.in_project
@pass_settings
def end(settings: Settings, session: str, summary: str | None, key: str | None, project: str | None) -> None:
    """End a session: its branch becomes part of the project's history.

    This never fails on what the branch says. Where it and another branch say different things of one topic, both are
    kept, and `cyberos blocks conflicts` lists it.
    """
    changed = sessions.end(blocks.place(settings, project), session, summary=summary, key=key)
    blocks.tell(settings, changed, _ended)


@click.command(cls=Command)
@click.argument("session")
@click.option("--reason", metavar="TEXT", help="Why; kept on the branch")
@click.option("--yes", is_flag=True, help="Do not ask")
@blocks.repeatable
@blocks.in_project
@pass_settings
def abandon(
    settings: Settings,
    session: str,
    reason: str | None,
    yes: bool,  # noqa: FBT001, it is the option's value
    key: str | None,
    project: str | None,
) -> None:
    """End a session without making its branch part of the history.

    Asks first: it cannot be opened again. The branch is kept.
    """
    place = blocks.place(settings, project)
    output.confirm(f"Abandon {session}? It cannot be opened again.", assumed=yes)
    blocks.tell(settings, sessions.abandon(place, session, reason=reason, key=key), _abandoned)


@click.command(cls=Command)
@click.argument("conflict")
@click.argument("text")
@click.option("--session", required=True, metavar="SESSION", help="The session that says so")
@blocks.repeatable
@blocks.in_project
@pass_settings
def resolve(settings: Settings, conflict: str, text: str, session: str, key: str | None, project: str | None) -> None:
    """Settle a conflict by a fact.

    It counts when the session that says so has ended.
    """
    changed = sessions.resolve(blocks.place(settings, project), conflict, session, text, key=key)
    blocks.tell(settings, changed, _appended)


@click.command(cls=Command)
@click.argument("session", required=False)
@click.option("--budget", type=click.IntRange(0, 1_000_000), default=4_000, metavar="N", help="At most N tokens [4000]")
@blocks.in_project
@pass_settings
def bootstrap(settings: Settings, session: str | None, budget: int, project: str | None) -> None:
    """Print what a session is to know when it begins or goes on.

    That is the project's history as of the session's base, its own branch, and what is disputed, the newest that fits.
    What was handed to a session is kept (`cyberos blocks receipts`). Without SESSION: what one would get that starts
    now.
    """
    handed = sessions.hand_out(blocks.place(settings, project), session, budget=budget)
    output.emit(handed, handing.lines, as_json=settings.json)


def _started(result: Started) -> Iterator[str]:
    what = "started" if result.created else "is open already:"
    follows = f", after {result.successor_of}" if result.created and result.successor_of else ""
    where = f"{result.session_id} from epoch {result.base_epoch}{follows}"
    yield f"{result.native_ref} {what} {where}{blocks.again(result)}"
    if result.replayed and result.status != "open":
        yield f"it is {result.status} now"


def _appended(result: Appended) -> Iterator[str]:
    if result.started:
        yield f"started {result.session_id}"
    for block in result.blocks:
        yield f"{block}{' was there already' if block in result.known else ''}{blocks.again(result)}"


def _resumed(result: Resumed) -> Iterator[str]:
    behind = result.epoch - result.base_epoch
    later = f"; {output.counted(behind, 'session')} ended since" if behind else ""
    said = output.counted(result.blocks, "block")
    yield f"{result.session_id} was {result.was}: {said} on epoch {result.base_epoch}{later}{blocks.again(result)}"


def _ended(result: Ended) -> Iterator[str]:
    yield f"{result.session_id} ended: epoch {result.epoch}, head {result.block_id}{blocks.again(result)}"
    for conflict in result.conflicts:
        yield f"conflict {conflict}: `cyberos blocks conflicts` shows it"


def _abandoned(result: Abandoned) -> Iterator[str]:
    yield f"{result.session_id} is abandoned{blocks.again(result)}"
