"""`cyberos put`."""

import click

from cyberos.cli import changes, inputs
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.errors import BadArgument
from cyberos.operations import memories


@click.command(cls=Command)
@click.argument("path")
@click.argument("file", required=False, default="-")
@click.option("--meta", "meta", multiple=True, metavar="K=V", help="Set a field of frontmatter; V is a YAML scalar")
@click.option("--expected", metavar="SHA256", help="Only where the memory has this content")
@click.option("--if-absent", is_flag=True, help="Only where there is no such memory")
@click.option("--session-id", metavar="ID", help="Note the session that the change was made in")
@pass_settings
def put(
    settings: Settings,
    path: str,
    file: str,
    meta: tuple[str, ...],
    expected: str | None,
    if_absent: bool,  # noqa: FBT001, it is the option's value
    session_id: str | None,
) -> None:
    """Give a memory new content.

    The content is that of FILE, or standard input. Fields given with --meta win over those that it brings along.
    """
    store, actor = settings.store(), settings.actor()
    if expected is not None and if_absent:
        raise BadArgument("--expected and --if-absent exclude each other", argument="--if-absent")
    if expected == "":
        hint = "--if-absent is for where there is no such memory"
        raise BadArgument("--expected needs a SHA-256", argument="--expected", hint=hint)
    content = inputs.read(file)
    fields = changes.parse_meta(meta)
    if expected is not None or if_absent:
        changed = memories.put_if(store, path, content, expected, fields, actor=actor, session_id=session_id)
    else:
        changed = memories.put(store, path, content, fields, actor=actor, session_id=session_id)
    changes.tell(settings, store, changed, "put")
