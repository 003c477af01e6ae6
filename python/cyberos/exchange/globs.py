"""Patterns of files, with the meaning that git gives them."""

import re

from cyberos.errors import BadArgument


def compiled(glob: str) -> re.Pattern[str]:
    """Returns the expression that a whole path must match; raises `BadArgument` where it is none.

    `*` and `?` stand for characters of one name, `[…]` for one of several (`[!…]`: none of them), `**/` for any number
    of folders, and `**` at the end for all below.
    """
    *folders, last = glob.split("/")
    parts = [r"(?:[^/]+/)*" if folder == "**" else _name(folder) + "/" for folder in folders]
    parts.append(".+" if last == "**" else _name(last))
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error as error:
        raise BadArgument(f"not a pattern of files: {glob!r}: {error}", argument="--glob") from None


def _name(pattern: str) -> str:
    found, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            found.append("[^/]*")
        elif char == "?":
            found.append("[^/]")
        elif char == "[" and (end := pattern.find("]", at + (pattern[at : at + 1] in ("!", "^")) + 1)) > 0:
            negated = pattern[at] in "!^"
            chars = pattern[at + negated : end].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
            found.append(f"(?!/)[{'^' * negated}{chars}]")
            at = end + 1
        else:
            found.append(re.escape(char))
    return "".join(found)
