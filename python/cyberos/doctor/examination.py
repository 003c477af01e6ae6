"""One look at one store: facts that several families need, each found out once."""

import os
from collections.abc import Callable
from functools import cached_property

from cyberos import config
from cyberos.core import inspection
from cyberos.core.sessions.inspection import Ledger
from cyberos.errors import CyberosError


class Examination:
    """A store as it is now. After a change, make a new one."""

    def __init__(
        self,
        store: str,
        *,
        actor: str = "doctor",
        patience: float = 10.0,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        """`actor` is who repairs; `patience` is how many seconds a repair waits for another writer."""
        self.store = store
        self.actor = actor
        self.patience = patience
        self._progress = progress

    def again(self) -> "Examination":
        """Returns a new look at the same store."""
        return Examination(self.store, actor=self.actor, patience=self.patience, progress=self._progress)

    def path(self, name: str) -> str:
        """Returns the full path of a file of the store."""
        return os.path.join(self.store, name)

    @cached_property
    def survey(self) -> inspection.Survey:
        """What the log, the bodies and their indexes are."""
        return inspection.survey(self.store, self._progress)

    @cached_property
    def config(self) -> config.Config | None:
        """The store's settings; `None` where they cannot be read."""
        try:
            return config.load(self.store)
        except CyberosError:
            return None

    @cached_property
    def sessions(self) -> Ledger:
        """The sessions that the log and the files have."""
        return Ledger(self.store)

    @property
    def follows(self) -> bool:
        """Whether what follows from the log can be judged: its rows are whole, and are those that were acknowledged."""
        return self.survey.whole and not self.faults

    @property
    def faults(self) -> list[tuple[str, str, int, int, str]]:
        """What is wrong with the log itself: check, file, offset, row and what. A tip that is lost is not the log."""
        lost = self.survey.tip in ("lost", "damaged")
        return [fault for fault in self.survey.faults if not (lost and fault[0] == "tip")]
