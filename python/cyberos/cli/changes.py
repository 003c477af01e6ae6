"""What the commands that change memories have in common."""

from collections.abc import Callable, Iterator
from typing import Any

from cyberos.cli import keys, output
from cyberos.cli.settings import Settings
from cyberos.errors import BadArgument
from cyberos.operations import frontmatter
from cyberos.operations.memories import Changed

PURGED = "purged"


def parse_meta(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Returns the fields of `k=v …`, each value read as a YAML scalar."""
    fields: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise BadArgument(f"--meta takes K=V, not {pair!r}", argument="--meta", hint="for example importance=0.8")
        name = name.strip()
        if name in fields:
            raise BadArgument(f"--meta gives {name!r} more than once", argument="--meta", hint="give it one value")
        fields[name] = frontmatter.parse_scalar(value)
    return fields


def tell(settings: Settings, store: str, changed: Changed, verb: str) -> None:
    """Writes what became of a change; then the log's head is signed, where that is due."""
    output.emit(changed, describe(verb), as_json=settings.json)
    keys.signer(store).sign_if_due()


def describe(verb: str) -> Callable[[Changed], Iterator[str]]:
    """Returns how a change is told to people."""

    def lines(changed: Changed) -> Iterator[str]:
        path = output.printable(changed.path)
        if changed.adopted is not None:
            yield f"[{changed.adopted:>6}] first recorded an edit that was made by hand"
        if changed.seq is None:
            yield f"{path} is {verb if verb == PURGED else 'that'} already: nothing to do"
        else:
            erased = f", {output.counted(changed.erased, 'stored version')} erased" if changed.erased else ""
            yield f"[{changed.seq:>6}] {verb} {path}{erased}"
        for warning in changed.warnings:
            yield f"warning: {output.printable(warning)}"

    return lines
