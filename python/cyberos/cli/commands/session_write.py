"""`cyberos session`: what records one."""

from typing import Any

import click

from cyberos.cli import keys, output, turns
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.spoken import session_id
from cyberos.operations import sessions as operations

_new_id = click.option("--id", "session_id", metavar="ID|auto", required=True, help="Call it so, or choose an id")
_reason = click.option("--reason", metavar="TEXT", help="Say why it ends, without secrets [explicit]")


def _about(command: Any) -> Any:
    """Adds the options that say what a new session is."""
    for option in (
        click.option("--correlates-with", metavar="ID", help="Another session that this one belongs to"),
        click.option("--retention-days", type=int, metavar="N", help="Keep it so long [sessions.retention_days]"),
        click.option(
            "--classification", metavar="C", default="confidential", show_default=True,
            help="confidential, or restricted: then it is encrypted",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(cls=Command)
@_new_id
@_about
@pass_settings
def start(
    settings: Settings,
    session_id: str,
    classification: str,
    retention_days: int | None,
    correlates_with: str | None,
) -> None:
    """Start recording a conversation.

    One session is active at a time: what is written meanwhile carries its id. The store's owner must have approved
    section 18 of the protocol. A restricted session needs a key: `cyberos key init`.
    """
    store = settings.store()
    started = operations.start(
        store,
        session_id,
        classification=classification,
        retention_days=retention_days,
        correlates_with=correlates_with,
        actor=settings.actor(),
        keystore=keys.keystore(store),
    )
    output.emit(started, _started, as_json=settings.json)
    keys.signer(store).sign_if_due()


def _started(started: operations.Started) -> list[str]:
    kept = f"{started.classification}, {'encrypted, ' if started.encrypted else ''}kept {started.retention_days} days"
    return [f"[{started.seq:>6}] session {started.session_id} is active ({kept})"]


@click.command(cls=Command)
@session_id
@click.option("--role", metavar="R", help="Who speaks: user, assistant, system or tool")
@click.option("--content", metavar="TEXT|-", help="What was said; - reads standard input, unseen by other users")
@click.option("--file", "file", metavar="FILE", help="Read what was said from this file")
@click.option("--jsonl", metavar="FILE|-", help="Add many turns, one JSON object a line, all or none")
@click.option("--redactions-applied", type=bool, metavar="BOOL", help="With true, replace secrets and personal data")
@pass_settings
def append(
    settings: Settings,
    session_id: str,
    role: str | None,
    content: str | None,
    file: str | None,
    jsonl: str | None,
    redactions_applied: bool | None,  # noqa: FBT001, it is the option's value
) -> None:
    """Add a turn, or many, to the active session.

    What is given with --content stands in the list of processes, where other users see it: prefer `--content -`. A line
    of --jsonl is {"role": …, "content": …}, with "ts" and "redactions_applied" if you like.
    """
    given = turns.given(role, content, file, jsonl, redactions_applied)
    store = settings.store()
    added = operations.append(store, session_id, given, actor=settings.actor(), keystore=keys.keystore(store))
    output.emit(added, _added, as_json=settings.json)


def _added(added: operations.Appended) -> list[str]:
    if added.first_turn is None:
        return ["no turns were given: nothing to do"]
    which = f"turn {added.first_turn}"
    if added.last_turn != added.first_turn:
        which = f"turns {added.first_turn} to {added.last_turn}"
    return [f"{which} of session {added.session_id}"]


@click.command(cls=Command)
@session_id
@_reason
@pass_settings
def end(settings: Settings, session_id: str, reason: str | None) -> None:
    """End the active session and seal its transcript."""
    store = settings.store()
    output.emit(
        operations.end(store, session_id, reason, actor=settings.actor()), _finished, as_json=settings.json
    )  # fmt: skip
    keys.signer(store).sign_if_due()


def _finished(finished: operations.Finished) -> list[str]:
    head = f"[{finished.seq:>6}] session {finished.session_id} has ended"
    return [f"{head}: {output.counted(finished.turns_count, 'turn')}, sha256 {finished.binlog_hash} {finished.path}"]


@click.command(cls=Command)
@_new_id
@click.option(
    "--jsonl", metavar="FILE|-", default="-", show_default=True, help="Read the turns, one JSON object a line"
)
@_about
@_reason
@pass_settings
def record(
    settings: Settings,
    session_id: str,
    jsonl: str,
    classification: str,
    retention_days: int | None,
    correlates_with: str | None,
    reason: str | None,
) -> None:
    """Record a conversation that is over, in one step.

    The active session stays what it is, so any number of agents can record at once. What an interrupted call left is
    done again by the same call.
    """
    given = turns.given(None, None, None, jsonl, None)
    store = settings.store()
    finished = operations.record(
        store,
        session_id,
        given,
        classification=classification,
        retention_days=retention_days,
        correlates_with=correlates_with,
        reason=reason,
        actor=settings.actor(),
        keystore=keys.keystore(store),
    )
    output.emit(finished, _finished, as_json=settings.json)
    keys.signer(store).sign_if_due()
