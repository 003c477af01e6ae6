"""Every command's help, and the tables that stand in for the commands until one is meant."""

import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from cyberos.cli.lazy import LazyGroup
from cyberos.cli.main import root


def commands():
    """Yields (words, command, the table's line) of all commands, groups first."""

    def below(group, words, ctx):
        for name, entry in group.table.items():
            command = group.get_command(ctx, name)
            yield [*words, name], command, entry.help
            if isinstance(command, LazyGroup):
                yield from below(command, [*words, name], click.Context(command, parent=ctx))

    yield from below(root, [], click.Context(root, info_name="cyberos"))


ALL = list(commands())
IDS = [" ".join(words) for words, _, _ in ALL]


@pytest.mark.parametrize(("words", "command", "line"), ALL, ids=IDS)
def test_the_tables_line_is_what_the_command_says(words, command, line):
    assert command.help, "give the command a docstring"
    assert line == command.help.partition("\n")[0].removesuffix("."), "write the docstring's first line into the table"
    assert command.name == words[-1]


@pytest.mark.parametrize(("words", "command", "line"), ALL, ids=IDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(cli, words, command, line, flag):
    run = cli(*words, flag)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: cyberos {' '.join(words)}")
    assert line in run.out
    assert "Global options:\n  --store DIR" in run.out
    documented = [param for param in command.params if isinstance(param, click.Option)]
    assert all(param.help for param in documented), "give every option a help text"


def test_the_roots_help_lists_all_commands_in_the_tables_order(cli):
    run = cli("--help")
    lines = [line.split()[0] for line in run.out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert lines == list(root.table)


def complete(words, incomplete):
    completer = ShellComplete(root, {}, "cyberos", "_CYBEROS_COMPLETE")
    return {item.value for item in completer.get_completions(words, incomplete)}


def test_completion_knows_commands_options_and_groups():
    assert {"version", "protocol"} <= complete([], "")
    assert complete([], "vers") == {"version"}
    assert {"--store", "--json"} <= complete([], "--")
    assert {"--store", "--json"} <= complete(["protocol", "status"], "--")
    assert complete(["--json", "protocol"], "st") == {"status"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_given_out(shell):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "cyberos"],
        env={"_CYBEROS_COMPLETE": f"{shell}_source", "PATH": "/bin:/usr/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_CYBEROS_COMPLETE" in done.stdout


def test_completion_imports_no_command():
    code = (
        "import sys; from cyberos.cli.main import main\n"
        "try: main([])\n"
        "finally: print([name for name in sys.modules if name.startswith('cyberos.cli.commands.')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={"_CYBEROS_COMPLETE": "zsh_complete", "COMP_WORDS": "cyberos vers", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[:3] == ["plain", "version", "Print the version"]
    assert done.stderr == "[]\n"
