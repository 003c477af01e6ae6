"""What holds for every command: global options, errors, exit codes, signals, pipes."""

import json
import os
import pwd
import re
import shlex
import subprocess
import sys

import click
import pytest

from cyberos import __version__, errors
from cyberos.cli import main as main_module
from cyberos.cli.lazy import Entry
from cyberos.cli.main import EXIT_CODES
from cyberos.cli.options import Command
from cyberos.cli.settings import current
from cyberos.errors import CyberosError, Kind


class Probe:
    """A command for tests: it does what it is told to, and remembers what it got."""

    def __init__(self):
        self.does = lambda _settings: None
        self.seen = []

    def run(self, words):
        self.seen.append((current(), words))
        return self.does(current())


@pytest.fixture
def probe(monkeypatch):
    probe = Probe()
    command = Command("probe", callback=probe.run, params=[click.Argument(["words"], nargs=-1)])
    monkeypatch.setattr(sys.modules[__name__], "probe_command", command, raising=False)
    monkeypatch.setitem(main_module.COMMANDS, "probe", Entry(__name__, "probe_command", "Probe"))
    return probe


def settings_of(cli, probe, *args):
    run = cli(*args)
    assert run == (0, "", "")
    return probe.seen[-1][0]


def test_global_options_go_before_and_after_the_command(cli, probe):
    before = settings_of(cli, probe, "--store", "s", "--actor", "a", "--json", "--color", "probe", "word")
    after = settings_of(cli, probe, "probe", "word", "--store", "s", "--actor", "a", "--json", "--color")
    assert before == after == ("s", "a", True, True)


def test_the_option_nearer_to_the_end_wins(cli, probe):
    assert settings_of(cli, probe, "--store", "a", "--color", "probe", "--store", "b", "--no-color")[::3] == (
        "b",
        False,
    )


def test_an_option_wins_over_the_environment(cli, probe, monkeypatch):
    monkeypatch.setenv("CYBEROS_STORE", "env-store")
    monkeypatch.setenv("CYBEROS_ACTOR", "env-actor")
    assert settings_of(cli, probe, "probe")[:2] == ("env-store", "env-actor")
    assert settings_of(cli, probe, "--store", "s", "probe", "--actor", "a")[:2] == ("s", "a")
    monkeypatch.setenv("CYBEROS_STORE", "")
    assert settings_of(cli, probe, "probe").named_store is None


def test_without_a_name_the_systems_user_acts(cli, probe):
    assert settings_of(cli, probe, "probe").actor() == pwd.getpwuid(os.getuid()).pw_name
    assert settings_of(cli, probe, "probe", "--actor", "a").actor() == "a"


def test_settings_are_frozen(cli, probe):
    with pytest.raises(AttributeError):
        settings_of(cli, probe, "probe").json = True


def test_words_after_two_dashes_are_not_options(cli, probe):
    assert cli("probe", "--", "--json").code == 0
    settings, words = probe.seen[-1]
    assert (settings.json, words) == (False, ("--json",))


@pytest.mark.parametrize("option", ["--store", "--actor"])
def test_an_empty_option_is_a_mistake(cli, probe, option):
    run = cli("probe", option, "")
    assert (run.code, run.out) == (2, "")
    assert "must not be empty" in run.err


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_ends_with_its_own_code(cli, probe, kind):
    error = type("Sample", (CyberosError,), {"kind": kind, "code": "sample"})

    def fail(_settings):
        raise error("it went wrong", hint=("do this", "or that"))

    probe.does = fail
    assert cli("probe") == (EXIT_CODES[kind], "", "error[sample]: it went wrong\nhint: do this\nhint: or that\n")
    probe.does = lambda _settings: kind
    assert cli("probe") == (EXIT_CODES[kind], "", "")


@pytest.mark.parametrize("args", [("--json", "probe"), ("probe", "--json")])
def test_with_json_an_error_is_one_object(cli, probe, args):
    def fail(_settings):
        raise errors.CorruptLog("bad frame", file="audit/current.binlog", offset=7)

    probe.does = fail
    run = cli(*args)
    assert (run.code, run.out) == (7, "")
    assert json.loads(run.err) == {
        "error": {
            "code": "corrupt_log",
            "kind": "corrupt",
            "message": "bad frame",
            "hints": [],
            "file": "audit/current.binlog",
            "offset": 7,
        }
    }


def test_an_error_cannot_steer_the_terminal(cli, probe):
    def fail(_settings):
        raise errors.MemoryNotFound("no memory \x1b[2J\n\udcff here")

    probe.does = fail
    assert cli("probe").err == "error[memory_not_found]: no memory \\x1b[2J\\n\\udcff here\n"
    message = json.loads(cli("probe", "--json").err)["error"]["message"]
    assert message == "no memory \x1b[2J\n\udcff here"


def test_errors_are_coloured_only_when_asked_here(cli, probe):
    def fail(_settings):
        raise CyberosError("x")

    probe.does = fail
    assert cli("probe", "--color").err == "\x1b[31;1merror[error]\x1b[0m: x\n"
    assert "\x1b" not in cli("probe", "--no-color").err


def test_the_unforeseen_shows_a_traceback_and_ends_with_its_own_code(cli, probe):
    probe.does = lambda _settings: 1 / 0
    run = cli("probe")
    assert run.code == 70
    assert run.err.startswith("Traceback")
    assert run.err.endswith("error[error]: ZeroDivisionError: division by zero\n")


def test_ctrl_c_ends_quietly(cli, probe):
    def interrupt(_settings):
        raise KeyboardInterrupt

    probe.does = interrupt
    run = cli("probe")
    assert (run.code, run.out, run.err.strip()) == (130, "", "")


NASTY = "a b'c$(touch pwned);`touch pwned`"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["revert", "--session", NASTY], f"session_id={NASTY}"),
        (["get", f"memories/{NASTY}.md"], f"memories/{NASTY}.md"),
        (["show", f"memories/{NASTY}.md"], f"memories/{NASTY}.md"),
        (["blocks", "end", f"x:{NASTY}"], f"x:{NASTY}"),
    ],
)
def test_a_command_in_a_hint_has_the_names_as_a_shell_takes_them(program, args, word):
    """So that pasting one runs that command and nothing that a name says."""
    program("init")
    program("put", f"memories/{NASTY}.md", stdin=b"x\n")
    program("delete", f"memories/{NASTY}.md")
    program("blocks", "enrol")
    program("blocks", "start", f"x:{NASTY}")
    program("blocks", "end", f"x:{NASTY}")
    run = program(*args)
    assert shlex.quote(word) in run.err


@pytest.mark.parametrize("module", ["click", "cyberos.cli.main", "cyberos.cli.commands.version"])
def test_ctrl_c_while_modules_are_loaded_ends_quietly(module):
    script = f"""
import sys
from cyberos.cli.entry import run
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["cyberos", "version"]
run()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["nonsense"], "No such command 'nonsense'.", "cyberos --help"),
        (["--nonsense"], "No such option", "cyberos --help"),
        (["version", "--nonsense"], "No such option", "cyberos version --help"),
        (["version", "word"], "Got unexpected extra argument", "cyberos version --help"),
        (["protocol", "nonsense"], "No such command 'nonsense'.", "cyberos protocol --help"),
        (["--store"], "Option '--store' requires an argument.", "cyberos --help"),
    ],
)
def test_usage_errors_are_errors_of_the_family(cli, args, message, hint):
    run = cli(*args)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error[bad_argument]: {message}")
    assert run.err.endswith(f"hint: {hint}\n")
    assert json.loads(cli("--json", *args).err)["error"]["code"] == "bad_argument"


@pytest.mark.parametrize("args", [[], ["protocol"]])
def test_a_group_alone_shows_its_help_as_an_error(cli, args):
    run = cli(*args)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Usage: cyberos")


def test_the_program_is_the_same_both_ways(program):
    run = program("version")
    assert run == (0, f"cyberos {__version__}\n", "")
    assert program("--version") == run
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", __version__)
    assert program("version", "--json").out == f'{{\n  "version": "{__version__}"\n}}\n'


SCRIPT = os.path.join(os.path.dirname(sys.executable), "cyberos")


def test_the_script_is_installed():
    done = subprocess.run([SCRIPT, "version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"cyberos {__version__}\n"


def test_what_was_printed_is_not_lost_at_the_end():
    code = "from cyberos.cli import entry, main; main.main = lambda: print('printed') or 3; entry.run()"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "printed\n", "")


@pytest.mark.parametrize("arg", ["--help", "version"])
def test_a_reader_that_goes_away_is_no_error(tmp_path, arg):
    read, write = os.pipe()
    os.close(read)
    with open(tmp_path / "err", "wb") as err:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "cyberos", arg], stdout=write, stderr=err, check=False
        )
    os.close(write)
    assert done.returncode == 141
    assert (tmp_path / "err").read_bytes() == b""


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_text_that_the_terminal_cannot_show_is_no_crash(program, bare_store, encoding):
    run = program("--store", bare_store, "protocol", "status", PYTHONIOENCODING=encoding)
    assert run.code == 0
    assert ("§18" if encoding == "utf-8" else "\\xa718") in run.out
    run = program("--store", bare_store, "protocol", "status", "--json", PYTHONIOENCODING=encoding)
    assert json.loads(run.out)["amendments"][0]["section"] == "§18"


def test_a_current_folder_that_is_gone_is_an_error_of_ours(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'rmdir "$1" && exec "$2" protocol status'
    done = subprocess.run(["sh", "-c", line, "sh", gone, SCRIPT], cwd=gone, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "error[store_not_found]: the current folder is gone" in done.stderr
