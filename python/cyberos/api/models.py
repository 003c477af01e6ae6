"""The shapes of answers, for OpenAPI. Answers are not built from them: a test holds the one to the other."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Model(BaseModel):
    """A shape with no other fields than these."""

    model_config = ConfigDict(extra="forbid")


class ErrorDetail(BaseModel):
    """What went wrong. Some errors have further fields, which docs/errors.md lists."""

    model_config = ConfigDict(extra="allow")

    code: str
    kind: str
    message: str
    hints: list[str]


class ErrorAnswer(_Model):
    """An error."""

    error: ErrorDetail


class Base64(_Model):
    """Content that is not UTF-8."""

    base64: str


class Change(_Model):
    """A frontmatter field before and after."""

    old: Any
    new: Any


class FieldDiff(_Model):
    """What changed in the frontmatter."""

    added: dict[str, Any]
    removed: dict[str, Any]
    changed: dict[str, Change]


class UnparseableDiff(_Model):
    """Frontmatter that cannot be read, and a unified diff of it."""

    unparseable: str
    diff: str | None


class BodyLines(_Model):
    """A body's lines, by what became of them."""

    added: list[str]
    removed: list[str]
    context: list[str]


class Entry(_Model):
    """One row of a memory's history: `path` is the row's own, `name` the memory's under which it was found."""

    seq: int
    ts: str
    kind: str
    actor: str
    path: str
    name: str
    body_hash: str | None
    frontmatter_diff: FieldDiff | UnparseableDiff | None
    body_diff: BodyLines | None
    body_diff_reason: str | None
    extra: dict[str, Any]


class _Told(_Model):
    """What may come with warnings, such as damage that hides rows; they are left out where there are none."""

    warnings: list[str] = []


class HistoryAnswer(_Told):
    """What happened to one memory."""

    path: str
    entries: list[Entry]


class AllHistoryAnswer(_Told):
    """What happened to all memories."""

    entries: list[Entry]


class Memory(_Model):
    """A memory's content. `edited`: its file was changed by hand since row `seq`."""

    path: str
    seq: int | None
    ts: str | None
    body_hash: str
    edited: bool
    content: str | Base64
    frontmatter: dict[str, Any] | None
    frontmatter_reason: str | None
    sidecar: str | None
    warnings: list[str]


class Listed(_Model):
    """A memory in a list."""

    path: str
    seq: int
    ts: str
    body_hash: str


class ListAnswer(_Told):
    """Memories by path; where `next` is not null there are more, behind that path."""

    next: str | None
    memories: list[Listed]


class Version(_Model):
    """Which version of a memory."""

    path: str
    seq: int
    ts: str
    body_hash: str


class Shown(Version):
    """A version of a memory with its content."""

    content: str | Base64


class Difference(_Model):
    """What changed between two versions; `body_diff` is a unified diff."""

    old: Version
    new: Version
    frontmatter_diff: FieldDiff | UnparseableDiff
    body_diff: str | None
    body_diff_reason: str | None
    warnings: list[str]


class BlamedLine(_Model):
    """A line and the row that wrote it; nulls where that is not known."""

    line: str | Base64
    seq: int | None
    ts: str | None
    actor: str | None
    path: str | None
    session_id: str | None


class BlameAnswer(_Told):
    """The lines of a memory."""

    path: str
    lines: list[BlamedLine]


class Row(_Model):
    """A row of the log."""

    seq: int
    ts: str
    kind: str
    actor: str
    path: str
    body_hash: str | None
    extra: dict[str, Any]
    chain: str
    prev_chain: str


class RowsAnswer(_Told):
    """Rows in order. Where `next` is not null there are more: after it, or before it with `newest_first`."""

    next: int | None
    rows: list[Row]


class Head(_Model):
    """A signed head: the root, in hexadecimal, of the first `size` rows, who signed it, and the note itself."""

    origin: str
    size: int
    root: str
    signers: list[str]
    at: str | None
    note: str


class HeadsAnswer(_Model):
    """The signed heads of the store, the smallest first."""

    checkpoints: list[Head]


class Proof(_Model):
    """The proof of a row as a file, in `content`: `cyberos verify-proof` checks it."""

    path: str
    seq: int
    origin: str
    size: int
    content: str


class Consistency(_Model):
    """That the log of `size` rows begins with that of `from_size`: roots in hexadecimal, hashes in base64."""

    from_size: int
    size: int
    from_root: str
    root: str
    hashes: list[str]


class Hit(_Model):
    """A memory that was found; `highlights` are begins and ends in `snippet`, in characters."""

    path: str
    seq: int
    ts: str
    actor: str
    kind: str | None
    title: str | None
    tags: list[str]
    body_hash: str
    score: float
    snippet: str
    highlights: list[tuple[int, int]]
    edited: bool


class SearchAnswer(_Told):
    """The memories that were found, the best first."""

    hits: list[Hit]


class Finding(_Model):
    """One thing that is not as it must be, or that is worth saying."""

    check: str
    file: str
    offset: int | None
    seq: int | None
    what: str


class Verified(_Model):
    """What a check of the whole log found."""

    ok: bool
    rows: int
    bytes: int
    segments: int
    last_seq: int
    chain: str | None
    root: str | None
    bodies: int | None
    purged: int
    heads: int | None
    truncated: bool
    findings: list[Finding]
    notes: list[Finding]


class Health(_Model):
    """A store that can be read."""

    status: str = Field(examples=["ok"])
    version: str
    store_id: str | None
    last_seq: int
