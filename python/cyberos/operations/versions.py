"""Versions of a memory: showing one, comparing two, and who wrote each line."""

from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core import edits
from cyberos.core import history as core
from cyberos.core.reader import AuditChainReader


class Shown(NamedTuple):
    """A version of a memory."""

    path: str
    seq: int
    ts: str
    body_hash: str
    content: bytes


class Difference(NamedTuple):
    """What changed between two versions: `body_diff` is a unified diff, null with a reason."""

    old: dict[str, Any]
    new: dict[str, Any]
    frontmatter_diff: dict[str, Any]
    body_diff: str | None
    body_diff_reason: str | None
    warnings: tuple[str, ...]


class BlamedLine(NamedTuple):
    """A line, and the row that wrote it; nulls where the versions that could tell are not kept."""

    line: bytes
    seq: int | None
    ts: str | None
    actor: str | None
    path: str | None
    session_id: str | None


class Blamed(NamedTuple):
    """A version's lines, and what their reader should know."""

    lines: list[BlamedLine]
    warnings: tuple[str, ...]


def show(store: str, path: str, at: clock.At | None) -> Shown:
    """Returns a version of a memory."""
    version, content = core.show(store, path, at)
    return Shown(version.path, version.seq, clock.iso_exact(version.ts_ns), version.content_sha256, content)


def diff(store: str, path: str, old: clock.At, new: clock.At | None) -> Difference:
    """Returns what changed between two versions; `new` is now where it is `None`."""
    before, after, comparison, beside = core.diff(store, path, old, new)
    warnings = _edit(store, path, new)
    if beside is not None:
        warnings += (f"{beside} holds fields of one of these versions; what it held for the other is not known",)
    return Difference(
        old=_version_json(before),
        new=_version_json(after),
        frontmatter_diff=comparison.frontmatter(),
        body_diff=comparison.unified(),
        body_diff_reason=comparison.incomparable,
        warnings=warnings,
    )


def blame(store: str, path: str, at: clock.At | None) -> Blamed:
    """Returns each line of a version with the row that wrote it."""
    _, lines = core.blame(store, path, at)
    warnings = _edit(store, path, at)
    if unknown := sum(row is None for _, row in lines):
        warnings += (f"who wrote {unknown} of the {len(lines)} lines is not known: older versions are not kept",)
    blamed = [
        BlamedLine(
            line=line,
            seq=row.seq if row else None,
            ts=clock.iso_exact(row.ts_ns) if row else None,
            actor=row.actor if row else None,
            path=row.name if row else None,
            session_id=row.extra.get("session_id") if row else None,
        )
        for line, row in lines
    ]
    return Blamed(blamed, warnings)


def _edit(store: str, path: str, at: clock.At | None) -> tuple[str, ...]:
    """Returns what to tell of an edit by hand to whoever asks for a memory as it is now."""
    edit = edits.warning(AuditChainReader(store), path) if at is None else None
    return () if edit is None else (edit,)


def _version_json(version: Any) -> dict[str, Any]:
    return {
        "path": version.path,
        "seq": version.seq,
        "ts": clock.iso_exact(version.ts_ns),
        "body_hash": version.content_sha256,
    }
