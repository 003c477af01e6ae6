"""History: the shape that the command line, REST and MCP share."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cyberos import clock
from cyberos.core import edits, paths
from cyberos.core import history as core
from cyberos.core.history import HistoryEntry
from cyberos.core.reader import AuditChainReader, Damage, describe


class History(NamedTuple):
    """The entries of a history, newest first unless asked for the other way round, and what their reader should know.

    `entries` can be read once, and the `warnings` are complete then. `last_seq` is the last row that was looked at:
    `follow` goes on behind it.
    """

    entries: Iterator[HistoryEntry]
    warnings: list[str]
    last_seq: int


def history(
    store: str,
    path: str | None,
    *,
    limit: int | None = 10,
    chronological: bool = False,
    follow_moves: bool = True,
    since: str | None = None,
    filters: Iterable[tuple[str, str]] = (),
    reader: AuditChainReader | None = None,
) -> History:
    """Returns what happened to a memory; with `path` `None` to all of them. `since` is an age or a time.

    `reader` is one of the store that is open already; any number of threads may share it.
    """
    since_ns = None if since is None else clock.parse_time(since)
    pairs = core.checked_filters(filters)
    core.check_limit(limit)
    reader = reader or AuditChainReader(store)
    warnings = []
    if since_ns is not None and since_ns > clock.now_ns():
        warnings.append(f"nothing is newer than {since}: it lies in the future")
    last = reader.last_seq()
    if path is None:
        return History(_every(reader, last, warnings, since_ns, limit, pairs, chronological), warnings, last)
    moment = None if since_ns is None else clock.to_datetime(since_ns)
    walked = core.walk(store, path, follow_moves, moment, limit, filters=pairs, reader=reader)
    warnings.extend(describe(damage) for damage in walked.damages)
    if not walked and (composed := paths.spelling(path)) is not None:
        warnings.append(f"in Unicode form NFC the path is {composed}, which looks the same and is another one")
    if (edit := edits.warning(reader, path, _newest(walked, path))) is not None:
        warnings.append(edit)
    last = max(last, walked[0].seq if walked else 0)
    if chronological:
        walked.reverse()
    return History(iter(walked), warnings, last)


def _newest(walked: Iterable[HistoryEntry], path: str) -> str | None:
    """Returns the SHA-256 of the newest version that the entries tell of under this name."""
    written = (entry.body_hash for entry in walked if entry.name == path and entry.kind != "delete")
    return next((body_hash for body_hash in written if body_hash), None)


def _every(
    reader: AuditChainReader,
    last: int,
    warnings: list[str],
    since_ns: int | None,
    limit: int | None,
    filters: Sequence[tuple[str, str]],
    chronological: bool,  # noqa: FBT001
) -> Iterator[HistoryEntry]:
    damages: list[Damage] = []
    yield from core.every(
        reader, last, damages, since_ns=since_ns, limit=limit, filters=filters, oldest_first=chronological
    )
    warnings.extend(describe(damage) for damage in damages)


def entry_json(entry: HistoryEntry, *, show_body: bool) -> dict[str, Any]:
    """Returns an entry as JSON has it: every field, the body diff structured, null with a reason."""
    lines, reason = entry.body_lines() if show_body else (None, entry.no_older_version() or "not_asked")
    return {
        "seq": entry.seq,
        "ts": clock.iso_exact(entry.ts_ns),
        "kind": entry.kind,
        "actor": entry.actor,
        "path": entry.path,
        "name": entry.name,
        "body_hash": entry.body_hash,
        "frontmatter_diff": entry.frontmatter_diff,
        "body_diff": lines,
        "body_diff_reason": reason,
        "extra": entry.extra,
    }


def follow(
    store: str,
    path: str | None,
    after: int,
    *,
    follow_moves: bool = True,
    filters: Iterable[tuple[str, str]] = (),
    wait: Iterable[None],
) -> Iterator[HistoryEntry]:
    """Yields the entries behind row `after` as they are written, oldest first; looks again each time `wait` yields.

    A memory that is moved away is followed no further: its new name has a history of its own.
    """
    reader = AuditChainReader(store)
    pairs = list(filters)
    for _ in wait:
        newest = reader.last_seq()
        if newest > after:
            walked = core.walk(store, path, follow_moves, filters=pairs, reader=reader, above=after)
            yield from reversed(walked)
            after = max(newest, walked[0].seq if walked else 0)
