"""Facts as they come in, and a bootstrap as people and models read it."""

import json
from collections.abc import Iterator
from typing import Any, Final

from cyberos import clock
from cyberos.blocks.bootstrap import Bootstrap, Item
from cyberos.blocks.facts import Fact
from cyberos.cli import inputs, output
from cyberos.errors import BadArgument, FactRefused

_FIELDS: Final = {"text", "topic", "key", "resolves", "data", "occurred"}


def read_facts(file: str) -> list[Fact]:
    """Returns the facts in a file of JSON Lines, or on standard input (`-`)."""
    raw = inputs.read(file, "--jsonl")
    lines = [line for line in raw.split(b"\n") if line.strip()]
    if not lines:
        raise BadArgument(f"there is no fact in {file}", argument="--jsonl")
    return [_fact(line, place) for place, line in enumerate(lines)]


def _fact(line: bytes, place: int) -> Fact:
    try:
        stated = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FactRefused(f"line {place + 1} is not JSON: {error}", place=place) from None
    if not isinstance(stated, dict):
        raise FactRefused(f"line {place + 1} is not a JSON object", place=place)
    if unknown := sorted(set(stated) - _FIELDS):
        raise FactRefused(f"line {place + 1} has the field {unknown[0]!r}, which no fact has", place=place)
    _require(stated, place)
    occurred = stated.get("occurred")
    return Fact(
        stated.get("text", ""),
        stated.get("topic"),
        stated.get("key"),
        tuple(stated.get("resolves") or ()),
        stated.get("data"),
        None if occurred is None else clock.parse_time(occurred),
    )


def _require(stated: dict[str, Any], place: int) -> None:
    for name in ("text", "topic", "key", "occurred"):
        if not isinstance(stated.get(name, ""), str) and (stated[name] is not None or name == "text"):
            raise FactRefused(f"line {place + 1}: {name} is not a text", place=place)
    resolves = stated.get("resolves") or []
    if not isinstance(resolves, list) or not all(isinstance(each, str) for each in resolves):
        raise FactRefused(f"line {place + 1}: resolves is not a list of ids", place=place)
    if not isinstance(stated.get("data") or {}, dict):
        raise FactRefused(f"line {place + 1}: data is not a JSON object", place=place)


def lines(handed: Bootstrap) -> Iterator[str]:
    """Yields a bootstrap as Markdown."""
    yield f"# {output.printable(handed.project)}: what is known"
    epoch = "nothing has ended yet" if handed.base_epoch is None else f"as of epoch {handed.base_epoch}"
    behind = (handed.epoch or 0) - (handed.base_epoch or 0)
    yield f"{epoch}; {output.counted(behind, 'session')} ended since" if behind else epoch
    for conflict in handed.conflicts:
        yield f"\n! Disputed since epoch {conflict.epoch}, {conflict.conflict_id}: {_said(conflict.topic)}"
        for side in conflict.sides:
            yield f"  - {_said(side['summary'])} ({side['block_id']})"
    for title, items in (("Accepted", handed.history), ("This session so far", handed.branch)):
        if items:
            yield f"\n## {title}"
            yield from (_line(item) for item in items)
    omitted = handed.omitted
    for what, blocks, tokens in (
        ("of the history", omitted.history_blocks, omitted.history_tokens),
        ("of this session", omitted.branch_blocks, omitted.branch_tokens),
    ):
        if blocks:
            yield f"\n{output.counted(blocks, 'older block')} {what} left out (about {tokens:,} tokens)"
    if omitted.conflicts:
        yield f"\n{output.counted(omitted.conflicts, 'conflict')} left out: `cyberos blocks conflicts`"
    yield "\nBranches are compared by topic when they end; what they mean is not analysed."


def _line(item: Item) -> str:
    topic = f"[{output.printable(item.topic)}] " if item.topic else ""
    return f"- {topic}{_said(item.text)} ({item.occurred[:10]}, {output.printable(item.actor)}, {item.block_id})"


def _said(text: str | None) -> str:
    return "(purged)" if text is None else output.printable(text, keep="\n").replace("\n", "\n  ")
