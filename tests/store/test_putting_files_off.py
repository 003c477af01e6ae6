"""A writer that puts working files off: for imports."""

from pathlib import Path

import pytest

from cyberos.core import store as stores
from cyberos.core.writer import Writer
from cyberos.errors import MemoryNotFound, PathRefused
from cyberos.operations import reading


def test_files_that_are_put_off_are_written_at_the_end_and_read_before(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    file = store / "memories/a.md"
    with Writer(store, actor="ann", puts_files_off=True) as writer:
        for text in ("one\n", "two\n"):
            writer.put("memories/a.md", text)
        assert not file.exists()
        assert reading.get(str(store), "memories/a.md").content == b"two\n"
        writer.write_files()
        assert file.read_text() == "two\n"
        writer.put("memories/a.md", "three\n")
        assert file.read_text() == "two\n"
        memory = reading.get(str(store), "memories/a.md")
        assert (memory.content, memory.seq, memory.edited) == (b"three\n", 3, False)
        writer.delete("memories/a.md")
        with pytest.raises(MemoryNotFound):
            reading.get(str(store), "memories/a.md")
        writer.put("memories/a.md", "three\n")
    assert file.read_text() == "three\n"


def test_names_that_differ_by_case_are_told_apart_before_their_files_are_written(tmp_path: Path) -> None:
    with Writer(stores.init(tmp_path / "store"), actor="ann", puts_files_off=True) as writer:
        writer.put("memories/a.md", "one\n")
        with pytest.raises(PathRefused):
            writer.put("memories/A.md", "two\n")
