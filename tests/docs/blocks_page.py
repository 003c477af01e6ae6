"""Writes docs/blocks.md from the tables of states: `python tests/docs/blocks_page.py`."""

from collections.abc import Iterable
from pathlib import Path

from cyberos.blocks import states
from cyberos.blocks.engine import DAY_NS, Rules
from cyberos.blocks.states import Transition

PAGE = Path(__file__).parents[2] / "docs" / "blocks.md"

HEAD = f"""\
# Block memory: states

A session is one branch of immutable blocks. A project has one canonical head, and epochs count how often it moved. What
is canonical is what the head descends from: a session's branch is from the epoch on in which the session ended, and
never if it was abandoned. Whether an open session is *dormant* is worked out when somebody looks, by its last activity
(`blocks.dormant_after_hours` in manifest.json, {Rules().dormant_after_ns // DAY_NS * 24}); it is as open as any other.

Two sessions that end one after the other are both in the history: the second one's last block has two parents, its own
branch and the head it found. Where it had that head already, it has one. Ending never fails on what a branch says:
facts are compared by topic with what ended since the session began, and what differs is recorded as a conflict.

A request with a key is carried out once, and answered again for {Rules().keys_kept_ns // DAY_NS} days
(`blocks.keys_kept_hours`), also when its session is over by then; after that no promise is made for it, except that a
session ends once and that a fact with a key of its own is added once.
"""


def diagram(transitions: Iterable[Transition]) -> str:
    """Returns a drawing, as Mermaid has it."""
    names = {"none": "[*]"}
    lines = dict.fromkeys(
        f"    {names.get(each.before, each.before)} --> {each.after}: {each.command}" for each in transitions
    )
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def table(transitions: Iterable[Transition]) -> str:
    """Returns the transitions in words."""
    rows = [f"| {each.before} | {each.command} | {each.after} | {each.what} |" for each in transitions]
    return "\n".join(["| from | command | to | what happens |", "| --- | --- | --- | --- |", *rows])


def render() -> str:
    """Returns the page."""
    refused = "\n".join(
        f"| {status} | {', '.join(commands)} | `{states.TERMINAL[status].code}` |"
        for status, commands in (
            (status, [name for name in ("append", "resume", "end", "abandon") if states.after(status, name) is None])
            for status in states.TERMINAL
        )
    )
    return (
        f"{HEAD}\n## Sessions\n\n{diagram(states.SESSION)}\n\n{table(states.SESSION)}\n\n"
        "What is refused, and the code of the error that its owner gets (others get `absent`):\n\n"
        f"| state | commands | code |\n| --- | --- | --- |\n{refused}\n\n"
        f"## Projects\n\n{diagram(states.PROJECT)}\n\n{table(states.PROJECT)}\n"
    )


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
