"""`cyberos blocks`."""

import click

from cyberos.cli.lazy import Entry, LazyGroup

_SESSIONS = "cyberos.cli.commands.blocks_sessions"
_LOOKING = "cyberos.cli.commands.blocks_looking"
_SETUP = "cyberos.cli.commands.blocks_setup"

COMMANDS = {
    "enrol": Entry(_SETUP, "enrol", "Enrol the store in a project"),
    "start": Entry(_SESSIONS, "start", "Start a session, or return the open one, of a native reference"),
    "append": Entry(_SESSIONS, "append", "Add facts to a session"),
    "resume": Entry(_SESSIONS, "resume", "Go on with an open session"),
    "end": Entry(_SESSIONS, "end", "End a session: its branch becomes part of the project's history"),
    "abandon": Entry(_SESSIONS, "abandon", "End a session without making its branch part of the history"),
    "list": Entry(_LOOKING, "list_", "List the sessions of a project, the newest first"),
    "show": Entry(_LOOKING, "show", "Show a session with its blocks, or a block"),
    "log": Entry(_LOOKING, "log", "Draw the graph of blocks, newest first"),
    "conflicts": Entry(_LOOKING, "conflicts", "List topics that branches disagree about"),
    "resolve": Entry(_SESSIONS, "resolve", "Settle a conflict by a fact"),
    "bootstrap": Entry(_SESSIONS, "bootstrap", "Print what a session is to know when it begins or goes on"),
    "receipts": Entry(_LOOKING, "receipts", "List what was handed to a session"),
    "check": Entry(_LOOKING, "check", "Check a project: tables, invariants, hashes, and the store's log"),
    "setup": Entry(_SETUP, "setup", "Make the tables, or bring them up"),
    "token": Entry(_SETUP, "token", "Make and revoke tokens, which a server demands"),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def blocks() -> None:
    """Let several sessions work on one project, each on a branch.

    A session starts from what ended before it, sees nothing of others that are open, and joins the history when it
    ends. The database is a file beside the store, or what CYBEROS_BLOCKS_URL or blocks.url in manifest.json names;
    PostgreSQL also needs a token, in CYBEROS_BLOCKS_TOKEN. SESSION is an id, or a harness's own name for its session
    (HARNESS:NAME).
    """
