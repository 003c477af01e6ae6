"""Looking at a store as a whole: whether it can be used, and the facts that `cyberos.doctor` judges.

Reading takes no lock and changes nothing.
"""

import os
from collections.abc import Callable

from cyberos import _native

Survey = _native.Survey


def check_format(store: str | os.PathLike[str]) -> None:
    """Raises `UnsupportedStore` where a store's format is newer than this program.

    For what reads a store's other files; whatever opens its log, or takes its lock, does so by itself.
    """
    _native.check_format(store)


def survey(store: str | os.PathLike[str], progress: Callable[[int], object] | None = None) -> Survey:
    """Reads the log, the stored bodies and what is derived from them; `progress` gets the number of rows so far."""
    return _native.survey(store, progress)
