"""What a dream consumer reads: a program that looks back at what was said and written, and proposes what to keep.

    source = Source(".cyberos/memory/store")
    found = source.sessions(cursor)  # since the last time; START for all
    for session in found.sessions:
        for turn in source.turns(session.id).turns: ...
        touched = source.touched(session.id)
    before = source.snapshot(cursor)  # the memories there were then
    cursor = found.cursor  # keep it, as JSON if you like

Nothing is locked and nothing is written. Sessions whose transcripts were erased are told as such. docs/read_sessions.py
is a whole program.
"""

from cyberos.core.dream.snapshots import Snapshot
from cyberos.core.dream.source import Session, Sessions, Source, Touched, Turns
from cyberos.core.following import START, Cursor, Row, Stretch
from cyberos.core.sessions.reading import Turn

__all__ = [
    "START",
    "Cursor",
    "Row",
    "Session",
    "Sessions",
    "Snapshot",
    "Source",
    "Stretch",
    "Touched",
    "Turn",
    "Turns",
]
