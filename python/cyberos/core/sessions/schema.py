"""The JSON Schema of turns, of the rows about sessions, and of tombstones. It ships with the package.

`misfit` judges by as much of JSON Schema as this document uses; a keyword that it does not know is an error.
"""

import functools
import json
import os
import re
from collections.abc import Callable
from typing import Any, Final

from cyberos import clock
from cyberos.errors import BadArgument

FILE: Final = os.path.join(os.path.dirname(__file__), "schema.json")

# Returns what is wrong with a value, or `None`.
_Check = Callable[[Any], str | None]

_NOTES: Final = {"$schema", "$id", "title", "default", "contentEncoding"}
_TYPES: Final = {"object": dict, "string": str, "integer": int, "boolean": bool}


@functools.cache
def load() -> dict[str, Any]:
    """Returns the schema; its `$defs` have the document's names."""
    with open(FILE, encoding="utf-8") as handle:
        found: dict[str, Any] = json.load(handle)
    return found


def misfit(name: str, value: Any) -> str | None:
    """Returns how a value differs from what `$defs` has under a name; `None` where it is one."""
    return _definition(name)(value)


@functools.cache
def _definition(name: str) -> _Check:
    return _compiled(load()["$defs"][name])


def _compiled(schema: dict[str, Any]) -> _Check:
    checks = [_KEYWORDS[key](given, schema) for key, given in schema.items() if key not in _NOTES]

    def check(value: Any) -> str | None:
        return next((found for each in checks if (found := each(value)) is not None), None)

    return check


def _type(name: str, _: Any) -> _Check:
    kind = _TYPES[name]
    article = "an" if name[0] in "aeio" else "a"
    return lambda value: None if type(value) is kind else f"is not {article} {name}"


def _ref(target: str, _: Any) -> _Check:
    name = target.removeprefix("#/$defs/")
    return lambda value: misfit(name, value)


def _required(names: list[str], _: Any) -> _Check:
    def check(value: Any) -> str | None:
        lacking = [name for name in names if name not in value] if isinstance(value, dict) else []
        return f"has no {', '.join(lacking)}" if lacking else None

    return check


def _properties(schemas: dict[str, Any], _: Any) -> _Check:
    checks = {name: _compiled(schema) for name, schema in schemas.items()}

    def check(value: Any) -> str | None:
        for name, given in value.items() if isinstance(value, dict) else ():
            if name in checks and (found := checks[name](given)) is not None:
                return f"{name} {found}"
        return None

    return check


def _closed(allowed: bool, schema: dict[str, Any]) -> _Check:  # noqa: FBT001, it is the keyword's value
    known = schema.get("properties", {}).keys()

    def check(value: Any) -> str | None:
        extra = [] if allowed or not isinstance(value, dict) else sorted(value.keys() - known)
        return f"has {extra[0]!r:.50}, which is not allowed there" if extra else None

    return check


def _one_of(schemas: list[dict[str, Any]], _: Any) -> _Check:
    checks = [_compiled(schema) for schema in schemas]
    names = " and ".join("/".join(schema["required"]) for schema in schemas)
    return lambda value: (
        None if sum(check(value) is None for check in checks) == 1 else f"needs exactly one of {names}"
    )  # fmt: skip


def _enum(values: list[Any], _: Any) -> _Check:
    return lambda value: None if value in values else f"is {value!r:.50}, not {' or '.join(map(str, values))}"


def _pattern(text: str, _: Any) -> _Check:
    # `$` must not pass over a line's end, as it does in Python and not in JSON Schema.
    pattern = re.compile(re.sub(r"\$$", r"\\Z", text))
    return lambda value: (
        f"is {value!r:.80}, which is not of its form"
        if isinstance(value, str) and pattern.search(value) is None
        else None
    )


def _minimum(least: int, _: Any) -> _Check:
    return lambda value: f"is less than {least}" if isinstance(value, int) and value < least else None


def _min_length(least: int, _: Any) -> _Check:
    return lambda value: f"is shorter than {least}" if isinstance(value, str) and len(value) < least else None


def _format(name: str, _: Any) -> _Check:
    if name != "date-time":
        raise KeyError(name)

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        try:
            clock.parse_time(value)
        except BadArgument:
            return f"is {value!r:.50}, which is no time"
        return None if "T" in value[10:11].upper() else f"is {value!r:.50}, which is no date and time"

    return check


_KEYWORDS: Final[dict[str, Callable[[Any, dict[str, Any]], _Check]]] = {
    "$ref": _ref,
    "type": _type,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _closed,
    "oneOf": _one_of,
    "enum": _enum,
    "const": lambda value, schema: _enum([value], schema),
    "pattern": _pattern,
    "minimum": _minimum,
    "minLength": _min_length,
    "format": _format,
}
