"""Content that is given to a command: a file's, or what stands on standard input."""

import sys

from cyberos.errors import BadArgument


def read(file: str, argument: str = "FILE") -> bytes:
    """Returns the content of a file; `-` is standard input, and `argument` what an error names."""
    if file == "-":
        if sys.stdin is None:
            raise BadArgument("standard input is closed, and no FILE is named", argument=argument)
        return sys.stdin.buffer.read()
    try:
        with open(file, "rb") as handle:
            return handle.read()
    except OSError as error:
        raise BadArgument(f"cannot read {file!r}: {error.strerror}", argument=argument) from error
