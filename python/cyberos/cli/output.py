"""How results reach people and programs: text or JSON on standard output, errors and progress on standard error."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TextIO

import click

from cyberos.answers import encode_json, to_dict
from cyberos.errors import CyberosError, IoFailure, NotConfirmed

_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "bold": 1, "dim": 2}


def use_color(chosen: bool | None, stream: TextIO) -> bool:  # noqa: FBT001, it is the option's value
    """Whether to colour what goes to `stream`: as the user chose, else only on a terminal and without NO_COLOR."""
    if chosen is not None:
        return chosen
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """Returns `text` in colour; call it only where `use_color` says so."""
    return f"\x1b[{';'.join(str(_COLORS[style]) for style in styles)}m{text}\x1b[0m"


def printable(text: str, keep: str = "") -> str:
    """Returns `text` with what a terminal would obey, or not show, written as escapes; `keep` is left as it is."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number of things in words: `1 row`, `1,000 rows`. The plural has an s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def undelivered(error: OSError) -> OSError | IoFailure:
    """Returns what to raise where standard output takes no more; a reader that has gone is told apart."""
    if isinstance(error, BrokenPipeError):
        return error
    return IoFailure(f"cannot write to standard output: {error.strerror}", file="<stdout>", errno=error.errno)


def write_lines(lines: Iterable[str]) -> None:
    """Writes lines to standard output as they come."""
    for line in lines:
        try:
            sys.stdout.write(line + "\n")
        except OSError as error:
            raise undelivered(error) from error


def flush() -> None:
    """Hands over what was written to standard output so far."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise undelivered(error) from error


def say(text: str) -> None:
    """Writes to standard error. Where that takes nothing there is nobody to tell; the exit code says the rest."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def write_warnings(warnings: Iterable[str]) -> None:
    """Writes warnings to standard error."""
    for warning in warnings:
        say(f"warning: {printable(warning)}\n")


def is_read() -> bool:
    """Hands over what was written to standard output so far; returns whether somebody may still read it."""
    import select

    flush()
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def wait(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


def json_line(value: object) -> str:
    """Returns a result as JSON in one line."""
    return encode_json(value).decode().rstrip("\n")


def write_bytes(data: bytes) -> None:
    """Writes bytes to standard output untouched."""
    flush()
    _write_raw(data)


def _write_raw(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise undelivered(error) from error


def write_json(value: object) -> None:
    """Writes a result to standard output as JSON in UTF-8; bytes are JSON already."""
    write_bytes(value if isinstance(value, bytes) else encode_json(to_dict(value), indent=2))


def write_json_items(items: Iterable[object]) -> int:
    """Writes a list as `write_json` does, item by item as they come; returns how many there were."""
    flush()
    count = 0
    for count, item in enumerate(items, 1):
        text = encode_json(item, indent=2).rstrip(b"\n").replace(b"\n", b"\n  ")
        _write_raw((b"[\n  " if count == 1 else b",\n  ") + text)
    _write_raw(b"\n]\n" if count else b"[]\n")
    return count


def emit(result: Any, human: Callable[[Any], Iterable[str]], *, as_json: bool) -> None:
    """Writes a result, as JSON or as the lines that `human` makes of it."""
    if as_json:
        write_json(result)
    else:
        write_lines(human(result))


def write_error(error: CyberosError, *, as_json: bool, color: bool | None) -> None:
    """Writes an error to standard error: a line and its hints, or a JSON object."""
    if as_json:
        say(encode_json({"error": error.as_dict()}).decode())
        return
    label = f"error[{error.code}]"
    if use_color(color, sys.stderr):
        label = paint(label, "red", "bold")
    hints = "".join(f"hint: {printable(hint)}\n" for hint in error.hints)
    say(f"{label}: {printable(error.message)}\n{hints}")


def confirm(question: str, *, assumed: bool) -> None:
    """Asks whether to go on; raises `NotConfirmed` on a no, and where nobody can be asked. `assumed` is `--yes`."""
    if assumed:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmed("this has to be confirmed, and there is no terminal to ask on", hint="add --yes")
    if not click.confirm(question, err=True):
        raise NotConfirmed


class Progress:
    """A line on standard error about work that takes longer than `delay_s` seconds, where that is a terminal.

    Use it as a context and call it with what is done and, where known, the total.
    """

    INTERVAL_S = 0.1
    WIDTH = 24

    def __init__(
        self, what: str, unit: str = "rows", *, delay_s: float = 1.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self._unit, self._now = what, unit, now
        self._due = now() + delay_s
        self._shown = False
        self._enabled = sys.stderr.isatty()

    def __call__(self, done: int, total: int | None = None) -> None:
        """Says how far the work is."""
        if not self._enabled or self._now() < self._due:
            return
        self._due = self._now() + self.INTERVAL_S
        self._shown = True
        text = f"{self._what}: {done:,} {self._unit}"
        if total:
            bar = "#" * (self.WIDTH * done // total)
            text = f"{self._what} [{bar:-<{self.WIDTH}}] {100 * done // total} % of {total:,} {self._unit}"
        say(f"\r\x1b[K{text}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            say("\r\x1b[K")
