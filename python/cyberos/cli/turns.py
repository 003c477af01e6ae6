"""Turns on their way in."""

from cyberos.cli import inputs
from cyberos.core.sessions.terms import TurnInput
from cyberos.errors import BadArgument, TurnRefused
from cyberos.operations import sessions as operations


def given(
    role: str | None,
    content: str | None,
    file: str | None,
    jsonl: str | None,
    redactions_applied: bool | None,  # noqa: FBT001, it is an option's value
) -> list[TurnInput]:
    """Returns the turns that the options give."""
    if sum(option is not None for option in (content, file, jsonl)) != 1:
        raise BadArgument("give the turn with one of --content, --file and --jsonl", argument="--content")
    if jsonl is not None:
        if role is not None or redactions_applied is not None:
            raise BadArgument("with --jsonl each line says its role and the rest", argument="--jsonl")
        return operations.parse_turns(inputs.read(jsonl, "--jsonl").splitlines())
    if role is None:
        raise BadArgument("say who speaks", argument="--role", hint="--role user, assistant, system or tool")
    return [TurnInput(role, _text(content, file), redactions_applied)]


def _text(content: str | None, file: str | None) -> str:
    if file is None and content not in (None, "-"):
        return str(content)
    raw = inputs.read(file or "-", "--file" if file else "--content")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise TurnRefused(f"the content is binary: byte {error.start} is not UTF-8") from None
