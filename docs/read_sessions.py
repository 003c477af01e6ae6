"""Prints a day's sessions and the memories that each one touched: python read_sessions.py STORE [YYYY-MM-DD]

This is where a dream begins: a program that looks back at what was said and written. It reads and writes nothing. To go
on from where it stopped, in place of by the day, it would keep `found.cursor` and hand it to `sessions` the next time.
"""

import sys
from datetime import datetime, timedelta, timezone

from cyberos.core.dream import Source

today = datetime.now(timezone.utc).date().isoformat()
store, day = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else today
begin = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)

source = Source(store)
found = source.sessions(source.at(begin - timedelta(microseconds=1)))
for session in found.sessions:
    if not begin <= session.started_at < begin + timedelta(days=1):
        continue
    print(f"{session.started_at:%H:%M} {session.id}: {session.classification}, {session.state}", end="")
    print(f", {session.turns_count} turns")
    asked = next((turn.content for turn in source.turns(session.id).turns if turn.role == "user"), None)
    if asked:
        print(f"    asked    {asked.splitlines()[0]:.70}")
    touched = source.touched(session.id)
    for path in touched.written:
        print(f"    wrote    {path}")
    for path in touched.used:
        print(f"    used     {path}")
for damage in found.damages:
    print(f"rows may be missing: {damage.file} is damaged at byte {damage.offset}", file=sys.stderr)
