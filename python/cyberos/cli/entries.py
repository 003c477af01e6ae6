"""How history entries are written for people."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from cyberos import clock
from cyberos.cli import output
from cyberos.cli.settings import Settings
from cyberos.core.history import HistoryEntry
from cyberos.errors import BadArgument
from cyberos.operations import history as operations

Render = Callable[[HistoryEntry], Iterator[str]]

_INDENT: Final = " " * 9
_SHORT: Final = 8
# What `extra` says, in the order it is told.
_ANNOTATIONS: Final = (
    ("dream_id", "via dream {:.8}…"),
    ("proposal_id", "(proposal {})"),
    ("session_id", "during session {}"),
    ("session_turn", "turn {}"),
    ("invocation", "via {}"),
    ("reverted_session_id", "reverts session {}"),
    ("reverted_dream_id", "reverts dream {:.8}…"),
    ("restored_from_seq", "of row {}"),
    ("imported_from", "imported from {}"),
    ("merged_into", "merged into {}"),
)


def parse_filters(pairs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the filters of `k=v …`."""
    filters = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise BadArgument(f"--filter takes K=V, not {pair!r}", argument="--filter", hint="for example kind=put")
        filters.append((key, value))
    return filters


def renderer(settings: Settings, *, show_body: bool, show_path: bool) -> Render:
    """Returns what writes one entry: lines for people (with its path or without), or one line of JSON."""
    if settings.json:
        return lambda entry: iter([output.json_line(operations.entry_json(entry, show_body=show_body))])
    import sys

    paint = output.paint if output.use_color(settings.color, sys.stdout) else _plain
    return lambda entry: _lines(entry, show_body=show_body, show_path=show_path, paint=paint)


def _plain(text: str, *_styles: str) -> str:
    return text


def _lines(entry: HistoryEntry, *, show_body: bool, show_path: bool, paint: Callable[..., str]) -> Iterator[str]:
    body = f"{entry.body_hash[:_SHORT]}…" if entry.body_hash else "—"
    row = f"[{entry.seq:>6}] {clock.iso_seconds(entry.ts_ns)}"
    head = f"{row} {_cell(entry.kind, 28)} {_cell(entry.actor, 16)} body={body}"
    told = ((text, entry.extra.get(key)) for key, text in _ANNOTATIONS)
    notes = [text.format(output.printable(str(value))) for text, value in told if value not in (None, "")]
    if what := _moved(entry) or _told(entry):
        notes.insert(0, what)
    if show_path and _moved(entry) is None:
        notes.insert(0, output.printable(entry.name))
    yield " ".join([paint(head, "yellow"), *notes])
    if diff := entry.frontmatter_diff:
        yield from _frontmatter(diff, paint)
    if show_body:
        yield from _body(entry, paint)
    elif diff is None and entry.no_older_version() == "damaged":
        yield f"{_INDENT}({_REASONS['damaged']})"


def _cell(text: str, width: int) -> str:
    return f"{output.printable(text):<{width}}"


def _moved(entry: HistoryEntry) -> str | None:
    if entry.kind not in ("move", "rename"):
        return None
    target = entry.extra.get("to") or entry.extra.get("dst")
    return f"{output.printable(entry.path)} → {output.printable(str(target))}" if target else None


def _told(entry: HistoryEntry) -> str | None:
    """Returns what an entry of its kind says besides who and when."""
    extra, kind = entry.extra, entry.kind
    told = None
    if kind == "delete" and extra.get("mode") == "purge":
        told = f"purged: {extra.get('reason')}"
    elif kind == "delete" and extra.get("reason"):
        told = f"reason: {extra['reason']}"
    elif kind == "put" and extra.get("adopted") is True:
        told = "edited by hand"
    elif kind == "memory.importance_scored" and "score" in extra:
        told = f"score {extra['score']}"
    elif kind == "memory.precondition_failed":
        told = f"expected {_hash(extra.get('expected'))}, found {_hash(extra.get('actual'))}"
    elif kind == "memory.acl_denied":
        verb = "let through" if extra.get("warn_only") is True else "refused"
        told = f"{extra.get('attempt_kind', 'write')} {verb} by {extra.get('yaml_path')}: {extra.get('matched_entry')}"
    return told and output.printable(told)


def _hash(sha256: object) -> str:
    return f"{sha256:.{_SHORT}}…" if isinstance(sha256, str) and sha256 else "no memory"


def _frontmatter(diff: dict[str, Any], paint: Callable[..., str]) -> Iterator[str]:
    if "unparseable" in diff:
        yield f"{_INDENT}frontmatter cannot be read: {output.printable(str(diff['unparseable']))}"
        yield from _diff_lines(diff.get("diff") or "", paint)
        return
    for name, change in diff["changed"].items():
        yield f"{_INDENT}~ {output.printable(name)}: {change['old']!r} → {change['new']!r}"
    for name, value in diff["added"].items():
        yield paint(f"{_INDENT}+ {output.printable(name)}: {value!r}", "green")
    for name, value in diff["removed"].items():
        yield paint(f"{_INDENT}- {output.printable(name)}: {value!r}", "red")


def _body(entry: HistoryEntry, paint: Callable[..., str]) -> Iterator[str]:
    diff = entry.body_diff
    if diff:
        yield from _diff_lines(diff, paint)
    elif (reason := entry.body_diff_reason) in _REASONS:
        yield f"{_INDENT}({_REASONS[str(reason)]})"


_REASONS: Final = {
    "purged": "the content was purged",
    "damaged": "the content is damaged: `cyberos verify --deep` says where",
    "unavailable": "the content was never kept: the log holds only its hash",
    "binary": "the content is binary",
    "too_large": "the content is too large to compare",
}


def _diff_lines(diff: str, paint: Callable[..., str]) -> Iterator[str]:
    for line in diff.rstrip("\n").split("\n"):
        text = output.printable(line, keep="\t")
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        yield _INDENT + (paint(text, style) if style else text)
