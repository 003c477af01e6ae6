"""The life of a session: start, append, resume, end, abandon.

Nothing here ends a session but `end` and `abandon`, and no session touches another one's branch.
"""

from collections.abc import Sequence
from typing import Any, Final

from cyberos.blocks import conflicts, facts, integration, states
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Row
from cyberos.blocks.engine import Change, Engine, Request, change
from cyberos.blocks.facts import Content, Fact
from cyberos.blocks.growth import Parent, tip_of
from cyberos.blocks.records import Project, Session, Target
from cyberos.blocks.results import Abandoned, Appended, Ended, Resumed, Started
from cyberos.errors import Absent, BadArgument, IdempotencyConflict, IntegrationStateInvalid

_MAX_REF: Final = 300

_INSERT: Final = """INSERT INTO session(session_id, project_id, principal_id, native_ref, generation, successor_of,
    transcript_id, origin, status, base_epoch, base_block_id, tip_block_id, tip_seq, actor, started_ns,
    last_activity_ns) VALUES(?, ?, ?, ?, ?, ?, ?, 'live', 'open', ?, ?, ?, 1, ?, ?, ?)"""
_GROW: Final = """UPDATE session SET tip_block_id=?, tip_seq=?, content_blocks=content_blocks+?,
    content_tokens=content_tokens+?, last_activity_ns=? WHERE project_id=? AND session_id=? AND principal_id=?"""
_TOUCH: Final = "UPDATE session SET last_activity_ns=? WHERE project_id=? AND session_id=? AND principal_id=?"
_END: Final = """UPDATE session SET status='ended', integrated_epoch=?, tip_block_id=?, tip_seq=?,
    content_blocks=content_blocks+?, content_tokens=content_tokens+?, last_activity_ns=?, terminal_ns=?,
    terminal_block_id=?, terminal_actor=? WHERE project_id=? AND session_id=? AND principal_id=?"""
_ABANDON: Final = """UPDATE session SET status='abandoned', tip_block_id=?, tip_seq=?, last_activity_ns=?,
    terminal_ns=?, terminal_block_id=?, terminal_actor=?
    WHERE project_id=? AND session_id=? AND principal_id=?"""
_KNOWN: Final = """SELECT b.fact_key, b.block_id, b.payload_sha256 FROM block b
    WHERE b.project_id=? AND b.principal_id=? AND b.session_id=? AND b.fact_key IN({})"""
_RESOLVES: Final = "INSERT INTO resolution(project_id, conflict_id, block_id) VALUES(?, ?, ?)"


def native_ref(text: str) -> str:
    """Returns a harness's own name for a session, `HARNESS:NAME`; raises `BadArgument` where it is none."""
    ref = facts.name("native reference", text, _MAX_REF)
    harness, colon, rest = ref.partition(":")
    if not (harness and colon and rest) or ref != text:
        raise BadArgument(
            f"a native reference is HARNESS:NAME, not {text!r}", argument="native_ref", hint="such as claude-code:0c1f…"
        )
    return ref


def start(
    engine: Engine,
    caller: Caller,
    project_id: str,
    ref: str,
    *,
    transcript_id: str | None = None,
    key: str | None = None,
) -> Started:
    """Returns the open session of a native reference; where there is none, a new branch from the canonical head."""
    target = Target(native_ref=native_ref(ref))
    request = Request("start", project_id, {"transcript": transcript_id}, target, key)

    def act(to: Change) -> Started:
        session = to.session
        if session is not None and session.status == states.OPEN:
            return _started(session, to.project, created=False)
        session, project = _begin(to, ref, transcript_id)
        return _started(session, project, created=True)

    return change(engine, caller, request, Started, act)


def append(
    engine: Engine,
    caller: Caller,
    project_id: str,
    target: Target,
    stated: Sequence[Fact],
    *,
    key: str | None = None,
) -> Appended:
    """Adds facts to a session's branch, all or none.

    By a native reference that has no open session, it starts one first. A fact whose key the branch has already is not
    added again; with other content it is an `IdempotencyConflict`.
    """
    if not 0 < len(stated) <= facts.MAX_FACTS:
        raise BadArgument(f"{len(stated)} facts; one request takes 1 to {facts.MAX_FACTS}", argument="facts")
    if target.native_ref is not None:
        native_ref(target.native_ref)
    contents = [facts.content_of(fact, place) for place, fact in enumerate(stated)]
    meant = [
        [content.sha256.hex(), fact.key, None if fact.occurred_ns is None else str(fact.occurred_ns)]
        for fact, content in zip(stated, contents, strict=True)
    ]
    request = Request("append", project_id, {"facts": meant}, target, key)

    def act(to: Change) -> Appended:
        session = to.session
        started = target.native_ref is not None and (session is None or session.status != states.OPEN)
        if started and target.native_ref is not None:
            session, _ = _begin(to, target.native_ref, None)
        session = _open(session)
        return _append(to, session, stated, contents, started=started)

    return change(engine, caller, request, Appended, act)


def resume(engine: Engine, caller: Caller, project_id: str, target: Target, *, key: str | None = None) -> Resumed:
    """Returns an open session, dormant or not, as it was left. Never makes one, and moves nothing but its activity."""
    request = Request("resume", project_id, {}, target, key)

    def act(to: Change) -> Resumed:
        session = _open(to.session)
        was = states.shown(session.status, session.last_activity_ns, to.now_ns, to.rules.dormant_after_ns)
        to.growth.add(
            _TOUCH, _activity(session, to), to.project.project_id, session.session_id, to.project.principal_id
        )
        return Resumed(
            session.session_id, session.native_ref, was, _base(session), _epoch(to.project), session.content_blocks
        )

    return change(engine, caller, request, Resumed, act)


def end(
    engine: Engine,
    caller: Caller,
    project_id: str,
    target: Target,
    *,
    summary: str | None = None,
    key: str | None = None,
) -> Ended:
    """Makes a session's branch canonical and its last block the head, all or nothing.

    That block has the branch for a parent and, where others ended since the session began, the head before, too.
    """
    request = Request("end", project_id, {"summary": summary}, target, key)

    def act(to: Change) -> Ended:
        session, project, growth = _open(to.session), to.project, to.growth
        head = integration.head_of(project)
        parents = [Parent(tip_of(session), "branch")]
        found: list[conflicts.Found] = []
        if _base(session) < _epoch(project):
            parents.append(Parent(head, "integration"))
            found = conflicts.find(to.transaction, project, session)
        named = [(growth.new_id("cft"), each) for each in found]
        content = facts.evidence(
            summary,
            base_epoch=_base(session),
            conflicts=[{"id": name, "blocks": [side.block_id for side in each.sides]} for name, each in named] or None,
        )
        last = growth.block("session_end", (session.session_id, session.tip_seq + 1), content, parents)
        gained = _gained([content])
        whole = (session.content_blocks + gained[0], session.content_tokens + gained[1])
        after = integration.advance(growth, project, last, "end", session.session_id, whole)
        epoch = _epoch(after)
        for ordinal, (name, each) in enumerate(named):
            conflicts.record(growth, name, epoch, ordinal, session, each)
        growth.add(
            _END, epoch, last.block_id, session.tip_seq + 1, *gained, _activity(session, to), to.now_ns, last.block_id,
            growth.actor, project.project_id, session.session_id, project.principal_id,
        )  # fmt: skip
        growth.event("session_ended", session.session_id, epoch)
        return Ended(session.session_id, last.block_id, epoch, len(parents), [name for name, _ in named])

    return change(engine, caller, request, Ended, act)


def abandon(
    engine: Engine,
    caller: Caller,
    project_id: str,
    target: Target,
    *,
    reason: str | None = None,
    key: str | None = None,
) -> Abandoned:
    """Ends a session without making its branch canonical. The branch is kept."""
    request = Request("abandon", project_id, {"reason": reason}, target, key)

    def act(to: Change) -> Abandoned:
        session, project, growth = _open(to.session), to.project, to.growth
        content = facts.evidence(reason)
        place = (session.session_id, session.tip_seq + 1)
        last = growth.block("abandon", place, content, [Parent(tip_of(session), "branch")])
        growth.add(
            _ABANDON, last.block_id, session.tip_seq + 1, _activity(session, to), to.now_ns, last.block_id,
            growth.actor, project.project_id, session.session_id, project.principal_id,
        )  # fmt: skip
        growth.event("session_abandoned", session.session_id, None)
        return Abandoned(session.session_id, last.block_id)

    return change(engine, caller, request, Abandoned, act)


def _begin(to: Change, ref: str, transcript_id: str | None) -> tuple[Session, Project]:
    """Adds a session, the successor of the newest of its native reference, and in an empty project its baseline."""
    growth, project, before = to.growth, to.project, to.session
    if states.after(before.status if before else "none", "start") is None:
        raise IntegrationStateInvalid(reason="unknown_session_state")
    if project.integration_state == "uninitialized":
        project = integration.establish(growth)
    head, epoch = integration.head_of(project), _epoch(project)
    session_id, block_id = growth.new_id("ses"), growth.new_id("blk")
    generation, successor_of = (before.generation + 1, before.session_id) if before else (1, None)
    growth.add(
        _INSERT, session_id, project.project_id, project.principal_id, ref, generation, successor_of, transcript_id,
        epoch, head.block_id, block_id, growth.actor, to.now_ns, to.now_ns,
    )  # fmt: skip
    content = facts.evidence(None, native_ref=ref, generation=generation, successor_of=successor_of)
    tip = growth.block("session_start", (session_id, 1), content, [Parent(head, "base")], block_id=block_id)
    growth.event("session_started", session_id, epoch)
    session = Session(
        session_id, project.project_id, ref, generation, successor_of, transcript_id, "live", states.OPEN, epoch,
        head.block_id, tip.block_id, 1, 0, 0, growth.actor, to.now_ns, to.now_ns, None, None, None, *tip[1:],
    )  # fmt: skip
    return session, project


def _append(
    to: Change, session: Session, stated: Sequence[Fact], contents: list[Content], *, started: bool
) -> Appended:
    growth, project = to.growth, to.project
    known = {} if started else _known(to, session, stated)
    conflicts.require(to.transaction, project, {name for fact in stated for name in fact.resolves})
    tip, place = tip_of(session), session.tip_seq
    blocks, again, added = [], [], []
    for fact, content in zip(stated, contents, strict=True):
        if fact.key is not None and fact.key in known:
            block_id, sha256 = known[fact.key]
            if sha256 != content.sha256:
                raise IdempotencyConflict(
                    f"the session has a fact {fact.key!r} with another content",
                    key=fact.key,
                    hint="a fact is never changed: append another one",
                )
            blocks.append(block_id)
            again.append(block_id)
            continue
        place += 1
        tip = growth.block(
            "note", (session.session_id, place), content, [Parent(tip, "branch")],
            key=fact.key, occurred_ns=fact.occurred_ns,
        )  # fmt: skip
        for name in sorted(set(fact.resolves)):
            growth.add(_RESOLVES, project.project_id, name, tip.block_id)
        if fact.key is not None:
            known[fact.key] = (tip.block_id, content.sha256)
        blocks.append(tip.block_id)
        added.append(content)
    growth.add(
        _GROW, tip.block_id, place, *_gained(added), _activity(session, to), project.project_id, session.session_id,
        project.principal_id,
    )  # fmt: skip
    return Appended(session.session_id, started, blocks, again)


def _known(to: Change, session: Session, stated: Sequence[Fact]) -> dict[str, tuple[str, bytes]]:
    """Returns the blocks that have one of the keys already, by the key."""
    keys = sorted({fact.key for fact in stated if fact.key is not None})
    if not keys:
        return {}
    sql = _KNOWN.format(", ".join("?" * len(keys)))
    values: tuple[Any, ...] = (to.project.project_id, to.project.principal_id, session.session_id, *keys)
    rows: list[Row] = to.transaction.all(sql, *values)
    return {key: (block_id, bytes(sha256)) for key, block_id, sha256 in rows}


def _open(session: Session | None) -> Session:
    """Returns a session that takes more; raises `Absent`, or for the owner that it is over."""
    if session is None:
        raise Absent
    if session.status in states.TERMINAL:
        raise states.over(session.status, session.session_id, session.native_ref, session.integrated_epoch)
    return session


def _started(session: Session, project: Project, *, created: bool) -> Started:
    return Started(
        session.session_id, session.native_ref, session.generation, session.successor_of, session.status,
        _base(session), _epoch(project), created,
    )  # fmt: skip


def _gained(contents: list[Content]) -> tuple[int, int]:
    """Returns how many blocks say something, and their tokens."""
    return sum(content.tokens > 0 for content in contents), sum(content.tokens for content in contents)


def _activity(session: Session, to: Change) -> int:
    """Returns when the session was last touched: clocks step back, this does not."""
    return max(session.last_activity_ns, to.now_ns)


def _base(session: Session) -> int:
    if session.base_epoch is None:
        raise IntegrationStateInvalid(reason="session_without_base")
    return session.base_epoch


def _epoch(project: Project) -> int:
    if project.epoch is None:
        raise IntegrationStateInvalid(reason="no_epoch")
    return project.epoch
