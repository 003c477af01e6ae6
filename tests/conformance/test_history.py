"""History, versions and lists of memories on random logs, against the rules said once more in plain Python."""

import hashlib
import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

from cyberos import _native
from cyberos.core.history import walk
from tests.conformance.naive import Log, read_rows

PATHS = [f"memories/{name}.md" for name in "abcd"]
PATH = st.sampled_from(PATHS)
OPS = st.one_of(
    st.tuples(st.just("put"), PATH, st.integers(0, 3)),
    st.tuples(st.just("move"), PATH, PATH),
    st.tuples(st.just("delete"), PATH, st.just(0)),
    st.tuples(st.just("note"), PATH, st.just(0)),
    st.tuples(st.just("dream"), PATH, PATH),
)


def sha(number):
    return hashlib.sha256(b"%d" % number).hexdigest()


def build(operations, *, possible_only):
    """A log of these operations; with `possible_only` without those that a memory's owner could not do."""
    log, now = Log(), {}
    for op, path, other in operations:
        if op == "put":
            now[path] = sha(other)
            log.add("put", path, {"kind": "fact"}, sha=sha(other))
        elif op == "move" and path != other:
            if possible_only and (path not in now or other in now):
                continue
            now[other] = now.pop(path, sha(9))
            log.add("move", path, {"to": other}, sha=now[other])
        elif op == "delete":
            if possible_only and path not in now:
                continue
            log.add("delete", path, {"mode": "tombstone"}, sha=now.pop(path, sha(9)))
        elif op == "note":
            log.add("memory.importance_scored", path, {"path": path})
        elif op == "dream":
            log.add("dream.proposal_applied", "dreams/d.md", {"affected_paths": [path, other]})
    return log


def steps(rows, path, *, follow):
    """The rows of a history, newest first, each with what it does to the memory."""
    name = path
    for row in reversed(rows):
        extra = row["extra"]
        if row["op"] == "move" and extra["to"] == name:
            yield row, "comes", name
            if not follow:
                return
            name = row["path"]
        elif row["op"] == "move" and row["path"] == name:
            yield row, "leaves", name
        elif row["path"] == name or name in (extra.get("path"), *extra.get("affected_paths", [])):
            yield row, {"put": "content", "delete": "leaves"}.get(row["op"], "spoken of"), name


def older_version(later):
    """The version before a row that writes: what the rest of the walk says."""
    for row, does, name in later:
        if does in ("content", "comes"):
            return row["content_sha256"], name
        if does == "leaves":
            return None
    return None


def version_then(rows, path, last, *, follow):
    """The row of the version at row `last`."""
    if not follow:
        rows = [row for row in rows if row["seq"] <= last]
    for row, does, name in steps(rows, path, follow=True):
        if row["seq"] <= last and does != "spoken of":
            return None if does == "leaves" else (row["seq"], name, row["content_sha256"])
    return None


def memories_then(rows, last):
    """Every memory at row `last`, with the row that brought it there."""
    now = {}
    for row in rows[:last]:
        if row["op"] == "put":
            now[row["path"]] = row
        elif row["op"] == "move":
            del now[row["path"]]
            now[row["extra"]["to"]] = row
        elif row["op"] == "delete":
            del now[row["path"]]
    return [(path, row["seq"], row["content_sha256"]) for path, row in sorted(now.items())]


@settings(max_examples=150)
@given(st.lists(OPS, max_size=25), st.integers(1, 6), st.booleans())
def test_history_is_what_the_rules_say(operations, limit, possible_only):
    log = build(operations, possible_only=possible_only)
    with tempfile.TemporaryDirectory() as folder:
        rows = read_rows(log.write(folder))
        reader = _native.Reader(folder)
        for path in PATHS:
            for follow in (True, False):
                expected = list(steps(rows, path, follow=follow))
                entries, damages = reader.history(path, follow_moves=follow)
                assert damages == []
                assert [(entry.seq, entry.name) for entry in entries] == [
                    (row["seq"], name) for row, _, name in expected
                ]
                whole = list(steps(rows, path, follow=True))
                for place, entry in enumerate(entries):
                    assert entry.writes == (expected[place][1] == "content")
                    if entry.writes and follow:
                        assert entry.older == older_version(whole[place + 1 :])
                some, _ = reader.history(path, follow_moves=follow, limit=limit)
                assert [(entry.seq, entry.older) for entry in some] == [
                    (entry.seq, entry.older) for entry in entries[:limit]
                ]
        assert [entry.seq for entry in walk(folder, None)] == [row["seq"] for row in reversed(rows)]


@settings(max_examples=150)
@given(st.lists(OPS, max_size=25), st.booleans())
def test_versions_are_what_the_rules_say(operations, possible_only):
    log = build(operations, possible_only=possible_only)
    with tempfile.TemporaryDirectory() as folder:
        rows = read_rows(log.write(folder))
        reader = _native.Reader(folder)
        for last in range(1, len(rows) + 2):
            for path in PATHS:
                for follow in (True, False):
                    expected = version_then(rows, path, last, follow=follow)
                    then = 1_800_000_000_000_000_000 + last * 10**9
                    for moment in ({"seq": last}, {"ts_ns": then}):
                        found = reader.version_at(path, **moment, follow_moves=follow)
                        assert (found and (found.seq, found.path, found.content_sha256)) == expected


@settings(max_examples=150)
@given(st.lists(OPS, max_size=25))
def test_lists_are_what_the_rules_say(operations):
    log = build(operations, possible_only=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = read_rows(log.write(folder))
        reader = _native.Reader(folder)
        for last in range(1, len(rows) + 1):
            versions, damages = reader.memories_at(seq=last)
            assert [(version.path, version.seq, version.content_sha256) for version in versions] == memories_then(
                rows, last
            )
            assert damages == []
        assert len(reader.memories_at()[0]) == len(memories_then(rows, len(rows)))
