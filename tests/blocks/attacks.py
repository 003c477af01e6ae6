"""Statements that must be refused, by what they would do. Names in braces are those of the project that is attacked."""

OPEN = "NULL, NULL, NULL"
CLOSED = "1, tip_block_id, 'x'"
NOWHERE = "NULL, NULL"


def block(session="'{open}'", seq=4, kind="note", parents=1):
    return f"""INSERT INTO block(block_id, project_id, principal_id, session_id, session_seq, project_seq, kind,
        parent_count, payload_sha256, payload_bytes, token_est, actor, occurred_ns, created_ns, hash)
        SELECT 'new', project_id, principal_id, {session}, {seq}, 1000, '{kind}', {parents}, payload_sha256,
        payload_bytes, 0, 'x', 1, 1, hash FROM block WHERE block_id='{{note}}'"""


def edge(parent, child="new", seq=1000, ordinal=0, role="branch"):
    return f"""INSERT INTO block_parent(project_id, child_id, child_seq, ordinal, parent_id, parent_seq, role)
        SELECT project_id, '{child}', {seq}, {ordinal}, block_id, project_seq, '{role}' FROM block
        WHERE block_id='{parent}'"""


def session(base, ref="y:1", origin="live", status="open", terminal=OPEN):
    return f"""INSERT INTO session(session_id, project_id, principal_id, native_ref, generation, origin, status,
        base_epoch, base_block_id, tip_block_id, tip_seq, actor, started_ns, last_activity_ns, terminal_ns,
        terminal_block_id, terminal_actor)
        SELECT 'new', project_id, principal_id, '{ref}', 1, '{origin}', '{status}', {base}, tip_block_id, 1, 'x', 1, 1,
        {terminal} FROM session WHERE session_id='{{ended}}'"""


def entry(kind, head, session="NULL"):
    return f"""INSERT INTO integration_log(project_id, epoch, head_block_id, head_sha256, prev_epoch, prev_head_id,
        prev_sha256, kind, session_id, run_id, content_blocks, content_tokens, actor, at_ns, sha256)
        SELECT l.project_id, l.epoch+1, b.block_id, b.hash, l.epoch, l.head_block_id, l.sha256, '{kind}', {session},
        NULL, 0, 0, 'x', 1, l.sha256 FROM integration_log l
        JOIN project p ON p.project_id=l.project_id AND p.integration_epoch=l.epoch
        JOIN block b ON b.project_id=l.project_id AND b.block_id='{head}'"""


def change(which, what):
    return f"UPDATE session SET {what} WHERE session_id='{{{which}}}'"


def point(what):
    return f"UPDATE project SET {what} WHERE project_id='{{project}}'"


FORGET = "terminal_ns=NULL, terminal_block_id=NULL, terminal_actor=NULL"
CLAIM = "terminal_ns=1, terminal_actor='x', terminal_block_id=tip_block_id"

ATTACKS = {
    # A session's life goes one way.
    "reopen an ended session": change("ended", f"status='open', integrated_epoch=NULL, {FORGET}"),
    "reopen an abandoned session": change("abandoned", f"status='open', {FORGET}"),
    "make an abandoned session ended": change("abandoned", "status='ended', integrated_epoch=0"),
    "end a session as writers of old did": change("open", "status='ended'"),
    "end a session without a block": change("open", f"status='ended', integrated_epoch=1, {CLAIM}"),
    "abandon a session without a block": change("open", f"status='abandoned', {CLAIM}"),
    "reconcile an open session": change("open", f"status='reconciled', {CLAIM}"),
    "shorten a branch": change("open", "tip_seq=tip_seq-1"),
    "move a tip to another branch": change("open", "tip_block_id='{note}'"),
    "rebase an open session": change("open", "base_epoch=1, base_block_id='{ended_tip}'"),
    "give a session to another harness": change("open", "native_ref='y:y'"),
    "take activity back": change("open", "last_activity_ns=1"),
    "touch a session that is over": change("ended", "last_activity_ns=last_activity_ns+1"),
    "a session from another head": session("0, base_block_id"),
    "a session from an open tip": session("3, '{open_tip}'"),
    "a session from nowhere": session(NOWHERE),
    "a second open session": session("3, '{head}'", ref="x:open"),
    "a session born reconciled": session(NOWHERE, origin="legacy", status="reconciled", terminal=CLOSED),
    "a session born ended": session(NOWHERE, origin="import", status="ended", terminal=CLOSED),
    # Edges are sealed, and branches are lines.
    "a second parent, later": edge("{baseline}", "{note}", 99, 1, "integration"),
    "a block on a session that is over": [edge("{ended_tip}"), block("'{ended}'")],
    "a block beside its branch": [edge("{start}"), block()],
    "a block on another session's branch": [edge("{note}"), block()],
    "a block without parents": block(parents=0),
    "a block with fewer parents than it says": [edge("{open_tip}"), block(parents=2)],
    "a second baseline": block("NULL", "NULL", "baseline", 0),
    "an edge to itself": edge("{open_tip}", "{open_tip}", 5, 1),
    "an edge to what is newer": edge("{open_tip}", seq=0),
    "a body for a block that has one": """INSERT INTO block_body SELECT block_id, project_id, principal_id, topic, 'x',
        payload FROM block_body WHERE block_id='{note}'""",
    # The head goes on by one, and descends.
    "point at an open tip": point("integration_head='{open_tip}'"),
    "point at an older head": point("integration_epoch=1, integration_head='{ended_tip}'"),
    "skip an epoch": point("integration_epoch=integration_epoch+2"),
    "an epoch that is not logged": point("integration_epoch=integration_epoch+1"),
    "no head": point("integration_epoch=NULL, integration_head=NULL, integration_state='uninitialized'"),
    "give a project away": point("principal_id='y'"),
    "take a place back": point("next_project_seq=1"),
    "log an open tip as an end": entry("end", "{open_tip}", "'{open}'"),
    "log a head by no administrator": entry("import", "{open_tip}"),
    "log another baseline": entry("baseline", "{baseline}"),
    "log an end of nobody": entry("end", "{open_tip}"),
}
SQLITE = {
    "replace an ended session by an open one": """INSERT OR REPLACE INTO session SELECT session_id, project_id,
        principal_id, native_ref, generation, successor_of, transcript_id, origin, 'open', 3, '{head}', tip_block_id,
        tip_seq, content_blocks, content_tokens, actor, started_ns, last_activity_ns, NULL, NULL, NULL, NULL, NULL
        FROM session WHERE session_id='{ended}'""",
    "update or replace": "UPDATE OR REPLACE block SET actor='y' WHERE block_id='{note}'",
    "update or ignore": "UPDATE OR IGNORE block SET actor='y' WHERE block_id='{note}'",
    "insert or else update": """INSERT INTO block SELECT * FROM block WHERE block_id='{note}'
        ON CONFLICT(project_id, block_id) DO UPDATE SET actor='y'""",
    "update from a join": "UPDATE block SET actor=p.name FROM project p WHERE p.project_id=block.project_id",
}
POSTGRES = {
    "insert or else update": """INSERT INTO block SELECT * FROM block WHERE block_id='{note}'
        ON CONFLICT(project_id, block_id) DO UPDATE SET actor='y'""",
    "merge": """MERGE INTO block b USING (SELECT 1) s ON b.block_id='{note}'
        WHEN MATCHED THEN UPDATE SET actor='y'""",
    "truncate with all that refers to it": "TRUNCATE block CASCADE",
    "truncate the log": "TRUNCATE integration_log CASCADE",
    "truncate everything": "TRUNCATE project, session, block, integration_log RESTART IDENTITY CASCADE",
    "update from a join": "UPDATE block SET actor=p.name FROM project p WHERE p.project_id=block.project_id",
    "delete in a query": "WITH gone AS (DELETE FROM block RETURNING *) SELECT count(*) FROM gone",
}
NEVER_CHANGED = [
    *("block", "block_body", "block_parent", "integration_log", "conflict", "conflict_side", "resolution", "receipt"),
    *("receipt_block", "project_event", "usage_event"),
]
NEVER_DELETED = [*NEVER_CHANGED, "session", "project"]


def all_of(kind):
    """Yields what is tried on a database: a name, and the statements of one transaction."""
    for name, tried in {**ATTACKS, **(SQLITE if kind == "sqlite" else POSTGRES)}.items():
        yield name, tried if isinstance(tried, list) else [tried]
    for table in NEVER_CHANGED:
        yield f"update {table}", [f"UPDATE {table} SET project_id=project_id"]
    for table in NEVER_DELETED:
        yield f"delete from {table}", [f"DELETE FROM {table}"]
        if kind == "sqlite":
            yield f"replace in {table}", [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1"]
        else:
            yield f"truncate {table}", [f"TRUNCATE {table}"]
