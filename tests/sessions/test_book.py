"""What rows say of sessions, put together: the same as a plain reading of the rows, whoever wrote them."""

from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cyberos import clock
from cyberos.core import store as stores
from cyberos.core.changes import Record
from cyberos.core.sessions.book import END, PURGED, START, Book, Ended, Known, Purged
from cyberos.core.writer import Writer

_NAMES = count()
_TEXT = st.text(max_size=6) | st.sampled_from(['a\n"b\\', "é", "confidential"])
_ANYTHING = _TEXT | st.none() | st.booleans() | st.integers(-3, 40) | st.floats(0, 1) | st.just([1])
_IDS = st.sampled_from(["a", "b", 'c"\n'])
_FIELDS = (
    "actor", "started_at", "ended_at", "purged_at", "classification", "retention_days", "correlates_with", "recorded",
    "encrypted", "ended_reason", "reason", "turns_count", "binlog_hash", "chain_tip", "unknown",
)  # fmt: skip
_ROWS = st.lists(
    st.tuples(
        st.sampled_from([START, START, END, PURGED, "session.other"]),
        st.sampled_from(["", "sessions/2026-05-19/x.binlog", "meta/sessions/x.md", "sessionsx/y"]),
        st.dictionaries(st.sampled_from(_FIELDS), _ANYTHING, max_size=8),
        _IDS | st.sampled_from(["", None, 7]),
    ),
    max_size=12,
)


@given(_ROWS)
def test_sessions_are_what_a_plain_reading_of_the_rows_says(tmp_path_factory, rows):
    store = stores.init(tmp_path_factory.getbasetemp() / f"book-{next(_NAMES)}")
    with Writer(store, actor="ann") as writer:
        records = [
            Record(kind, extra if session_id is None else {**extra, "session_id": session_id}, path=path)
            for kind, path, extra, session_id in rows
        ]
        receipts = writer.apply(records, times=[1_700_000_000_000_000_001 + place for place in range(len(rows))])
        book = Book(writer.reader())
        read = [writer.read_audit_row(receipt.seq) for receipt in receipts if receipt.seq]
        expected = list(_sessions(read))
        assert book.all() == expected
        for session_id in ("a", "b", 'c"\n'):
            assert book.find(session_id) == next((each for each in expected if each.id == session_id), None)


def _sessions(rows: list[Any]) -> Any:
    ends: dict[str, tuple[Ended, str]] = {}
    purges: dict[str, Purged] = {}
    for row in reversed(rows):
        extra, path = dict(row["extra"]), row["path"]
        session_id = extra.get("session_id")
        if not isinstance(session_id, str) or not session_id or (path and not path.startswith("sessions/")):
            continue
        text = {field: value for field, value in extra.items() if isinstance(value, str)}
        number = {field: value for field, value in extra.items() if type(value) is int and value >= 0}
        if row["kind"] == PURGED:
            purges[session_id] = Purged(
                row["seq"], text.get("purged_at", ""), text.get("reason", ""), number.get("turns_count")
            )
        elif row["kind"] == END:
            found = Ended(
                row["seq"], text.get("ended_at", ""), text.get("ended_reason", ""), number.get("turns_count", 0),
                text.get("binlog_hash", ""), text.get("chain_tip"),
            )  # fmt: skip
            ends[session_id] = found, path
        elif row["kind"] == START:
            ended, sealed = ends.pop(session_id, (None, ""))
            yield Known(
                session_id, row["seq"], text.get("started_at", clock.iso_exact(row["ts_ns"])), row["ts_ns"],
                text.get("classification", ""), number.get("retention_days") or 30, text.get("actor", row["actor"]),
                sealed or path, text.get("correlates_with"), extra.get("recorded") is True,
                extra.get("encrypted") is True, ended, purges.pop(session_id, None),
            )  # fmt: skip
