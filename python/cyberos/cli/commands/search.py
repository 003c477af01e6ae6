"""`cyberos search`."""

import sys
from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import search as operations
from cyberos.operations.search import Hit

_INDENT = " " * 9


@click.command(cls=Command)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=10, metavar="N", help="Show at most N memories [10]")
@click.option("--kind", metavar="K", help="Only those of this kind, as their frontmatter says")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only those with this tag; more than one: with all")
@click.option("--actor", "author", metavar="A", help="Only those whose content this actor wrote")
@click.option("--since", metavar="TIME", help="Only those written since: 24h, 7d, 30d or an ISO time")
@click.option("--until", metavar="TIME", help="Only those written until then")
@pass_settings
def search(
    settings: Settings,
    query: tuple[str, ...],
    limit: int,
    kind: str | None,
    tags: tuple[str, ...],
    author: str | None,
    since: str | None,
    until: str | None,
) -> None:
    """Search the memories there are, the best match first.

    A memory is found if all words of QUERY are in its path, its frontmatter or its body. "Words in quotes" have to
    stand side by side, and deploy* stands for all words that begin so; every other sign is text. Case and accents do
    not count. An edit made by hand is found once a row records it. The index lies in the store's index folder, and is
    brought up to date first.
    """
    with output.Progress("indexing", "memories") as progress:
        found = operations.search(
            settings.store(),
            " ".join(query),
            limit=limit,
            kind=kind,
            tags=tags,
            actor=author,
            since=since,
            until=until,
            progress=progress,
        )
    output.write_warnings(found.warnings)
    if settings.json:
        output.write_json(found.hits)
        return
    color = output.use_color(settings.color, sys.stdout)
    output.write_lines(line for hit in found.hits for line in _human(hit, color=color))
    if not found.hits:
        output.write_lines(["Nothing found."])


def _human(hit: Hit, *, color: bool) -> Iterator[str]:
    head = f"[{hit.seq:>6}] {hit.ts[:19]}Z {output.printable(hit.path)}"
    notes = [output.printable(hit.title)] if hit.title else []
    if hit.edited:
        notes.append("(edited by hand since)")
    yield "  ".join([output.paint(head, "yellow") if color else head, *notes])
    if hit.snippet:
        yield _INDENT + "".join(_painted(hit, color=color))


def _painted(hit: Hit, *, color: bool) -> Iterator[str]:
    done = 0
    for begin, end in hit.highlights:
        yield output.printable(hit.snippet[done:begin])
        word = output.printable(hit.snippet[begin:end])
        yield output.paint(word, "bold", "red") if color else word
        done = end
    yield output.printable(hit.snippet[done:])
