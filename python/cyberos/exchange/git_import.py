"""Importing the history of a git repository's files as the history of memories."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from cyberos.core.changes import Change, Delete, Move, Put, Record
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.exchange import brackets
from cyberos.exchange.git import SIMILARITY, Blob, Blobs, Commit, Delta, Repository, Step
from cyberos.exchange.names import Mapped, Names
from cyberos.exchange.plan import Planned, Planner, Skipped
from cyberos.exchange.refusals import Refusals, Refused

# What is written in one go: many rows share three syncs.
_ROWS: Final = 4_096
_BYTES: Final = 16 << 20

Progress = Callable[[int, int | None], None]


class Outcome(NamedTuple):
    """What an import did, or would do. `commits` are those looked at, `after` is the one that was in already."""

    root: str
    after: str | None
    head: str
    commits: int
    puts: int
    moves: int
    deletes: int
    mapped: tuple[Mapped, ...]
    skipped: tuple[Skipped, ...]
    refused: tuple[Refused, ...]


class GitImport:
    """One import of a repository into a folder of a store."""

    def __init__(self, store: str, repository: Repository, *, into: str, glob: str) -> None:
        self._store, self._repository, self._into, self._glob = store, repository, into, glob
        self._root: Final = repository.chain[0]
        self._name: Final = brackets.import_id(self._root, into, glob)
        self._reader: Final = AuditChainReader(store)
        self._counts = {"put": 0, "move": 0, "delete": 0}
        self._changes: list[Change] = []
        self._commits: list[Commit] = []
        self._bytes = 0

    def plan(self, actor: str, limit: int, progress: Progress) -> Outcome:
        """Says what an import would do. `limit` is how many bytes a memory may have."""
        return self._run(None, actor, limit, progress)

    def write(self, writer: Writer, actor: str, limit: int, progress: Progress) -> Outcome:
        """Imports what is not in yet. `actor` answers for it; each change is its author's."""
        return self._run(writer, actor, limit, progress)

    def _run(self, writer: Writer | None, actor: str, limit: int, progress: Progress) -> Outcome:
        at = brackets.position(self._reader, self._into, self._name)
        steps = self._repository.steps(at.partial or at.last)
        if at.partial is not None:
            steps.insert(0, Step(at.partial, at.last))
        names = Names(self._store, self._into, self._living(at.partial_from), adopts=at.last is not None or at.open)
        for (kind, path, to), source in at.done.items():
            if kind != "delete":
                names.own(source, to or path)
        planner = Planner(names, limit)
        refusals = Refusals(self._store, actor)
        opened, partial = at.open, at.partial
        with self._repository.blobs(sizes_only=writer is None) as blobs:
            for commit, delta, blob in _with_blobs(self._watched(steps, progress), blobs, planner, limit):
                if partial is not None and commit.id != partial:
                    # What was interrupted is whole now; others may have written since it began.
                    self._flush(writer, actor)
                    names.living = set(self._living(None)) if writer else names.living
                    partial = None
                for planned in planner.plan(commit, delta, blob):
                    if partial and brackets.change_key(planned.kind, planned.path, planned.to) in at.done:
                        continue
                    if writer is not None and not opened:
                        self._mark(writer, actor, brackets.START, after=at.last, until=self._repository.head)
                        opened = True
                    self._counts[planned.kind] += 1
                    if writer is not None:
                        self._add(planned)
                    else:
                        refusals.ask(planned.path, *([planned.to] if planned.to else []))
                if len(self._changes) >= _ROWS or self._bytes >= _BYTES:
                    self._flush(writer, actor)
        self._flush(writer, actor)
        if writer is not None and opened:
            self._mark(writer, actor, brackets.END, commit=self._repository.head, skipped=len(planner.skipped))
        return Outcome(
            self._root,
            at.last,
            self._repository.head,
            len(steps),
            self._counts["put"],
            self._counts["move"],
            self._counts["delete"],
            tuple(names.mapped.values()),
            tuple(planner.skipped),
            refusals.refused(),
        )

    def _living(self, before_row: int | None) -> list[str]:
        if before_row == 1:
            return []
        memories, _ = self._reader.native.memories_at(seq=None if before_row is None else before_row - 1)
        return [memory.path for memory in memories]

    def _watched(self, steps: Sequence[Step], progress: Progress) -> Iterator[tuple[Commit, Delta]]:
        """Yields what the steps did and says how far that is; most commits of a repository touch no memory."""
        done, last = 0, ""
        for commit, delta in self._repository.deltas(steps, self._glob):
            if commit.id != last:
                last = commit.id
                while steps[done].commit != last:
                    done += 1
                progress(done, len(steps))
            yield commit, delta

    def _add(self, planned: Planned) -> None:
        origin = {"from": "git", "import": self._name, "commit": planned.commit.id, "path": planned.source}
        extra = {brackets.ORIGIN: origin}
        if planned.kind == "move":
            self._changes.append(Move(planned.path, planned.to or "", extra=extra))
        elif planned.kind == "delete":
            self._changes.append(Delete(planned.path, extra=extra))
        else:
            content = planned.blob.content if planned.blob else None
            self._changes.append(Put(planned.path, content or b"", extra=extra))
            self._bytes += len(content or b"")
        self._commits.append(planned.commit)

    def _flush(self, writer: Writer | None, actor: str) -> None:
        if writer is not None and self._changes:
            writer.apply(
                self._changes,
                session_id="",
                actors=[commit.author for commit in self._commits],
                times=[commit.ts_ns for commit in self._commits],
                accountable=actor,
            )
        self._changes, self._commits, self._bytes = [], [], 0

    def _mark(self, writer: Writer, actor: str, kind: str, **facts: str | int | None) -> None:
        known = {"from": "git", "import": self._name, "repository": self._repository.name, "root": self._root}
        extra = {**known, "path": self._into, "glob": self._glob, "similarity": SIMILARITY, **facts}
        writer.apply([Record(kind, extra)], actor=actor, session_id="")


def _with_blobs(
    records: Iterable[tuple[Commit, Delta]], blobs: Blobs, planner: Planner, limit: int
) -> Iterator[tuple[Commit, Delta, Blob | None]]:
    """Yields records with the content that they need; it is read for many at a time."""
    group: list[tuple[Commit, Delta]] = []
    wanted: list[str] = []

    def drained() -> Iterator[tuple[Commit, Delta, Blob | None]]:
        found = iter(blobs.read(wanted, limit))
        for commit, delta in group:
            blob = next(found) if delta.needs_blob() else None
            if blob is None and planner.needs_content(delta):
                blob = blobs.read([delta.new_id], limit)[0]
            yield commit, delta, blob

    for commit, delta in records:
        group.append((commit, delta))
        if delta.needs_blob():
            wanted.append(delta.new_id)
        if len(wanted) == Blobs.AT_ONCE or len(group) == _ROWS:
            yield from drained()
            group, wanted = [], []
    yield from drained()
