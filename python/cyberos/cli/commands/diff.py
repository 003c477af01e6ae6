"""`cyberos diff`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.cli.versions import moment
from cyberos.operations import versions as operations


@click.command(cls=Command)
@click.argument("path")
@click.option("--from", "old", required=True, metavar="SEQ|TIME", help="Compare the version of this row or time")
@click.option("--to", "new", metavar="SEQ|TIME", help="… with this one [the version now]")
@pass_settings
def diff(settings: Settings, path: str, old: str, new: str | None) -> None:
    """Show what changed in a memory between two rows or times."""
    new_at = moment(new) if new is not None else None
    result = operations.diff(settings.store(), path, moment(old), new_at)
    output.write_warnings(result.warnings)
    output.emit(result, _human, as_json=settings.json)


def _human(result: operations.Difference) -> Iterator[str]:
    frontmatter = result.frontmatter_diff
    if "unparseable" in frontmatter:
        yield f"frontmatter cannot be read: {output.printable(str(frontmatter['unparseable']))}"
    else:
        for name, change in frontmatter["changed"].items():
            yield f"~ {output.printable(name)}: {change['old']!r} → {change['new']!r}"
        for name, value in frontmatter["added"].items():
            yield f"+ {output.printable(name)}: {value!r}"
        for name, value in frontmatter["removed"].items():
            yield f"- {output.printable(name)}: {value!r}"
    if result.body_diff:
        for line in result.body_diff.rstrip("\n").split("\n"):
            yield output.printable(line, keep="\t")
    elif result.body_diff_reason:
        yield f"(the bodies cannot be compared: {result.body_diff_reason})"
