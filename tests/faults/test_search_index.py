"""The search index is derived: whatever happens to it, a search answers, and answers rightly."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cyberos import _native
from cyberos.core import search as searching
from cyberos.core import store as stores
from cyberos.core.search import keeping, pool, upkeep
from cyberos.core.search.database import Database
from cyberos.core.writer import Writer
from cyberos.errors import IoFailure, StoreLocked

INDEX = "index/search.db"
MEMORIES = 120


def text(number: int) -> str:
    colour = ("red", "green", "blue")[number % 3]
    return f"---\ntitle: memory number{number}\ntags: [{colour}]\n---\n" + f"word{number % 7} {colour} common\n" * 20


def fill(store: Path) -> Path:
    with Writer(store, actor="ann") as writer, writer.batch() as batch:
        for number in range(MEMORIES):
            batch.put(f"memories/{number:03}.md", text(number))
    return store


def paths(store: Path, query: str, actor: str | None = None) -> list[str]:
    return sorted(hit.path for hit in searching.search(store, query, limit=1_000, actor=actor).hits)


def answers(store: Path) -> dict[str, list[str]]:
    """What a new process is answered."""
    pool._waiting.clear()
    asked = {query: paths(store, query) for query in ("word3 red", "common", "number11*", '"green common"', "never")}
    return asked | {"by tag": paths(store, "common", actor="ann"), "by actor": paths(store, "common", actor="bob")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = fill(stores.init(tmp_path_factory.mktemp("made") / "store"))
    assert len(paths(store, "common")) == MEMORIES
    return store


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture(scope="module")
def expected(made: Path) -> dict[str, list[str]]:
    return answers(made)


def test_a_missing_index_is_made_again(store, expected):
    shutil.rmtree(store / "index")
    assert answers(store) == expected
    assert (store / INDEX).stat().st_mode & 0o777 == 0o600


def test_whatever_byte_is_damaged_answers_are_right(store, expected):
    sound = (store / INDEX).read_bytes()
    dice = random.Random(5)
    places = [*range(0, 100, 9), *(dice.randrange(len(sound)) for _ in range(50))]
    for place in places:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << dice.randrange(8)
        (store / INDEX).write_bytes(damaged)
        pool._waiting.clear()
        assert {query: paths(store, query) for query in ("word3 red", "number11*")}.items() <= expected.items(), place


@pytest.mark.parametrize("length", [0, 1, 99, 4096, 4097, 8192, 40_000])
def test_a_file_that_was_cut_is_made_again(store, expected, length):
    os.truncate(store / INDEX, length)
    assert answers(store) == expected


@pytest.mark.parametrize("content", [b"", b"no database at all\n" * 1000, None])
def test_what_is_no_index_is_replaced(store, expected, content):
    (store / INDEX).unlink()
    if content is None:
        (store / INDEX).mkdir()
    else:
        (store / INDEX).write_bytes(content)
    assert answers(store) == expected


def test_an_index_of_another_version_is_made_again(store, expected, monkeypatch):
    monkeypatch.setattr("cyberos.core.search.database.APPLICATION_ID", keeping.APPLICATION_ID - 1)
    (store / INDEX).unlink()
    assert answers(store) == expected
    assert keeping.indexed(store) is None
    monkeypatch.undo()
    assert answers(store) == expected
    assert keeping.indexed(store) == MEMORIES


def test_an_index_of_another_store_is_not_believed(store, expected, tmp_path):
    other = stores.init(tmp_path / "other")
    with Writer(other) as writer:
        for number in range(3):
            writer.put(f"memories/{number}.md", "common of another store\n")
    assert len(paths(other, "common")) == 3
    shutil.copy(other / INDEX, store / INDEX)
    assert answers(store) == expected


def test_an_index_that_is_ahead_of_a_restored_log_is_not_believed(store, expected, tmp_path):
    before = Path(shutil.copytree(store, tmp_path / "before"))
    with Writer(store) as writer:
        writer.put("memories/later.md", "common, and later\n")
    assert len(paths(store, "common")) == MEMORIES + 1
    shutil.copy(store / INDEX, before / INDEX)
    assert answers(before) == expected


def test_an_older_index_is_brought_up(store, expected, tmp_path):
    old = (store / INDEX).read_bytes()
    with Writer(store) as writer:
        writer.delete("memories/000.md")
        writer.move("memories/001.md", "memories/moved.md")
        writer.put("memories/002.md", "changed\n")
    after = answers(store)
    assert after != expected
    (store / INDEX).write_bytes(old)
    assert answers(store) == after


_BRINGER = """
import sys
from cyberos.core.search import upkeep
print("ready", flush=True)
upkeep.bring_up(sys.argv[1])
"""


def test_killed_at_any_moment_an_index_is_whole_or_not_used(store):
    dice = random.Random(3)
    for number in range(12):
        with Writer(store) as writer, writer.batch() as batch:
            for place in range(40):
                batch.put(f"memories/{place:03}.md", text(place + number + 1))
        if number % 3 == 0:
            shutil.rmtree(store / "index")
        bringer = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _BRINGER, store], stdout=subprocess.PIPE, text=True
        )
        assert bringer.stdout is not None
        assert bringer.stdout.readline() == "ready\n"
        with suppress(subprocess.TimeoutExpired):
            bringer.wait(dice.random() * 0.02)
        bringer.send_signal(signal.SIGKILL)
        bringer.wait()
        bringer.stdout.close()
        expected = sorted(f"memories/{place:03}.md" for place in range(40) if (place + number + 1) % 3 == 0)
        expected += [f"memories/{place:03}.md" for place in range(40, MEMORIES) if place % 3 == 0]
        assert paths(store, "red") == expected


def test_a_journal_that_a_crash_left_is_rolled_back(store, expected):
    writes = Database.open(str(store / INDEX), writes=True)
    writes.connection.execute("PRAGMA cache_size=2; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
    for number in range(60):
        writes.remove(f"memories/{number:03}.md")
    writes.connection.cache_flush()
    crashed = store.parent / "crashed"
    shutil.copytree(store, crashed)
    writes.connection.execute("ROLLBACK")
    writes.close()
    assert (crashed / f"{INDEX}-journal").stat().st_size
    assert (crashed / INDEX).read_bytes() != (store / INDEX).read_bytes()
    assert answers(crashed) == expected


@contextmanager
def unwritable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store that nothing can be written to, also for a user whom no permission stops."""

    def refuse(store: object, patience: float) -> Iterator[None]:
        raise IoFailure("read-only file system", file=str(store))

    with monkeypatch.context() as patch:
        patch.setattr(keeping, "locked", refuse)
        yield


@pytest.mark.parametrize("state", ["current", "behind", "missing", "damaged"])
def test_a_store_that_cannot_be_written_is_searched_all_the_same(store, monkeypatch, state):
    if state == "behind":
        with Writer(store) as writer:
            writer.put("memories/000.md", "brand new\n")
    wanted = answers(Path(shutil.copytree(store, store.parent / "copy")))
    if state == "missing":
        (store / INDEX).unlink()
    elif state == "damaged":
        (store / INDEX).write_bytes((store / INDEX).read_bytes()[:20_000])
    before = {file: file.read_bytes() for file in store.rglob("*") if file.is_file()}
    with unwritable(monkeypatch):
        assert answers(store) == wanted
    assert {file: file.read_bytes() for file in store.rglob("*") if file.is_file()} == before


def test_who_finds_the_index_being_made_answers_without_it(store, monkeypatch):
    monkeypatch.setattr(upkeep, "_PATIENCE_S", 0.0)
    with Writer(store) as writer:
        writer.put("memories/new.md", "common and new\n")
    before = (store / INDEX).read_bytes()
    with keeping.locked(store, 0.0):
        assert len(paths(store, "common")) == MEMORIES + 1
    assert (store / INDEX).read_bytes() == before


def test_a_damaged_log_is_searched_as_far_as_it_is_whole_and_no_index_is_kept_of_that(store):
    log = store / "audit/current.binlog"
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(raw)
    shutil.rmtree(store / "index")
    found = searching.search(store, "common", limit=1_000)
    assert 0 < len(found.hits) < MEMORIES
    assert "is damaged at byte" in found.warnings[0]
    assert not (store / INDEX).exists()


def test_rows_that_cannot_be_read_are_told_and_not_taken_in(store):
    log = store / "audit/current.binlog"
    end = log.stat().st_size
    with Writer(store) as writer:
        writer.put("memories/000.md", "common, and brand new\n")
        writer.put("memories/001.md", "common, and newer\n")
    raw = bytearray(log.read_bytes())
    raw[end + 60] ^= 1
    log.write_bytes(raw)
    before = (store / INDEX).read_bytes()
    found = searching.search(store, "newer")
    assert [hit.path for hit in found.hits] == ["memories/001.md"]
    assert "is damaged at byte" in found.warnings[0]
    assert (store / INDEX).exists() is False or (store / INDEX).read_bytes() == before


def stored(store: Path, token: str) -> set[str]:
    """The files below index/ that have the bytes of a word, of which the index may leave out the first."""
    return {
        file.name for file in (store / "index").rglob("*") if file.is_file() and token[1:].encode() in file.read_bytes()
    }


@pytest.mark.parametrize("which", ["now", "before", "deleted", "moved"])
def test_a_purge_reaches_every_word_that_was_ever_indexed(store, which):
    secret, path = "zq7hunter2secret", "memories/secret.md"
    with Writer(store) as writer:
        writer.put(path, f"the word is {secret}\n")
        assert paths(store, secret) == [path]
        if which == "before":
            writer.put(path, "harmless\n")
        elif which == "moved":
            writer.move(path, path := "memories/harmless.md")
        elif which == "deleted":
            writer.delete(path)
            assert paths(store, secret) == []
            writer.put(path, "harmless\n")
        paths(store, "harmless")
        assert stored(store, secret) == {"search.db"}
        writer.delete(path, mode="purge", reason="a secret")
        assert stored(store, secret) == set()
        assert paths(store, secret) == []
        assert len(paths(store, "common")) == MEMORIES
    assert stored(store, secret) == set()


def test_a_purge_that_another_program_recorded_reaches_the_index_at_the_next_search(store):
    secret = "zq7hunter2secret"
    with Writer(store) as writer:
        writer.put("memories/secret.md", f"{secret}\n")
        assert paths(store, secret) == ["memories/secret.md"]
    _native.Writer(store).submit([("delete", "ann", 1, None, "memories/secret.md", "purge", "by another")])
    assert stored(store, secret) == {"search.db"}
    assert len(paths(store, "common")) == MEMORIES
    assert stored(store, secret) == set()


def test_a_purge_waits_for_whoever_makes_the_index_and_is_not_carried_out_without(store):
    with keeping.locked(store, 0.0), Writer(store, patience=0.0) as writer:
        with pytest.raises(StoreLocked, match="is making the search index"):
            writer.delete("memories/000.md", mode="purge", reason="a secret")
        assert writer.head_seq() == MEMORIES
    assert "memories/000.md" in paths(store, "common")


def test_a_writer_brings_an_index_up_that_is_far_behind_and_makes_none(store):
    with Writer(store) as writer, writer.batch() as batch:
        for number in range(keeping._LAG - 1):
            batch.put("memories/busy.md", f"{number}\n")
    assert keeping.indexed(store) == MEMORIES
    with Writer(store) as writer:
        writer.put("memories/busy.md", "one more\n")
    assert keeping.indexed(store) == MEMORIES + keeping._LAG
    with Writer(store, puts_files_off=True) as writer, writer.batch() as batch:
        for number in range(keeping._LAG):
            batch.put("memories/busy.md", f"imported {number}\n")
    assert keeping.indexed(store) == MEMORIES + keeping._LAG
    (store / INDEX).unlink()
    with Writer(store) as writer, writer.batch() as batch:
        for number in range(keeping._LAG):
            batch.put("memories/busy.md", f"again {number}\n")
    assert not (store / INDEX).exists()


def test_an_index_that_waits_open_is_not_used_for_a_file_that_replaced_it(store, expected):
    assert paths(store, "common") == expected["common"]
    assert any(name == str(store / INDEX) for _, name, _ in pool._waiting)
    shutil.rmtree(store / "index")
    assert paths(store, "common") == expected["common"]
    assert (store / INDEX).exists()


def test_threads_and_processes_search_beside_a_writer(store):
    code = (
        "import sys; from cyberos.core.search import search\n"
        "for _ in range(30):\n"
        "    found = {hit.path: hit.snippet for hit in search(sys.argv[1], 'counter', limit=100).hits}\n"
        "    assert not found or set(found) == {f'memories/c{n}.md' for n in range(3)}, found"
    )
    searchers = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, store]) for _ in range(2)]
    with Writer(store) as writer:
        number = 0
        while any(searcher.poll() is None for searcher in searchers):
            number += 1
            with writer.batch() as batch:
                for place in range(3):
                    batch.put(f"memories/c{place}.md", f"counter {number}\n")
            assert len(paths(store, f"counter {number}")) == 3
    assert [searcher.wait() for searcher in searchers] == [0, 0]
