"""What is answered quickly is what the long way says: pages of histories as JSON, and of the memories there are."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import CyberosError
from cyberos.operations import history as histories
from cyberos.operations import reading

PATHS = ["memories/a.md", "memories/ä/b.md", "meta/c.md"]
PATH = st.sampled_from(PATHS)
BODY = st.sampled_from(
    [
        b"one\n",
        b"---\nn: 1\ntags: [a, b]\n---\none\n",
        b"---\nn: 1.0\nwhen: 2026-01-01\nlong: 18446744073709551617\n---\ntwo\n",
        b'---\n{"n": {"deep": [1, 1e16, "\\u00e4\\""]}}\n---\ntwo\n',
        b"---\n[broken\n---\nthree\n",
        b"---\nx: .inf\n---\n",
        b"\xff\x00",
        b"",
    ]
)
OPS = st.one_of(
    st.tuples(st.just("put"), PATH, BODY),
    st.tuples(st.just("put"), PATH, BODY),
    st.tuples(st.just("move"), PATH, PATH),
    st.tuples(st.sampled_from(["tombstone", "purge"]), PATH, st.just(b"")),
    st.tuples(st.just("note"), PATH, st.just(b"")),
    st.tuples(st.sampled_from(["edit", "remove", "link"]), PATH, BODY),
)


def apply(writer, store, op, path, what):
    file = Path(store, path)
    if op == "put":
        writer.put(path, what, session_id="s")
    elif op == "move":
        writer.move(path, what)
    elif op in ("tombstone", "purge"):
        writer.delete(path, mode=op, reason="asked for")
    elif op == "note":
        writer.emit_aux("memory.importance_scored", {"path": path, "score": 0.1, "odd": "\x7f"})
    elif file.exists() or file.is_symlink():
        file.unlink()
        if op == "edit":
            file.write_bytes(what)
        elif op == "link":
            file.symlink_to(Path(store, "AGENTS.md"))


def whole(store, path, limit):
    """What the long way says, and whether it has more to tell than entries."""
    found = histories.history(store, path, limit=limit)
    entries = [histories.entry_json(entry, show_body=False) for entry in found.entries]
    return entries, bool(found.warnings)


def changed(operations):
    """Yields a store after each of the operations that can be carried out."""
    with tempfile.TemporaryDirectory() as folder:
        store = stores.init(Path(folder) / "store")
        with Writer(store, actor="änn") as writer:
            for operation in operations:
                try:
                    apply(writer, store, *operation)
                except CyberosError:
                    continue
                yield str(store)


@settings(max_examples=30)
@given(st.lists(OPS, max_size=14), st.integers(1, 5))
def test_a_page_is_what_the_long_way_says(operations, limit):
    kept = None
    for store in changed(operations):
        kept = kept or AuditChainReader(store)
        for path in PATHS:
            page = kept.native.history_page(path, limit)
            if page is None:
                continue
            entries, told = whole(store, path, limit)
            assert json.loads(page) == json.loads(json.dumps(entries))
            assert not told


@settings(max_examples=30)
@given(st.lists(OPS, max_size=14), st.integers(1, 3))
def test_the_memories_there_are_follow_every_change(operations, limit):
    kept = None
    for store in changed(operations):
        kept = kept or AuditChainReader(store)
        for prefix in ("", "memories/", "memories/a", "n"):
            found, after = [], ""
            while True:
                page = reading.page_of_memories(store, prefix, after=after, limit=limit, reader=kept)
                assert len(page.memories) <= limit
                found += page.memories
                if page.next is None:
                    break
                after = page.next
            assert found == reading.list_memories(store, prefix).memories


def test_a_plain_history_is_answered_quickly(store, writer):
    for number in range(12):
        writer.put(PATHS[0], f"---\nn: {number}\n---\n{number}\n")
    writer.move(PATHS[0], PATHS[1])
    writer.delete(PATHS[1], mode="purge", reason="asked for")
    reader = AuditChainReader(store)
    for path in (*PATHS[:2], "memories/never.md"):
        page = reader.native.history_page(path, 10)
        assert page is not None
        assert json.loads(page) == whole(store, path, 10)[0]


@pytest.mark.parametrize(
    "what", ["edited", "link", "pipe", "folder", "empty", "large", "many", "unindexed", "spelling", "not kept"]
)
def test_what_takes_long_or_has_more_to_tell_is_left_to_the_long_way(store, writer, what):
    path, limit = PATHS[0], 10
    writer.put(path, "one\n")
    writer.put(path, "two\n")
    file = Path(store, path)
    if what == "edited":
        file.write_text("by hand\n")
    elif what in ("link", "pipe", "folder", "empty"):
        file.unlink()
        if what == "link":
            file.symlink_to(Path(store, "manifest.json"))
        elif what == "pipe":
            os.mkfifo(file)
        elif what == "folder":
            file.mkdir()
        else:
            file.touch()
    elif what == "large":
        writer.put(path, b"x\n" * (200 << 10))
    elif what == "many":
        limit = 101
    elif what == "spelling":
        path = "memories/a\u0308.md"
    elif what == "not kept":
        writer.close()
        for pack in Path(store, "audit/objects").iterdir():
            pack.unlink()
    elif what == "unindexed":
        with writer.batch() as batch:
            for _ in range(2_100):
                batch.emit_aux("memory.importance_scored", {"path": "memories/b.md", "score": 0.1})
        writer.close()
        for run in Path(store, "index/history").iterdir():
            run.unlink()
    assert AuditChainReader(store).native.history_page(path, limit) is None


def test_another_log_at_the_same_place_has_other_memories(store, tmp_path):
    with Writer(store, actor="ann") as writer:
        writer.put(PATHS[0], "one\n")
        writer.put(PATHS[2], "one\n")
    kept = AuditChainReader(store)
    assert [memory.path for memory in reading.page_of_memories(store, reader=kept).memories] == [PATHS[0], PATHS[2]]
    other = stores.init(tmp_path / "other")
    with Writer(other, actor="ann") as second:
        for number in range(5):
            second.put("memories/z.md", f"{number}\n")
    for name in ("current.binlog", "tip"):
        os.replace(other / "audit" / name, store / "audit" / name)
    assert [memory.path for memory in reading.page_of_memories(store, reader=kept).memories] == ["memories/z.md"]
