import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.answers import encode_json, to_dict
from cyberos.cli import output
from cyberos.core.acl import Decision
from cyberos.errors import Kind, NotConfirmed


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("chosen", "stream", "env", "expected"),
    [
        (None, Terminal(), {}, True),
        (None, io.StringIO(), {}, False),
        (None, Terminal(), {"NO_COLOR": "1"}, False),
        (None, Terminal(), {"NO_COLOR": ""}, True),
        (None, Terminal(), {"TERM": "dumb"}, False),
        (True, io.StringIO(), {"NO_COLOR": "1"}, True),
        (False, Terminal(), {}, False),
    ],
)
def test_colour_is_for_terminals_unless_someone_chose(monkeypatch, chosen, stream, env, expected):
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert output.use_color(chosen, stream) is expected


@given(st.text())
def test_printable_text_is_printable_and_the_rest_is_unchanged(text):
    shown = output.printable(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text
    assert output.printable(text, keep=text) == text


def test_what_a_terminal_would_obey_is_escaped():
    assert output.printable("a\x1b[31m\tb\u202e\n\x9b", keep="\t") == "a\\x1b[31m\tb\\u202e\\n\\x9b"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_reads_back(value):
    assert json.loads(encode_json(value)) == value


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1_000, "1,000 rows")])
def test_things_are_counted_in_words(number, text):
    assert output.counted(number, "row") == text


def test_json_of_results():
    result = to_dict({"decisions": (Decision("memories/ä.md", "a"),)})
    assert result["decisions"][0]["target_path"] == "memories/ä.md"
    assert "ä".encode() in encode_json(result)
    assert json.loads(encode_json("\udcff")) == "\udcff"
    assert encode_json(Kind.BUSY) == b'"busy"\n'
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode_json(object())


def test_bytes_are_json_already(capfd):
    output.write_json(b'{"raw": 1}\n')
    output.write_lines(["then"])
    assert capfd.readouterr().out == '{"raw": 1}\nthen\n'


class Clock:
    def __init__(self):
        self.s = 0.0

    def __call__(self):
        return self.s


def test_progress_shows_after_a_second_ten_times_a_second_and_clears_itself(monkeypatch):
    screen, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", screen)
    with output.Progress("verifying", now=clock) as progress:
        for tenth in range(25):
            clock.s = tenth / 10 + 0.01
            progress(tenth * 1_000, 24_000)
            progress(tenth * 1_000, 24_000)
    frames = screen.getvalue().split("\r\x1b[K")
    assert frames[0] == frames[-1] == ""
    assert len(frames[1:-1]) <= 15
    assert frames[1] == "verifying [##########--------------] 41 % of 24,000 rows"


def test_quick_work_and_pipes_show_no_progress(monkeypatch):
    for screen, later in ((Terminal(), 0.9), (io.StringIO(), 9.0)):
        clock = Clock()
        monkeypatch.setattr(sys, "stderr", screen)
        with output.Progress("verifying", now=clock) as progress:
            clock.s = later
            progress(1)
        assert screen.getvalue() == ""


def test_yes_asks_nothing_and_without_a_terminal_nothing_is_done(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    output.confirm("Really?", assumed=True)
    with pytest.raises(NotConfirmed, match="no terminal") as caught:
        output.confirm("Really?", assumed=False)
    assert caught.value.hints == ("add --yes",)


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_terminal_is_asked(monkeypatch, capfd, answer, goes_on):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    if goes_on:
        output.confirm("Really?", assumed=False)
    else:
        with pytest.raises(NotConfirmed):
            output.confirm("Really?", assumed=False)
    assert "Really?" in "".join(capfd.readouterr())
