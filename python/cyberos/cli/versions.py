"""Points in the past on the command line: SEQ, TIME, PATH@SEQ and PATH@TIME."""

from cyberos import clock
from cyberos.cli import output
from cyberos.core import paths
from cyberos.errors import BadArgument, command


def split(text: str, *, required: bool = True) -> tuple[str, clock.At | None]:
    """Returns the path and the point in the past that it names."""
    path, at = paths.split_version(text)
    if at is None and required:
        raise BadArgument(
            f"which version of {text}?",
            argument="PATH@SEQ|TIME",
            hint=f"{text}@SEQ, with SEQ from `{command('cyberos', 'history', text)}`",
        )
    return path, at if at is None else _told(at)


def moment(text: str) -> clock.At:
    """Returns the point in the past that an option names."""
    return _told(clock.parse_at(text))


def _told(at: clock.At) -> clock.At:
    """Warns of a time that is still to come, which is taken as now: what will be is not known."""
    if at.ts_ns is not None and at.ts_ns > clock.now_ns():
        output.write_warnings([f"{clock.iso_exact(at.ts_ns)} lies in the future: this is how it is now"])
    return at
