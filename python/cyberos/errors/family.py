"""What all errors have in common."""

import enum
from collections.abc import Iterator
from typing import Any, ClassVar


class Kind(enum.Enum):
    """What sort of outcome an error is; a surface needs to know nothing else to choose its status."""

    FINDINGS = "findings"  # a check ran to its end and found problems; the one kind that is a result, not an error
    USAGE = "usage"
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    CONFLICT = "conflict"
    BUSY = "busy"
    CORRUPT = "corrupt"
    KEY = "key"
    CONFIG = "config"
    INTERNAL = "internal"


class CyberosError(RuntimeError):
    """Something went wrong in cyberos."""

    code: ClassVar[str] = "error"
    kind: ClassVar[Kind] = Kind.INTERNAL
    fields: ClassVar[tuple[str, ...]] = ()

    hints: tuple[str, ...]

    def __init__(self, message: str | None = None, *, hint: str | tuple[str, ...] = (), **context: Any) -> None:
        """Takes the message (else the docstring is it), what to do about it, and the class's `fields`."""
        super().__init__(message or (self.__doc__ or self.code).partition("\n")[0])
        self.hints = (hint,) if isinstance(hint, str) else tuple(hint)
        for name in self.fields:
            setattr(self, name, context.pop(name, None))
        if context:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(context))}")

    @property
    def message(self) -> str:
        """What happened, in one line."""
        return str(self)

    def as_dict(self) -> dict[str, Any]:
        """Returns what a machine should get: code, kind, message, hints and those fields that are known."""
        known = {name: value for name in self.fields if (value := getattr(self, name)) is not None}
        return {"code": self.code, "kind": self.kind.value, "message": self.message, "hints": list(self.hints), **known}


def error_classes() -> Iterator[type[CyberosError]]:
    """Yields every class of the family that is loaded, the base class first."""
    pending = [CyberosError]
    while pending:
        error = pending.pop(0)
        yield error
        pending.extend(error.__subclasses__())


def command(*words: str) -> str:
    """Returns a command for a hint as a shell takes it, whatever is in the names that it is given."""
    import shlex

    return shlex.join(words)
