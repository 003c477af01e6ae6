"""What `blocks check` and the doctor notice: a database that was put back or rewritten, and whatever else is broken."""

import threading
from pathlib import Path

import pytest

from cyberos.blocks import access, anchor, check, invariants
from cyberos.blocks.facts import Fact
from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import IntegrationStateInvalid
from cyberos.operations import doctor
from cyberos.operations.blocks import checking, sessions
from cyberos.operations.blocks.place import Place
from tests.blocks.racing import Act


@pytest.fixture
def anchored(broken, memory, tmp_path):
    """A project with a store that is told of it."""
    home = broken
    home.store = str(stores.init(memory / f"{tmp_path.name}-store"))
    grow(home, "first")
    return home


def grow(home, name, *, tell=True):
    home.append(f"x:{name}", Fact(name, "t"))
    home.append(f"y:{name}", Fact(f"not {name}", "t"))
    home.end(f"x:{name}")
    home.end(f"y:{name}")
    home.abandon(home.append(f"z:{name}", "gone"))
    return tell and anchor.catch_up(home.engine, home.caller, home.store, home.project_id)


def ids(home):
    reader = AuditChainReader(home.store)
    return sorted({problem.id for problem in check.examine(home.owner, home.project_id, home.principal, reader)})


def keep(home):
    """Returns what puts the file back to how it is now."""
    home.database.close()
    home.owner.close()
    kept = {name: Path(name).read_bytes() for name in (home.url, f"{home.url}-wal")}

    def put_back():
        home.database.close()
        home.owner.close()
        for name, content in kept.items():
            Path(name).write_bytes(content)
        Path(f"{home.url}-shm").unlink(missing_ok=True)

    return put_back


def test_a_chain_is_told_of_everything_once(anchored):
    home = anchored
    events = home.all("SELECT max(event_seq) FROM project_event WHERE project_id=?", home.project_id)[0][0]
    assert AuditChainReader(home.store).last_seq() == events
    for _ in range(3):
        assert anchor.catch_up(home.engine, home.caller, home.store, home.project_id) == (0, events)
    assert ids(home) == []


def test_what_a_crash_kept_from_being_told_is_told_by_the_next(anchored, monkeypatch):
    home = anchored
    grow(home, "second", tell=False)
    assert ids(home) == ["not_anchored"]
    monkeypatch.setattr(anchor, "_MOST", 3)
    told: list[object] = []

    def dies(*args):
        if len(told) == 1:
            raise RuntimeError("crash")
        told.append(args)
        return real(*args)

    real = anchor._tell
    monkeypatch.setattr(anchor, "_tell", dies)
    with pytest.raises(RuntimeError):
        anchor.catch_up(home.engine, home.caller, home.store, home.project_id)
    monkeypatch.setattr(anchor, "_tell", real)
    assert anchor.catch_up(home.engine, home.caller, home.store, home.project_id).rows > 0
    rows = [row["payload"]["event"] for row in AuditChainReader(home.store).iter_rows()]
    assert rows == list(range(1, len(rows) + 1))
    assert ids(home) == []


def test_many_that_catch_up_at_once_tell_everything_once(anchored):
    """Each change tells the chain what it finds untold; whoever comes second finds it told."""
    home = anchored
    before = AuditChainReader(home.store).last_seq()
    grow(home, "second", tell=False)
    ready = threading.Barrier(4)

    def catch_up():
        ready.wait(20)
        return anchor.catch_up(home.engine, home.caller, home.store, home.project_id)

    found = [act.result for act in [Act(catch_up) for _ in range(4)]]
    (events,) = {each.event for each in found}
    told = [row["payload"]["event"] for row in AuditChainReader(home.store).iter_rows()]
    assert told == list(range(1, events + 1))
    assert sum(each.rows for each in found) == events - before
    assert ids(home) == []


def test_other_stores_may_anchor_too(anchored, memory, tmp_path):
    home = anchored
    other = str(stores.init(memory / f"{tmp_path.name}-other"))
    anchor.catch_up(home.engine, home.caller, other, home.project_id)
    assert AuditChainReader(other).last_seq() == AuditChainReader(home.store).last_seq()


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_database_that_was_put_back_is_noticed(anchored):
    home = anchored
    put_back = keep(home)
    grow(home, "second")
    put_back()
    assert ids(home) == ["put_back"]
    home.append("x:more", "unseen")
    with pytest.raises(IntegrationStateInvalid, match="put back") as caught:
        anchor.catch_up(home.engine, home.caller, home.store, home.project_id)
    assert caught.value.reason == "contradicts_chain"


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_database_that_went_another_way_is_noticed(anchored):
    home = anchored
    put_back = keep(home)
    grow(home, "second")
    put_back()
    grow(home, "another", tell=False)  # as many events, all of them sound
    assert home.problems() == []
    assert "rewritten" in ids(home)
    with pytest.raises(IntegrationStateInvalid, match="rewritten"):
        anchor.catch_up(home.engine, home.caller, home.store, home.project_id)


def unguarded(home, *statements):
    """Carries statements out where nothing refuses them."""
    connection = home.raw()
    kept, names = [], []
    if home.kind == "sqlite":
        connection.execute("PRAGMA foreign_keys=OFF")
        kept = connection.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger'").fetchall()
        for name, _ in kept:
            connection.execute(f"DROP TRIGGER {name}")
    else:
        connection.execute("SET session_replication_role=replica")
        tables = [
            row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname='cyberos_blocks'")
        ]
        names = connection.execute(
            "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled='A'"
        ).fetchall()
        for table in tables:
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    for statement in statements:
        connection.execute(statement)
    for _, sql in kept:
        connection.execute(sql)
    for table, name in names:
        connection.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
    connection.close()


LAST = "(SELECT max(epoch) FROM integration_log)"
BREAKS = {
    "session_tip": "UPDATE session SET tip_seq=tip_seq+1 WHERE native_ref='x:first'",
    "branch_linear": "UPDATE block_parent SET role='integration' WHERE ordinal=0 AND child_seq=2",
    "parent_count": "DELETE FROM block_parent WHERE ordinal=1",
    "terminal": "UPDATE session SET status='abandoned', integrated_epoch=NULL WHERE native_ref='x:first'",
    "integrated": "UPDATE session SET integrated_epoch=0 WHERE native_ref='x:first'",
    "log_session": "UPDATE session SET integrated_epoch=0 WHERE native_ref='y:first'",
    "descends": "UPDATE block_parent SET role='branch' WHERE ordinal=1",
    "invented_parent": "UPDATE block SET parent_count=2 WHERE project_seq=(SELECT min(project_seq) FROM block WHERE"
    " kind='session_end')",
    "session_content": "UPDATE session SET content_blocks=content_blocks+1 WHERE native_ref='x:first'",
    "log_content": f"UPDATE integration_log SET content_tokens=content_tokens+1 WHERE epoch={LAST}",
    "successor": "UPDATE session SET generation=2, successor_of=session_id WHERE native_ref='x:first'",
    "embedding_debt": "DELETE FROM embedding_debt WHERE block_id=(SELECT min(block_id) FROM block WHERE kind='note')",
    "counters": "UPDATE project SET block_count=block_count+1",
    "accounts": "UPDATE usage_event SET blocks=blocks+1 WHERE project_seq=0",
    "events": "UPDATE project_event SET kind='integrated', epoch=9 WHERE kind='session_abandoned'",
    "epoch_events": "UPDATE project_event SET epoch=9 WHERE kind='integrated' AND epoch=1",
    "conflict_sides": "DELETE FROM conflict_side WHERE ordinal=1",
    "body_missing": "DELETE FROM block_body WHERE topic='t'",
    "log_gap": "DELETE FROM integration_log WHERE epoch=1",
    "log_chain": "UPDATE integration_log SET prev_sha256=sha256 WHERE epoch=1",
    "log_hash": "UPDATE integration_log SET actor='somebody' WHERE epoch=1",
    "block_hash": "UPDATE block SET actor='somebody' WHERE project_seq=3",
    "body_hash": "UPDATE block_body SET payload={other} WHERE topic='t'",
    "head": "UPDATE project SET integration_head=(SELECT min(block_id) FROM block WHERE kind='note')",
    "rewritten": "UPDATE project_event SET session_id='ses_other' WHERE kind='session_ended'",
}


@pytest.mark.parametrize("broken_id", BREAKS)
def test_what_is_broken_is_found(anchored, broken_id):
    home = anchored
    other = "CAST(replace(CAST(payload AS TEXT), 'first', 'worst') AS BLOB)"
    if home.kind == "postgres":
        other = "convert_to(replace(convert_from(payload, 'UTF8'), 'first', 'worst'), 'UTF8')"
    unguarded(home, BREAKS[broken_id].format(other=other))
    assert broken_id in ids(home)


def test_a_receipt_of_what_nobody_may_see_is_found(anchored):
    home = anchored
    session = home.start("x:new")
    home.bootstrap(session)
    assert "receipt_isolation" not in ids(home)
    gone = home.session("z:first").tip_block_id
    unguarded(home, f"UPDATE receipt_block SET block_id='{gone}' WHERE ordinal=0")
    assert "receipt_isolation" in ids(home)


def test_every_problem_is_shown_by_a_test():
    named = {name for name, _, _ in invariants._QUERIES}
    assert named <= {*BREAKS, "receipt_isolation"}


@pytest.fixture
def local(memory, tmp_path):
    """A store with block memory beside it."""
    parent = memory / f"{tmp_path.name}-local"
    parent.mkdir()
    place = Place(str(stores.init(parent / "store")), "ann")
    sessions.enrol(place)
    sessions.start(place, "x:1")
    return place


def findings(place):
    return {finding.id: finding for finding in doctor.examine(place.store).findings if finding.id.startswith("blocks.")}


def test_the_doctor_looks_at_block_memory(local):
    assert findings(local) == {}
    assert checking.check(local).sound


def test_the_doctor_tells_the_chain_what_it_was_not_told(local, monkeypatch):
    monkeypatch.setattr(anchor, "_tell", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sessions.end(local, "x:1")
    monkeypatch.undo()
    assert list(findings(local)) == ["blocks.not_anchored"]
    assert checking.check(local).sound  # the next change would tell it
    done = doctor.mend(local.store, actor="doctor")
    assert [step.what for step in done.steps if "events" in step.what] == [
        f"told the chain of 2 events of {name(local)}"
    ]
    assert findings(local) == {}


def name(place):
    return checking.check(place).project


def test_the_doctor_misses_a_file_that_the_log_tells_of(local):
    import os

    file = os.path.join(os.path.dirname(local.store), "blocks.db")
    os.rename(file, f"{file}.away")
    os.unlink(f"{file}-wal")
    assert list(findings(local)) == ["blocks.gone"]
    with open(file, "wb") as handle:
        handle.write(b"not a database" * 100)
    assert list(findings(local)) == ["blocks.blocks_corrupt"]


def put_back(file, kept):
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    for name, content in kept.items():
        Path(name).write_bytes(content)


def test_the_doctor_notices_a_file_that_was_put_back(local):
    """Whether to before a session or to before the project: also where work went on since, and all of it is sound."""
    file = Path(local.store).parent / "blocks.db"
    kept = {name: Path(name).read_bytes() for name in (str(file), f"{file}-wal")}
    sessions.end(local, "x:1")
    put_back(file, kept)
    assert list(findings(local)) == ["blocks.put_back"]
    assert not doctor.examine(local.store).healthy
    assert not checking.check(local).sound
    for number in range(3):
        (warning,) = sessions.start(local, f"y:{number}").warnings
        assert "nothing is anchored" in warning
    assert "blocks.rewritten" in findings(local)
    put_back(file, {})
    sessions.enrol(local, "anew")
    sessions.start(local, "x:1")
    assert list(findings(local)) == ["blocks.forgotten"]
    assert [problem.id for problem in checking.check(local).problems] == ["forgotten"]
    assert not checking.check(local).sound
    assert not doctor.examine(local.store).healthy


def test_the_doctor_says_that_it_does_not_look_elsewhere(local):
    import json
    import os

    manifest = os.path.join(local.store, "manifest.json")
    with open(manifest, encoding="utf-8") as handle:
        settings = json.load(handle)
    settings["blocks"] = {"url": "postgresql://somewhere/else"}
    with open(manifest, "w", encoding="utf-8") as handle:
        json.dump(settings, handle)
    assert list(findings(local)) == ["blocks.elsewhere"]
    assert doctor.examine(local.store).healthy


def test_a_store_without_block_memory_is_healthy(store):
    with Writer(store) as writer:
        writer.put("memories/a.md", "a")
    assert doctor.examine(store).healthy
    assert access.OWNER == "owner"
