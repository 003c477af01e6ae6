"""Bringing back what a memory held before."""

from cyberos import clock
from cyberos.core import history
from cyberos.core.reader import AuditChainReader
from cyberos.operations.memories import Changed, change


def restore(store: str, path: str, at: clock.At | None, *, actor: str) -> Changed:
    """Puts the content that a memory had at a point in the past; the new row says which row it is from."""
    version, content = history.show(store, path, at, reader=AuditChainReader(store))
    extra = {"invocation": "restore", "restored_from_seq": version.seq}
    return change(store, path, lambda writer: writer.put(path, content, extra=extra), actor=actor)
