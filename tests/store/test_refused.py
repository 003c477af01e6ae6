"""What a writer refuses: the store's own files, other files, and stores that cannot be written to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cyberos import _native
from cyberos.core import history
from cyberos.core.changes import Change, Delete, Put
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, IoFailure, MemoryNotFound, PathRefused, StoreReadOnly

OWN = ("AGENTS.md", "manifest.json", "HEAD", ".lock", "audit/tip", "audit/current.binlog", "audit/objects/001.pack")


def content_of(store: Path) -> dict[str, bytes]:
    return {str(file.relative_to(store)): file.read_bytes() for file in store.rglob("*") if file.is_file()}


@pytest.mark.parametrize("own", OWN)
def test_the_stores_own_files_are_neither_moved_nor_deleted(writer: Writer, own: str) -> None:
    writer.put("memories/a.md", "one\n")
    before = content_of(writer.store_path)
    assert own in before
    with pytest.raises(PathRefused, match="not in a folder of memories"):
        writer.delete(own)
    with pytest.raises(PathRefused, match="not in a folder of memories"):
        writer.delete(own, mode="purge", reason="why")
    with pytest.raises(PathRefused, match="not in a folder of memories"):
        writer.move(own, "memories/x.md")
    assert content_of(writer.store_path) == before


def test_an_access_list_is_neither_moved_nor_deleted(writer: Writer) -> None:
    writer.put("memories/a.md", "one\n")
    rules = writer.store_path / "memories/STORE.yaml"
    rules.write_text("store_id: mine\n")
    for change in (
        lambda: writer.delete("memories/STORE.yaml"),
        lambda: writer.move("memories/STORE.yaml", "meta/x.md"),
    ):
        with pytest.raises(PathRefused, match="access list"):
            change()
    assert rules.exists()


def test_a_file_that_can_be_no_memory_is_not_deleted(writer: Writer) -> None:
    writer.put("memories/a.md", "one\n")
    picture = writer.store_path / "memories/picture.png"
    picture.write_bytes(b"\x89PNG")
    with pytest.raises(MemoryNotFound):
        writer.delete("memories/picture.png")
    assert picture.exists()
    assert writer.head_seq() == 1


def test_a_batch_with_a_purge_is_refused_whole(writer: Writer) -> None:
    writer.put("memories/a.md", "one\n")
    changes: list[Change] = [Put("memories/b.md", "two\n"), Delete("memories/a.md", "purge", "why")]
    with pytest.raises(BadArgument, match="alone"):
        writer.apply(changes)
    assert history.show(writer.store_path, "memories/a.md")[1] == b"one\n"
    assert writer.head_seq() == 1


def test_a_store_that_cannot_be_written_to_says_so(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        error = IoFailure("cannot open .lock: Read-only file system")
        error.errno = 30
        raise error

    monkeypatch.setattr(_native, "Writer", refuse)
    with pytest.raises(StoreReadOnly) as raised:
        Writer(store)
    assert raised.value.store == str(store)


@pytest.mark.parametrize("mode", ["tombstone", "replace", "move"])
def test_what_another_program_wrote_is_kept_before_it_changes(writer: Writer, mode: str) -> None:
    writer.put("memories/a.md", "theirs\n")
    writer.close()
    store = writer.store_path
    (store / "audit/objects/001.pack").unlink()  # as upstream writes: a row and a file, no body
    with Writer(store) as other:
        if mode == "tombstone":
            other.delete("memories/a.md")
        elif mode == "replace":
            other.put("memories/a.md", "ours\n")
        else:
            other.move("memories/a.md", "memories/b.md")
    reader = _native.Reader(store)
    found = reader.version_at("memories/a.md", seq=1)
    assert found is not None
    assert reader.body(found.content_sha256) == (b"theirs\n", False)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_stream_is_no_place_for_the_stores_files(store: Path, closed: int) -> None:
    file = store.parent / "one.md"
    file.write_text("one\n")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "cyberos",
        "--store",
        str(store),
        "put",
        "memories/a.md",
        str(file),
    ]
    done = subprocess.run(command, preexec_fn=lambda: os.close(closed), check=False)
    assert done.returncode == 0
    assert history.show(store, "memories/a.md")[1] == b"one\n"
    done = subprocess.run([*command[:-1]], preexec_fn=lambda: os.close(0), capture_output=True, check=False)
    assert (done.returncode, b"standard input is closed" in done.stderr) == (2, True)
