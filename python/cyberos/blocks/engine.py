"""One way for every change of a project: lock, then who asks, then replays, then state, then the change.

The order is what makes it safe. The project's row is locked alone and first, and only where it is the caller's. Who
asks is looked up again once the lock is held: a credential that was revoked meanwhile sees nothing, not even an old
answer. An answer that is kept for a key is given before anything is said of the session, which may be over by then.
"""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from cyberos import clock
from cyberos.blocks import access, canonical, ids, integration, records
from cyberos.blocks.access import Caller
from cyberos.blocks.connector import Database, Row, Statement, Transaction
from cyberos.blocks.growth import Growth
from cyberos.blocks.records import Project, Session, Target
from cyberos.errors import Absent, BadArgument, BlocksDisabled, IdempotencyConflict, ProjectUnavailable

DAY_NS: Final = 86_400 * clock.NS
_MAX_KEY: Final = 200

_SWITCH: Final = "SELECT enabled, reason FROM kill_switch WHERE scope='mutations'"
_KEPT: Final = """SELECT op, digest, result, expires_ns FROM idempotency
    WHERE project_id=? AND principal_id=? AND idem_key=?"""
_FORGET: Final = "DELETE FROM idempotency WHERE project_id=? AND principal_id=? AND expires_ns<=?"
_KEEP: Final = """INSERT INTO idempotency(principal_id, project_id, idem_key, op, digest, result, created_ns,
    expires_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"""


class Rules(NamedTuple):
    """What may be set."""

    keys_kept_ns: int = 7 * DAY_NS
    dormant_after_ns: int = DAY_NS


class Engine(NamedTuple):
    """A database and how to use it. `new_id` and `hook` are for tests: the hook is told how far a change has come."""

    database: Database
    rules: Rules = Rules()
    new_id: Callable[[str], str] = ids.new
    hook: Callable[[str], None] = lambda _: None


class Request(NamedTuple):
    """A change that is asked for. `inputs` is all that it means: what differs in it is another request.

    `key` is the client's name for the request, by which it can be repeated; `target` the session that is meant.
    """

    op: str
    project_id: str
    inputs: dict[str, Any]
    target: Target | None = None
    key: str | None = None

    def digest(self) -> bytes:
        """What two requests of one meaning have in common."""
        target = list(self.target) if self.target else None
        return canonical.digest({"op": self.op, "project": self.project_id, "target": target, "inputs": self.inputs})


class Change(NamedTuple):
    """What a change finds once nothing can come in between: the lock is held, the caller may, the head is sound."""

    transaction: Transaction
    project: Project
    session: Session | None
    growth: Growth
    rules: Rules

    @property
    def now_ns(self) -> int:
        """The time, taken after the lock."""
        return self.growth.now_ns


# An answer: a named tuple of JSON values, where it may be kept with `replayed` at its end.
R = TypeVar("R")


def authenticate(engine: Engine, caller: Caller, scope: str) -> str:
    """Returns the principal's id; raises `Absent`."""
    with engine.database.read() as transaction:
        return identify(engine, transaction, caller, scope)


def identify(engine: Engine, transaction: Transaction, caller: Caller, scope: str) -> str:
    """Returns the principal's id as a transaction sees it; raises `Absent`."""
    sql, values = access.select_caller(engine.database, caller)
    return access.principal_of(transaction.all(sql, *values), scope, clock.now_ns()).principal_id


def change(engine: Engine, caller: Caller, request: Request, make: Callable[..., R], act: Callable[[Change], R]) -> R:
    """Carries out a request, once for each key; `make` is the class of the answer, `act` does what is asked.

    Raises `Absent` for whoever is not the owner, and else what is wrong.
    """
    check_key(request.key)
    digest = request.digest()
    principal_id = authenticate(engine, caller, "write")
    engine.hook("authed")
    with engine.database.write() as transaction:
        engine.hook("begun")
        found = transaction.batch(_opening(engine, transaction, caller, request, principal_id))
        if transaction_is_not_ours(found):
            raise Absent
        now_ns = clock.now_ns()
        engine.hook("locked")
        sessions, projects, kept, switch, callers = (found.pop() for _ in range(5))
        if access.principal_of(callers, "write", now_ns).principal_id != principal_id:
            raise Absent
        _require_on(switch)
        replayed = _replay(kept, request, digest, now_ns)
        if replayed is not None:
            return _again(make, replayed, transaction, request, principal_id)
        project = records.project_of(projects[0])
        _require_available(project)
        integration.require(project)
        session = records.session_of(sessions[0]) if sessions else None
        growth = Growth(project, request.op, caller.actor, now_ns, engine.new_id)
        result = act(Change(transaction, project, session, growth, engine.rules))
        statements = growth.finish()
        if request.key is not None:
            statements += _kept(engine.rules, request, principal_id, digest, result, now_ns)
        engine.hook("writing")
        if statements:
            transaction.last(statements)
        engine.hook("precommit")
    engine.hook("committed")
    return result


def transaction_is_not_ours(found: list[list[Row]]) -> bool:
    """Whether the project that was to be locked is not the principal's."""
    return not found[0]


def require_on(transaction: Transaction) -> None:
    """Raises `BlocksDisabled` where changes are switched off."""
    _require_on(transaction.all(_SWITCH))


def check_key(key: str | None) -> None:
    """Raises `BadArgument` where a key cannot be kept."""
    if key is not None and not (0 < len(key) <= _MAX_KEY and key.isprintable()):
        raise BadArgument(f"a key has 1 to {_MAX_KEY} characters that can be shown", argument="key")


def _opening(
    engine: Engine, transaction: Transaction, caller: Caller, request: Request, principal_id: str
) -> list[Statement]:
    """Returns the locks and all that is looked at behind them, in the order of their meaning."""
    project_id = request.project_id
    target = request.target or Target(session_id="")
    return [
        *transaction.locking(project_id, principal_id),
        access.select_caller(engine.database, caller),
        (_SWITCH, ()),
        (_KEPT, (project_id, principal_id, request.key or "")),
        records.select_project(project_id, principal_id),
        records.select_session(project_id, principal_id, target),
    ]


def _require_on(switch: list[Row]) -> None:
    for enabled, reason in switch:
        if not enabled:
            raise BlocksDisabled(f"changes to block memory are switched off: {reason}", reason=reason)


def _require_available(project: Project) -> None:
    if project.availability != "live":
        raise ProjectUnavailable(
            f"the project is {project.availability}", availability=project.availability, hint="try again later"
        )


def _replay(kept: list[Row], request: Request, digest: bytes, now_ns: int) -> dict[str, Any] | None:
    for _, before, result, expires_ns in kept:
        if expires_ns <= now_ns:
            return None
        if bytes(before) != digest:
            raise IdempotencyConflict(
                f"the key {request.key!r} was used for another request", key=request.key, hint="use a new key"
            )
        answer: dict[str, Any] = json.loads(result)
        return answer
    return None


def _again(
    make: Callable[..., R], answer: dict[str, Any], transaction: Transaction, request: Request, principal_id: str
) -> R:
    """Returns an answer that was given before; the status in it is what the session is now."""
    if "status" in answer:
        target = Target(session_id=answer["session_id"])
        rows = transaction.batch([records.select_session(request.project_id, principal_id, target)])[0]
        answer["status"] = records.session_of(rows[0]).status
    return make(**{**answer, "replayed": True})


def _kept(
    rules: Rules, request: Request, principal_id: str, digest: bytes, result: Any, now_ns: int
) -> list[Statement]:
    """Returns the statements that keep an answer, and forget those whose time is over."""
    answer = json.dumps(result._asdict(), ensure_ascii=False)
    times = (now_ns, now_ns + rules.keys_kept_ns)
    values = (principal_id, request.project_id, request.key, request.op, digest, answer, *times)
    return [(_FORGET, (request.project_id, principal_id, now_ns)), (_KEEP, values)]
