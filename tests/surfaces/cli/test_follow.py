"""`cyberos history --follow`: new rows as they are written, until nobody wants them any more."""

import json
import os
import signal
import subprocess
import sys

import pytest

from cyberos.cli.main import BROKEN_PIPE, INTERRUPTED

X = "memories/facts/x.md"
PATIENCE_S = 60


class Following:
    """A running `history --follow`, read line by line."""

    def __init__(self, store, *args):
        command = [sys.executable, "-W", "ignore", "-m", "cyberos", "--store", os.fspath(store), "history", "--follow"]
        self.process = subprocess.Popen([*command, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self):
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def end(self):
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def follow(writer):
    running = []
    # A process that was started with Ctrl-C ignored, as jobs in the background are, passes that on to its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(*args):
        running.append(Following(writer.store_path, *args))
        return running[-1]

    yield start
    for following in running:
        following.process.kill()
        following.process.communicate()


def test_new_rows_are_shown_as_they_come_and_ctrl_c_ends_it(follow, writer):
    writer.put(X, "1\n", meta={})
    writer.put(X, "2\n", meta={})
    following = follow(X)
    assert "[     1]" in following.line()  # oldest first: what comes next is newer
    assert "[     2]" in following.line()
    writer.put("memories/facts/other.md", "1\n", meta={})
    writer.put(X, "3\n", meta={})
    assert "[     4]" in following.line()
    writer.emit_aux("memory.importance_scored", {"path": X})
    assert "[     5]" in following.line()
    following.process.send_signal(signal.SIGINT)
    assert following.end() == INTERRUPTED
    assert following.process.stderr.read() == b""


def test_json_is_one_object_a_line_and_filters_hold(follow, writer):
    following = follow(X, "--json", "--show-body", "--filter=actor=bob")
    for number in range(20):
        writer.put(X, f"{number}\n", meta={}, actor="bob" if number % 2 else "ann")
    seen = [json.loads(following.line()) for _ in range(10)]
    assert [entry["seq"] for entry in seen] == list(range(2, 22, 2))
    assert seen[0]["body_diff"] == {"added": ["1"], "removed": ["0"], "context": []}


def test_no_row_is_lost_or_shown_twice_while_it_starts(follow, writer):
    following = follow(X, "--json", "--limit=all")
    for number in range(150):
        writer.put(X, f"{number}\n", meta={})
    assert [json.loads(following.line())["seq"] for _ in range(150)] == list(range(1, 151))


def test_it_ends_when_nobody_reads_any_more_even_if_nothing_is_written(follow, writer):
    writer.put(X, "1\n", meta={})
    following = follow(X)
    assert following.line()
    following.process.stdout.close()
    assert following.end() in (0, BROKEN_PIPE)
    assert following.process.stderr.read() == b""


def test_a_memory_can_be_followed_before_it_exists(follow, writer):
    following = follow("memories/facts/later.md")
    writer.put("memories/facts/later.md", "1\n", meta={})
    assert "[     1]" in following.line()
