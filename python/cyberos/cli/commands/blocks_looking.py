"""`cyberos blocks list`, `show`, `log`, `conflicts`, `receipts` and `check`."""

import sys
from collections.abc import Iterator

import click

from cyberos.blocks.views import BlockView, SessionView
from cyberos.cli import blocks, graph, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import Kind
from cyberos.operations.blocks import checking, looking

_STATUSES = ("open", "dormant", "ended", "abandoned", "reconciled")


@click.command("list", cls=Command)
@click.option("--status", type=click.Choice(_STATUSES), help="Only those in this state")
@click.option("--limit", type=click.IntRange(min=1), default=100, metavar="N", help="At most N [100]")
@blocks.in_project
@pass_settings
def list_(settings: Settings, status: str | None, limit: int, project: str | None) -> None:
    """List the sessions of a project, the newest first."""
    found = looking.list_sessions(blocks.place(settings, project), status=status, limit=limit)
    output.emit(found, _list, as_json=settings.json)


@click.command(cls=Command)
@click.argument("what", metavar="SESSION|BLOCK")
@blocks.in_project
@pass_settings
def show(settings: Settings, what: str, project: str | None) -> None:
    """Show a session with its blocks, or a block."""
    output.emit(looking.show(blocks.place(settings, project), what), _shown, as_json=settings.json)


@click.command(cls=Command)
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, metavar="N", help="At most N blocks [50]")
@click.option("--before", type=click.IntRange(min=0), metavar="SEQ", help="Only blocks before this place")
@blocks.in_project
@pass_settings
def log(settings: Settings, limit: int, before: int | None, project: str | None) -> None:
    """Draw the graph of blocks, newest first.

    The head of the project's history and the newest block of each open session are always drawn, also where they are
    older than the rest: such are marked with ~, and so are lines to what is not drawn.
    """
    found = looking.log(blocks.place(settings, project), limit=limit, before=before)
    color = output.use_color(settings.color, sys.stdout)
    output.emit(found, lambda window: graph.lines(window, color=color), as_json=settings.json)


@click.command(cls=Command)
@click.option("--all", "settled", is_flag=True, help="Those, too, that are settled")
@blocks.in_project
@pass_settings
def conflicts(settings: Settings, settled: bool, project: str | None) -> None:  # noqa: FBT001, the option's value
    """List topics that branches disagree about.

    Branches are compared by the topics of their facts when they end, and by nothing else.
    """
    found = looking.conflicts(blocks.place(settings, project), settled=settled)
    output.emit(found, _conflicts, as_json=settings.json)


@click.command(cls=Command)
@click.argument("session")
@blocks.in_project
@pass_settings
def receipts(settings: Settings, session: str, project: str | None) -> None:
    """List what was handed to a session."""
    output.emit(looking.receipts(blocks.place(settings, project), session), _receipts, as_json=settings.json)


@click.command(cls=Command)
@blocks.in_project
@pass_settings
def check(settings: Settings, project: str | None) -> Kind | None:
    """Check a project: tables, invariants, hashes, and the store's log.

    Exits with 1 where something is wrong. A database that was put back to an older state, or rewritten, is noticed by
    what the store's log was told.
    """
    with output.Progress("checking", "blocks") as progress:
        checked = checking.check(blocks.place(settings, project), progress=progress)
    output.emit(checked, _checked, as_json=settings.json)
    return None if checked.sound else Kind.FINDINGS


def _checked(found: checking.Checked) -> Iterator[str]:
    for problem in found.problems:
        where = f" {problem.where}" if problem.where else ""
        yield output.printable(f"[{problem.id}]{where}: {problem.message}")
    yield output.printable(f"{found.project}: {'sound' if found.sound else 'not as it should be'}")


def _list(found: looking.Sessions) -> Iterator[str]:
    for session in found.sessions:
        yield _session(session)
    if not found.sessions:
        yield "no session has been started"


def _session(session: SessionView) -> str:
    epoch = f"epoch {session.integrated_epoch}" if session.integrated_epoch is not None else ""
    parts = (
        session.session_id, session.status.ljust(9), session.native_ref, f"from epoch {session.base_epoch}",
        output.counted(session.blocks, "block"), session.last_activity[:19] + "Z", epoch,
    )  # fmt: skip
    return output.printable("  ".join(filter(None, parts)))


def _shown(found: looking.Shown) -> Iterator[str]:
    if found.session is not None:
        yield _session(found.session)
        if found.session.successor_of:
            yield f"follows {found.session.successor_of}"
    for block in found.blocks:
        yield from _block(block, full=found.session is None)


def _block(block: BlockView, *, full: bool) -> Iterator[str]:
    topic = f"[{output.printable(block.topic)}]" if block.topic else ""
    head = (f"{block.seq:>6}", block.block_id, block.kind, topic, block.created[:19] + "Z", block.actor)
    yield output.printable("  ".join(filter(None, head)))
    text = block.text if full else block.summary
    if text:
        yield from (f"        {output.printable(line)}" for line in text.splitlines())
    if full:
        epoch = "not canonical" if block.epoch is None else f"canonical since epoch {block.epoch}"
        yield f"        {epoch}; {block.status or 'baseline'}; parents: {', '.join(block.parents) or 'none'}"
        yield f"        hash {block.hash}"
        if block.handed_to:
            yield f"        handed to {', '.join(block.handed_to)}"


def _conflicts(found: looking.Conflicts) -> Iterator[str]:
    for conflict in found.conflicts:
        topic = "(purged)" if conflict.topic is None else output.printable(conflict.topic)
        yield f"{conflict.conflict_id}  epoch {conflict.epoch}  {conflict.state}  {topic}"
        for side in conflict.sides:
            said = "(purged)" if side["summary"] is None else side["summary"]
            yield output.printable(f"    {side['native_ref']} {side['block_id']}: {said}")
        for block in conflict.settled_by:
            yield f"    {conflict.state} by {block}"
    if not found.conflicts:
        yield "nothing is listed; branches are compared by the topics of their facts only"


def _receipts(found: looking.Receipts) -> Iterator[str]:
    for each in found.receipts:
        left = f", {output.counted(each.omitted_blocks, 'block')} left out" if each.omitted_blocks else ""
        size = f"{each.tokens} of {each.budget} tokens{left}"
        yield f"{each.receipt_id}  {each.at[:19]}Z  epoch {each.base_epoch}  {size}"
        yield from (f"    {block}" for block in each.blocks)
    if not found.receipts:
        yield "nothing was handed to it"
