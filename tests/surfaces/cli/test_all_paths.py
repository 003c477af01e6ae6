"""`cyberos history --all-paths`: all of it, without holding all of it."""

import json

import pytest

from cyberos.core import history as core
from cyberos.errors import BadArgument
from cyberos.operations import history as operations

PATHS = [f"memories/facts/{name}.md" for name in "abc"]


@pytest.fixture
def filled(writer, monkeypatch):
    """Sixty rows, looked at seven at a time."""
    monkeypatch.setattr(core, "_WINDOW", 7)
    for number in range(20):
        for path in PATHS:
            writer.put(path, f"---\nn: {number}\n---\n{number}\n", actor="bob" if number % 10 == 3 else "ann")
    return writer


@pytest.fixture
def history(cli, filled):
    return lambda *args: cli("--store", filled.store_path, "history", "--all-paths", *args)


@pytest.mark.parametrize("chronological", [False, True])
@pytest.mark.parametrize("limit", [1, 6, 7, 8, 60, 100, None])
def test_the_parts_make_the_whole(history, chronological, limit):
    expected = list(range(60, 0, -1))[:limit]
    if chronological:
        expected.reverse()
    order = ["--chronological"] if chronological else []
    out = history("--limit", str(limit or "all"), *order).out
    assert [int(line[1:7]) for line in out.splitlines() if line.startswith("[")] == expected
    out = history("--limit", str(limit or "all"), *order, "--json").out
    assert [entry["seq"] for entry in json.loads(out)] == expected


def test_json_in_parts_is_written_as_json_at_once(history):
    out = history("--limit", "all", "--json", "--show-body").out
    assert out == json.dumps(json.loads(out), indent=2, ensure_ascii=False) + "\n"
    assert history("--filter", "actor=nobody", "--json").out == "[]\n"


def test_filters_and_limits_count_over_all_parts(history):
    out = history("--filter", "actor=bob", "--limit", "4", "--json").out
    assert [entry["seq"] for entry in json.loads(out)] == [42, 41, 40, 12]


def test_entries_come_before_all_rows_are_read(filled):
    class Counting:
        calls = 0

        def __getattr__(self, name):
            return getattr(native, name)

        def history(self, *args, **options):
            self.calls += 1
            return native.history(*args, **options)

    reader = filled.reader()
    native, counting = reader.native, Counting()
    object.__setattr__(reader, "native", counting)
    entries = core.every(reader, 60, [])
    assert [next(entries).seq, counting.calls] == [60, 1]
    assert len(list(entries)) == 59
    assert counting.calls == 9


def test_damage_is_told_once(history, filled):
    filled.close()
    log = filled.store_path / "audit/current.binlog"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    for args in ([], ["--chronological"]):
        done = history("--limit", "all", "--json", *args)
        seqs = [entry["seq"] for entry in json.loads(done.out)]
        assert (done.code, len(seqs), done.err.count("is damaged at byte")) == (0, 59, 1)
        assert sorted(seqs, reverse=not args) == seqs


def test_nothing_found_says_what_kept_it_away(history, cli, store, filled):
    assert history("--filter", "actor=nobody").out == "No history that meets --filter.\n"
    assert (
        history("--since", "2200-01-01", "--filter", "actor=a").out == "No history that meets --since and --filter.\n"
    )
    one = cli("--store", store, "history", PATHS[0], "--filter", "actor=nobody").out
    assert one == f"No history for {PATHS[0]!r} that meets --filter.\n"


def test_rows_written_meanwhile_are_left_to_follow(filled):
    found = operations.history(str(filled.store_path), None, limit=None)
    filled.put(PATHS[0], "meanwhile\n")
    assert (found.last_seq, next(found.entries).seq) == (60, 60)
    behind = operations.follow(str(filled.store_path), None, found.last_seq, wait=[None])
    assert [entry.seq for entry in behind] == [61]


def test_a_limit_lets_something_through(store):
    with pytest.raises(BadArgument, match="1 or more"):
        operations.history(str(store), None, limit=0)
