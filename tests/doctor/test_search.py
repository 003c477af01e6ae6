"""The search index may be missing or behind; what is wrong with it is told and mended."""

import sqlite3

import pytest

from cyberos import _native, layout
from cyberos.core.search import keeping, pool, search
from cyberos.core.search.database import Database
from cyberos.core.writer import Writer
from cyberos.operations import doctor

INDEX = layout.SEARCH


@pytest.fixture
def searched(store):
    assert search(store, "version").hits
    pool._waiting.clear()
    return store


def found(store):
    return {finding.id for finding in doctor.examine(str(store)).findings if finding.id.startswith("search.")}


def test_an_index_that_is_current_or_behind_or_not_there_is_fine(searched):
    assert found(searched) == set()
    with Writer(searched) as writer:
        writer.put("memories/f/0.md", "version of a new day\n")
        writer.move("memories/f/4.md", "memories/f/9.md")
    assert found(searched) == set()
    (searched / INDEX).unlink()
    assert found(searched) == set()


def rewrite(store, statement):
    database = Database.open(str(store / INDEX), writes=True)
    database.connection.execute(statement)
    database.close()


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (lambda store: (store / INDEX).write_bytes(b"nothing"), "search.unusable"),
        (lambda store: rewrite(store, "UPDATE mark SET chain = 'ff'"), "search.foreign"),
        (lambda store: rewrite(store, "UPDATE mark SET seq = seq + 1"), "search.foreign"),
        (lambda store: rewrite(store, "UPDATE memory SET path = 'memories/other.md' WHERE id = 2"), "search.wrong"),
        (lambda store: rewrite(store, "DELETE FROM memory WHERE id = 2"), "search.unusable"),
        (lambda store: rewrite(store, "INSERT INTO word(rowid, body) VALUES(99, 'secret')"), "search.unusable"),
        (lambda store: rewrite(store, "UPDATE word_data SET block = zeroblob(9) WHERE id > 10"), "search.unusable"),
        (
            lambda store: _native.Writer(store).submit([("delete", "a", 1, None, "memories/f/4.md", "purge", "b")]),
            "search.purged",
        ),
    ],
)
def test_what_is_wrong_is_told_and_mended(searched, harm, expected):
    harm(searched)
    before = (searched / INDEX).read_bytes()
    assert found(searched) == {expected}
    assert (searched / INDEX).read_bytes() == before
    mended = doctor.mend(str(searched), actor="ann")
    assert "removed the search index" in {step.what for step in mended.steps}
    assert mended.healthy
    assert not (searched / INDEX).exists()
    assert search(searched, "newer").hits


def test_other_programs_can_read_the_index(searched):
    with sqlite3.connect(searched / INDEX) as connection:
        (count,) = connection.execute("SELECT count(*) FROM memory").fetchone()
    connection.close()
    assert count == len(_native.Reader(searched).memories_at()[0])
    assert keeping.indexed(searched) == _native.Reader(searched).last_seq()
