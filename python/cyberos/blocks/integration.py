"""The canonical head of a project: what it must be, and how it goes on. One entry of the log for each epoch."""

from typing import Any, Final

from cyberos.blocks import canonical, facts
from cyberos.blocks.growth import Growth, Node
from cyberos.blocks.records import Project
from cyberos.errors import IntegrationStateInvalid

_LOG: Final = """INSERT INTO integration_log(project_id, epoch, head_block_id, head_sha256, prev_epoch, prev_head_id,
    prev_sha256, kind, session_id, run_id, content_blocks, content_tokens, actor, at_ns, sha256)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_POINTER: Final = """UPDATE project SET integration_state='ready', integration_epoch=?, integration_head=?
    WHERE project_id=? AND principal_id=?"""


def problem(project: Project) -> str | None:
    """Returns why a project's head cannot be built on; `None` where it can, or where there is none yet."""
    if project.integration_state == "uninitialized":
        return "log_without_head" if project.last_epoch is not None else None
    if project.integration_state == "fenced":
        return "fenced"
    if project.logged_head is None or project.head is None:
        return "head_not_logged"
    if project.last_epoch != project.epoch:
        return "log_ahead_of_head"
    if project.logged_head != project.head:
        return "head_is_another"
    if project.head_seq is None:
        return "head_is_gone"
    if project.head_principal != project.principal_id:
        return "head_of_another_principal"
    if project.head_sha256 != project.logged_head_sha256:
        return "head_was_changed"
    return None


def require(project: Project) -> None:
    """Raises `IntegrationStateInvalid` where nothing may be built on the project's head."""
    reason = problem(project)
    if reason is not None:
        raise IntegrationStateInvalid(
            f"the canonical head of project {project.project_id} cannot be built on: {reason}",
            reason=reason,
            hint="`cyberos blocks check` says what is wrong; nothing was changed",
        )


def head_of(project: Project) -> Node:
    """Returns the canonical head of a project that is ready."""
    if project.head is None or project.head_seq is None or project.head_sha256 is None:
        raise IntegrationStateInvalid(reason="head_is_gone")
    return Node(project.head, project.head_seq, project.head_sha256)


def establish(growth: Growth) -> Project:
    """Gives an empty project its baseline: a block that nobody wrote, from which all first sessions branch."""
    content = facts.evidence(None, project=growth.project.project_id)
    head = growth.block("baseline", None, content, [])
    return advance(growth, growth.project, head, "baseline", None, (0, 0))


def advance(
    growth: Growth, project: Project, head: Node, kind: str, session_id: str | None, content: tuple[int, int]
) -> Project:
    """Makes a block the head. `content` counts the blocks and tokens that become canonical."""
    before = project.epoch
    epoch = 0 if before is None else before + 1
    blocks, tokens = (project.content_blocks or 0) + content[0], (project.content_tokens or 0) + content[1]
    entry = (
        project.project_id, epoch, head.block_id, head.sha256, before, project.head, project.log_sha256, kind,
        session_id, None, blocks, tokens, growth.actor, growth.now_ns,
    )  # fmt: skip
    sha256 = entry_hash(entry)
    growth.add(_LOG, *entry, sha256)
    growth.add(_POINTER, epoch, head.block_id, project.project_id, project.principal_id)
    growth.event("integrated", session_id, epoch)
    return project._replace(
        integration_state="ready", epoch=epoch, last_epoch=epoch, head=head.block_id, head_seq=head.project_seq,
        head_sha256=head.sha256, logged_head=head.block_id, logged_head_sha256=head.sha256, log_sha256=sha256,
        head_principal=project.principal_id, content_blocks=blocks, content_tokens=tokens,
    )  # fmt: skip


def entry_hash(entry: tuple[Any, ...]) -> bytes:
    """Returns the hash of a log entry: of its columns in the order above, which hold the hash of the one before."""
    spelled = [
        value.hex() if isinstance(value, bytes) else str(value) if isinstance(value, int) else value for value in entry
    ]
    return canonical.digest(["integration", 1, *spelled])
