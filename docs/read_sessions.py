"""Prints a day's sessions and the memories that each one touched: python read_sessions.py STORE [YYYY-MM-DD]

This is where a dream begins: a program that looks back at what was said and written. It reads and writes nothing. To go
on from where it stopped, in place of by the day, it would keep `found.cursor` and hand it to `sessions` the next time.
"""

import signal
import sys
from datetime import datetime, timedelta, timezone

from cyberos.core.dream import Source
from cyberos.errors import CyberosError


def shown(text: str) -> str:
    """Returns a text without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def tell(store: str, begin: datetime) -> None:
    source = Source(store)
    found = source.sessions(source.at(begin - timedelta(microseconds=1)))
    for session in found.sessions:
        if not begin <= session.started_at < begin + timedelta(days=1):
            continue
        print(f"{session.started_at:%H:%M} {shown(session.id)}: {session.classification}, {session.state}", end="")
        print(f", turns: {session.turns_count}")
        asked = next((turn.content for turn in source.turns(session.id).turns if turn.role == "user"), None)
        if asked:
            print(f"    asked    {shown(asked.splitlines()[0]):.70}")
        touched = source.touched(session.id)
        for path in touched.written:
            print(f"    wrote    {shown(path)}")
        for path in touched.used:
            print(f"    used     {shown(path)}")
    for damage in found.damages:
        print(f"rows may be missing: {damage.file} is damaged at byte {damage.offset}", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads what is printed may stop before the end
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        day = datetime.fromisoformat(sys.argv[2]) if len(sys.argv) == 3 else datetime.now(timezone.utc)
        tell(sys.argv[1], day.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=timezone.utc))
    except (CyberosError, ValueError) as error:
        sys.exit(f"error: {error}")
