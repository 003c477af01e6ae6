"""What a check finds, and what a repair does about it."""

import enum
from typing import NamedTuple


class Severity(enum.Enum):
    """How bad a finding is. `INFO` is for what is worth knowing and nothing to be done about."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Remedy(enum.Enum):
    """What it takes to do something about a finding."""

    REPAIR = "repair"  # --repair
    ADOPT = "adopt"  # --repair --adopt: it writes rows
    ACCEPT_LOSS = "accept-loss"  # --repair --accept-loss: it gives rows up


class Finding(NamedTuple):
    """One invariant that does not hold.

    `id` is stable. `file` is where it shows, seen from the store; `seq` and `offset` are the row's where there is one.
    `repair` says what the `remedy` would do; both are null where only a person can do something.
    """

    id: str
    severity: Severity
    message: str
    file: str | None = None
    seq: int | None = None
    offset: int | None = None
    remedy: Remedy | None = None
    repair: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the store is not as it should be."""
        return self.severity is not Severity.INFO


class Step(NamedTuple):
    """One thing that a repair did, or could not do."""

    what: str
    done: bool = True
