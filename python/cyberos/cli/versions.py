"""PATH@SEQ and PATH@TIME on the command line."""

from cyberos import clock
from cyberos.core import paths
from cyberos.errors import BadArgument


def split(text: str, *, required: bool = True) -> tuple[str, clock.At | None]:
    """Returns the path and the point in the past that it names."""
    path, at = paths.split_version(text)
    if at is None and required:
        raise BadArgument(
            f"which version of {text}?",
            argument="PATH@SEQ|TIME",
            hint=f"{text}@SEQ, with SEQ from `cyberos history {text}`",
        )
    return path, at
