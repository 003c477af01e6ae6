"""`cyberos demo`."""

import shlex
from collections.abc import Iterator

import click

from cyberos.cli import entries, output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.operations import demo as operation

_ABOUT = {
    "hot": "The memory that is written most",
    "cold": "The memory that was left alone for longest",
    "moved": "The memory that was renamed most",
    "never": "A memory that never was",
}


@click.command(cls=Command)
@click.argument("folder", required=False)
@click.option("--rows", type=click.IntRange(min=1), default=100_000, help="How many changes to make up [100000]")
@click.option("--seed", type=int, default=7, help="Which ones: the same again for the same number [7]")
@pass_settings
def demo(settings: Settings, folder: str | None, rows: int, seed: int) -> None:
    """Build a sample store, ask it for histories, and verify it.

    The store lies in FOLDER, which must be new or empty, else in a new temporary folder. Nothing else is touched.
    """
    where = folder or operation.new_folder()
    if not settings.json:
        output.write_lines([f"Making up {rows:,} changes to a few thousand memories, in {where}", ""])
        output.flush()
    with output.Progress("building", delay_s=0) as progress:
        result = operation.run(where, rows, seed, progress)
    if settings.json:
        output.write_json(operation.to_json(result))
        return
    output.write_lines(_human(result, entries.renderer(settings, show_body=False, show_path=False)))


def _human(result: operation.Demo, render: entries.Render) -> Iterator[str]:
    store = shlex.quote(result.store)
    for answer in result.answers:
        yield f"{_ABOUT[answer.sort]}: {output.counted(answer.rows, 'row')}"
        yield f"$ cyberos history {shlex.quote(answer.path)} --limit {operation.SHOWN}"
        for entry in answer.entries:
            yield from render(entry)
        if not answer.entries:
            yield f"No history for {answer.path!r}."
        yield ""
    yield from _times(result)
    hot, _, moved, _ = (shlex.quote(answer.path) for answer in result.answers)
    yield ""
    yield f"The store is yours to try, and to delete: {result.store}"
    yield ""
    yield f"  export CYBEROS_STORE={store}"
    yield f"  cyberos history {moved}"
    yield f"  cyberos history {hot} --limit 3 --show-body"
    yield f"  cyberos blame {hot}"
    yield "  cyberos list memories/facts/moved"
    yield "  cyberos verify --deep"


def _times(result: operation.Demo) -> Iterator[str]:
    rows, per_second = output.counted(result.rows, "row"), result.rows / result.build_seconds
    yield _line("build", result.build_seconds, f"{rows} with their bodies, {per_second:,.0f} rows/s")
    for answer in result.answers:
        of_all = f"opened, {len(answer.entries)} of {output.counted(answer.rows, 'row')} walked"
        yield _line(f"history, {answer.sort}", answer.seconds, of_all if answer.rows else "opened, nothing found")
    found = "nothing wrong" if result.verified.ok else output.counted(len(result.verified.findings), "FINDING")
    yield _line("verify", result.verify_seconds, f"{rows}, every hash and every link: {found}")


def _line(what: str, seconds: float, about: str) -> str:
    taken = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"
    return f"{what:<16}{taken:>10}   {about}"
