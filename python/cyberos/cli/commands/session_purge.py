"""`cyberos session`: erasing, and finishing what was interrupted."""

from collections.abc import Iterator

import click

from cyberos.cli import keys, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.spoken import session_id
from cyberos.core.sessions.purging import Erasure
from cyberos.core.sessions.recovery import Recovered
from cyberos.operations import expiry as operations


@click.command(cls=Command)
@click.option("--id", "session_id", metavar="ID", help="Only this session [all]")
@pass_settings
def recover(settings: Settings, session_id: str | None) -> None:
    """Finish what a crash left half done.

    Nothing that was acknowledged is thrown away. A damaged transcript stays as it is: its session ends, and what is
    whole of it can be read.
    """
    store = settings.store()
    done = operations.recover(store, session_id, actor=settings.actor(), keystore=keys.keystore(store))
    output.emit(done, _recovered, as_json=settings.json)
    keys.signer(store).sign_if_due()


def _recovered(done: tuple[Recovered, ...]) -> Iterator[str]:
    for each in done:
        yield f"session {output.printable(each.session_id)}: {output.printable(each.did)}"
    if not done:
        yield "nothing to do"


@click.command(cls=Command)
@session_id
@click.option("--yes", is_flag=True, help="Do not ask")
@pass_settings
def purge(settings: Settings, session_id: str, yes: bool) -> None:  # noqa: FBT001, it is the option's value
    """Erase a session's transcript and its key.

    That the session was, and what the hash of its transcript was, stays in the log.
    """
    store = settings.store()
    question = f"Erase what was said in session {output.printable(session_id)}? This cannot be undone"
    output.confirm(question, assumed=yes)
    erased = operations.purge(store, session_id, actor=settings.actor(), keystore=keys.keystore(store))
    output.emit(erased, _erased, as_json=settings.json)
    keys.signer(store).sign_if_due()


def _erased(erased: Erasure) -> Iterator[str]:
    row = f"[{erased.seq:>6}] " if erased.seq is not None else ""
    turns = output.counted(erased.turns_count, "turn")
    if erased.seq is None and not erased.bytes_erased:
        yield f"session {erased.session_id} was purged already: nothing to do"
        return
    yield f"{row}session {erased.session_id} is purged: {turns}, {output.counted(erased.bytes_erased, 'byte')}"
    for place in erased.places:
        yield f"         cleared {output.printable(place)}"
    if erased.copies_until:
        until = f"until {erased.copies_until}"
        yield f"         an older copy of it could be opened with an older copy of the keystore {until}"
    elif erased.bytes_erased:
        yield "         it was not encrypted: an older copy of it can be read for as long as there is one"


@click.command("purge-expired", cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be erased, and erase nothing")
@pass_settings
def purge_expired(settings: Settings, dry_run: bool) -> None:  # noqa: FBT001
    """Erase the transcripts whose time is over.

    A transcript is kept for as many days as its session was started with. Nothing is erased unless this is called: run
    it once a day. The active session is never touched.
    """
    store = settings.store()
    with output.Progress("erasing", "transcripts") as progress:
        done = operations.purge_expired(
            store, dry_run=dry_run, actor=settings.actor(), keystore=keys.keystore(store), progress=progress
        )
    output.emit(done, _purged, as_json=settings.json)
    if done.erased:
        keys.signer(store).sign_if_due()


def _purged(done: operations.Purge) -> Iterator[str]:
    if done.dry_run:
        for each in done.expired:
            holds = f"{output.counted(each.turns_count, 'turn')}, {output.counted(each.bytes, 'byte')}"
            yield f"{each.session_id}: {holds}, {output.counted(each.days_over, 'day')} beyond {each.retention_days}"
    for erased in done.erased:
        yield from _erased(erased)
    verb = "would be" if done.dry_run else "are"
    yield f"{output.counted(len(done.expired), 'transcript')} {verb} erased, {output.counted(done.bytes, 'byte')} freed"
