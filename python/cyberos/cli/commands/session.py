"""`cyberos session`: the group, which imports nothing of what its commands need."""

import click

from cyberos.cli.lazy import Entry, LazyGroup

_WRITE = "cyberos.cli.commands.session_write"
_READ = "cyberos.cli.commands.session_read"
_PURGE = "cyberos.cli.commands.session_purge"
COMMANDS = {
    "start": Entry(_WRITE, "start", "Start recording a conversation"),
    "append": Entry(_WRITE, "append", "Add a turn, or many, to the active session"),
    "end": Entry(_WRITE, "end", "End the active session and seal its transcript"),
    "record": Entry(_WRITE, "record", "Record a conversation that is over, in one step"),
    "read": Entry(_READ, "read", "Print what was said in a session"),
    "show": Entry(_READ, "show", "Show what the log says of a session"),
    "list": Entry(_READ, "list_", "List the sessions, the last first"),
    "tail": Entry(_READ, "tail", "Print the last turns of a session, and new ones as they come"),
    "export": Entry(_READ, "export", "Write a session's turns for another program"),
    "recover": Entry(_PURGE, "recover", "Finish what a crash left half done"),
    "purge": Entry(_PURGE, "purge", "Erase a session's transcript and its key"),
    "purge-expired": Entry(_PURGE, "purge_expired", "Erase the transcripts whose time is over"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def session() -> None:
    """Record conversations, read them, and let them expire."""


@click.group(cls=LazyGroup, table=COMMANDS)
def transcript() -> None:
    """The same as `cyberos session`, under another name."""
