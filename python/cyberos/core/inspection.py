"""Looking at a store as a whole: the facts that `cyberos.doctor` judges. Reading takes no lock and changes nothing."""

import os
from collections.abc import Callable

from cyberos import _native

Survey = _native.Survey


def survey(store: str | os.PathLike[str], progress: Callable[[int], object] | None = None) -> Survey:
    """Reads the log, the stored bodies and what is derived from them; `progress` gets the number of rows so far."""
    return _native.survey(store, progress)
