"""The memory of AI agents that its owner can audit."""

from cyberos._native import __version__, is_debug
from cyberos.errors import CyberosError

__all__ = ["CyberosError", "__version__"]

if is_debug:
    import warnings

    warnings.warn("this is a debug build of cyberos: it is many times slower", RuntimeWarning, stacklevel=2)
