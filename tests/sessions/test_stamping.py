"""Which session a memory was written in, and how that is found in both directions."""

import pytest

from cyberos.core import session
from cyberos.core.sessions.book import Book
from cyberos.core.writer import Writer
from cyberos.operations import transcripts


def stamp(memory):
    extra = memory.read_recent_audit_rows(1)[0]["extra"]
    return extra.get("session_id"), extra.get("session_turn")


def test_the_turn_is_noted_once_there_is_one(memory):
    session.start(memory, "a")
    memory.put("memories/x.md", "0")
    assert stamp(memory) == ("a", None)
    for number in range(3):
        session.append(memory, "a", "user", "x")
        memory.put("memories/x.md", f"{number + 1}")
        assert stamp(memory) == ("a", number)


def test_an_id_that_the_caller_gives_wins(memory):
    session.start(memory, "a")
    session.append(memory, "a", "user", "x")
    memory.put("memories/x.md", "1", session_id="captured")
    assert stamp(memory) == ("captured", None)
    memory.put("memories/x.md", "2", session_id="")
    assert stamp(memory) == (None, None)
    memory.put("memories/x.md", "3", session_id="a")
    assert stamp(memory) == ("a", 0)


@pytest.mark.parametrize("pointer", [b"", b"\xff\xfe", b"gone", b"ended", b"a" * 4096])
def test_a_pointer_to_no_active_session_counts_for_nothing(memory, pointer):
    session.start(memory, "ended")
    session.end(memory, "ended")
    (memory.store_path / "sessions/.active").write_bytes(pointer)
    memory.put("memories/x.md", "1")
    assert stamp(memory) == (None, None)
    session.start(memory, "next")
    assert (memory.store_path / "sessions/.active").read_text() == "next"


def test_writes_are_found_by_session_with_and_without_an_index(memory):
    session.start(memory, "a")
    with memory.batch() as batch:
        for number in range(1_200):
            batch.put(f"memories/{number % 7}.md", f"{number}")
    session.record(memory, "b", [])
    session.end(memory, "a")
    memory.rebuild()
    memory.put("memories/late.md", "late", session_id="a")
    for _ in range(2):
        writes = transcripts.show(str(memory.store_path), "a", writes=True).writes or ()
        assert len(writes) == 1_201
        assert [write.seq for write in writes] == sorted(write.seq for write in writes)
        assert writes[-1].path == "memories/late.md"
        assert [known.id for known in Book(memory.reader()).all()] == ["b", "a"]
        for index in memory.store_path.glob("index/history/*"):
            index.unlink()
        with Writer(memory.store_path):
            pass


def test_history_tells_the_session_and_the_turn(memory, cli):
    session.start(memory, "a")
    session.append(memory, "a", "user", "x")
    memory.put("memories/x.md", "1")
    assert "during session a turn 0" in cli("--store", memory.store_path, "history", "memories/x.md").out
