"""Working files that people edited by hand: no row records them yet."""

from typing import NamedTuple

from cyberos import _native, layout
from cyberos.core import bodies, paths, sidecar
from cyberos.core.reader import AuditChainReader, describe
from cyberos.errors import CyberosError

_ROOTS = tuple(f"{root}/" for root in layout.MEMORY_ROOTS)


class Working(NamedTuple):
    """A working file that says what a memory holds now, and what the chain says (`None`: that there is none).

    `damage` is what may keep the chain from saying more.
    """

    known: _native.Version | None
    body: bytes
    sha256: str
    damage: str | None

    @property
    def edited(self) -> bool:
        """Whether no row records it."""
        return self.known is None or self.known.content_sha256 != self.sha256

    def warning(self, path: str) -> str | None:
        """Returns what to tell whoever reads the memory's rows, if anything."""
        if not self.edited:
            return None
        if self.damage is not None:
            return f"{path} is not what the log says, and the log is not whole: {self.damage}"
        what = "lies in a file that no row records" if self.known is None else "was edited by hand"
        return f"{path} {what}; the next write to it records that"


def working(reader: AuditChainReader, path: str) -> Working | None:
    """Returns a memory's working file; `None` where there is none, or where it may lag behind the chain."""
    known = reader.native.version_at(path)
    # A file that no row knows is a memory too if a memory could lie there: the next write to it records it.
    if known is None and not _may_be_memory(path):
        return None
    body = bodies.working_file(reader.store_path, path)
    if body is None:
        return None
    found = Working(known, body, bodies.sha256_of(body), None)
    if not found.edited:
        return found
    if reader.native.may_lag(path, found.sha256):
        return None
    _, damages = reader.native.history(path, limit=1)
    return found._replace(damage=describe(damages[0]) if damages else None)


def warning(reader: AuditChainReader, path: str, likely: str | None = None) -> str | None:
    """Returns what to tell of an edit that no row records yet; `None` where there is none, or where that is not known.

    `likely` is the SHA-256 of what the memory probably holds: where that is so, nothing is looked up.
    """
    try:
        if likely and reader.native.is_as_known(path, likely):
            return None
        found = working(reader, path)
    except CyberosError:
        return None
    return found and found.warning(path)


def _may_be_memory(path: str) -> bool:
    return path.startswith(_ROOTS) and path.endswith(paths.SUFFIXES) and not sidecar.is_sidecar(path)
