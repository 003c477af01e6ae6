"""The protocol text of a store, AGENTS.md: what its owner has approved.

A section is in force when its heading, `## §14.4 …`, stands in the text; nothing else counts.
"""

import os
import re
from typing import Final, NamedTuple

from cyberos import durable, layout
from cyberos.errors import BadArgument, IoFailure, ProtocolNotApproved

ACL: Final = "§14.4"
SESSIONS: Final = "§18"

_HEADING: Final = re.compile(r"## +(§[0-9]+(?:\.[0-9]+)*)(?!\w)")

BASE_TEXT: Final = """\
# The protocol of this memory

This folder is a cyberos store. Its Markdown files are memories, and every change to one is a row in a hash-chained
log under `audit/`, so that it can be said later who changed what, when and why. This text binds every agent and person
who works here. Only the store's owner may change it.

## §1 Reading

Read any memory as you like: `cyberos get`, `cyberos list`, or the files themselves. `cyberos history PATH` shows how a
memory came to be what it is.

## §2 Writing

Write with `cyberos put`, `cyberos move` and `cyberos delete`, under your own name (`--actor` or `CYBEROS_ACTOR`). A
file edited by hand is recorded as its own change before the next write to it. Never edit anything under `audit/`.

## §3.1 Conditional writes

When you write what you have read before, say which version you read, so that another's change in between is not lost. A
write meant for another version is refused and recorded.

## §3.6 Deleting

A tombstone hides a memory and keeps its history. A purge also destroys the content of every version; it needs a reason,
and the fact that it happened stays in the log.

## §14.4 Access lists

A `STORE.yaml` governs its folder and everything below. Its first entry that matches your name decides; `read` and
`deny` both mean that you may not write. A refused attempt is recorded.
"""

_SESSIONS_TEXT: Final = """\
## §18 Session transcripts

Approved by the owner with: APPROVE protocol change P22 §18

§18.1 A conversation is recorded only when someone asks for it: `cyberos session start`.

§18.2 Transcripts lie under `sessions/<yyyy-mm-dd>/`, apart from the log of memories, and are chained like it.

§18.3 A transcript is `confidential`, or `restricted`: then what was said is encrypted, and who spoke when is not.

§18.4 The log of memories gets a row when a session starts, when it ends, and when its transcript is erased.

§18.5 A transcript is kept for as many days as `sessions.retention_days` in `manifest.json` says, then erased. That it
existed, and what its hash was, stays in the log.

§18.6 A change to a memory made during a session carries the session's id. One session is active at a time.
"""


class Amendment(NamedTuple):
    """A section that an owner can add by saying its phrase."""

    section: str
    phrase: str
    text: str


AMENDMENTS: Final = (Amendment(SESSIONS, "APPROVE protocol change P22 §18", _SESSIONS_TEXT),)


def load(store: str | os.PathLike[str]) -> str:
    """Returns the protocol text of a store; empty where it has none. `encode` gives back the file's bytes, whatever
    they are.
    """
    file = os.path.join(store, layout.PROTOCOL)
    try:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as handle:
            return handle.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise IoFailure(f"cannot read {file}: {error.strerror}", file=file, errno=error.errno) from error


def save(store: str | os.PathLike[str], text: str) -> None:
    """Replaces the protocol text of a store, durably."""
    durable.replace(os.path.join(store, layout.PROTOCOL), encode(text))


def encode(text: str) -> bytes:
    """Returns a protocol text as its file has it."""
    return text.encode("utf-8", "surrogateescape")


def sections(text: str) -> tuple[str, ...]:
    """Returns the sections that are in force (`§14.4`, …) in the order of the text; quoted blocks do not count."""
    found, quoted = [], False
    for line in text.splitlines():
        if line.startswith(("```", "~~~")):
            quoted = not quoted
        elif not quoted and (match := _HEADING.match(line)):
            found.append(match[1])
    return tuple(dict.fromkeys(found))


def require(text: str, section: str) -> None:
    """Raises `ProtocolNotApproved`, naming the phrase that approves it, unless the section is in force."""
    if section not in sections(text):
        phrase = next((amendment.phrase for amendment in AMENDMENTS if amendment.section == section), None)
        raise ProtocolNotApproved(
            f"AGENTS.md of this store has no {section}" + (f"; its owner can add it with: {phrase}" if phrase else ""),
            section=section,
            hint=f'cyberos protocol approve "{phrase}"' if phrase else (),
        )


def amendment_for(phrase: str) -> Amendment:
    """Returns the amendment that a phrase approves; only white space may differ."""
    words = phrase.split()
    for amendment in AMENDMENTS:
        if words == amendment.phrase.split():
            return amendment
    known = tuple(f'cyberos protocol approve "{amendment.phrase}"' for amendment in AMENDMENTS)
    raise BadArgument(f"this approves nothing: {phrase!r}", argument="phrase", hint=known)


def amended(text: str, amendment: Amendment) -> str:
    """Returns the protocol text with the amendment in force; unchanged where it is already."""
    if amendment.section in sections(text):
        return text
    if not text.strip():
        return amendment.text
    joined = f"{text.rstrip()}\n\n{amendment.text}"
    if amendment.section in sections(joined):
        return joined
    return f"{text.rstrip()}\n```\n\n{amendment.text}"  # the text ended in a quotation that was never closed
