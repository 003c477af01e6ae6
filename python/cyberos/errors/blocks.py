"""What block memory refuses, and what its database could not do."""

from cyberos.errors.family import CyberosError, Kind


class Absent(CyberosError):
    """There is no such thing, or it is not yours."""

    # One answer for whoever is not the owner, whatever the reason: it has no fields, and its message never changes.
    code = "absent"
    kind = Kind.NOT_FOUND


class NotEnrolled(CyberosError):
    """This store is not enrolled in block memory."""

    code = "not_enrolled"
    kind = Kind.NOT_FOUND
    fields = ("store",)
    store: str | None


class SessionOver(CyberosError):
    """The session is over."""

    code = "session_over"
    kind = Kind.CONFLICT
    fields = ("session_id", "native_ref", "status", "epoch")
    session_id: str | None
    native_ref: str | None
    status: str | None
    epoch: int | None


class SessionEnded(SessionOver):
    """The session has ended, and its branch is part of the project's history."""

    code = "session_ended"


class SessionAbandoned(SessionOver):
    """The session was abandoned."""

    code = "session_abandoned"


class SessionReconciled(SessionOver):
    """The session is an old one that can only be read."""

    code = "session_reconciled"


class IdempotencyConflict(CyberosError):
    """The key was used for another request."""

    code = "idempotency_conflict"
    kind = Kind.CONFLICT
    fields = ("key",)
    key: str | None


class FactRefused(CyberosError):
    """A block cannot have this content."""

    code = "fact_refused"
    kind = Kind.REFUSED
    fields = ("place",)
    place: int | None


class ProjectUnavailable(CyberosError):
    """An administrator is at work on the project, or has closed it."""

    code = "project_unavailable"
    kind = Kind.REFUSED
    fields = ("availability",)
    availability: str | None


class BlocksDisabled(CyberosError):
    """Changes to block memory are switched off."""

    code = "blocks_disabled"
    kind = Kind.REFUSED
    fields = ("reason",)
    reason: str | None


class IntegrationStateInvalid(CyberosError):
    """The project's canonical head is not what it must be."""

    code = "integration_state_invalid"
    kind = Kind.CORRUPT
    fields = ("reason",)
    reason: str | None


class BlocksCorrupt(CyberosError):
    """The database of block memory is damaged, or is none."""

    code = "blocks_corrupt"
    kind = Kind.CORRUPT
    fields = ("database",)
    database: str | None


class InvariantRefused(CyberosError):
    """The database refused a change that would break an invariant."""

    code = "invariant_refused"
    kind = Kind.INTERNAL
    fields = ("invariant",)
    invariant: str | None


class BlocksBusy(CyberosError):
    """Others are changing the project."""

    code = "blocks_busy"
    kind = Kind.BUSY


class BlocksUnreachable(CyberosError):
    """The database of block memory cannot be reached."""

    code = "blocks_unreachable"
    kind = Kind.INTERNAL
    fields = ("database",)
    database: str | None


class OutcomeUnknown(CyberosError):
    """The connection was lost while the change was being made durable; it may or may not have been."""

    code = "outcome_unknown"
    kind = Kind.INTERNAL


class SchemaMismatch(CyberosError):
    """The tables of block memory are not those that this version knows."""

    code = "schema_mismatch"
    kind = Kind.CONFIG
    fields = ("database", "version")
    database: str | None
    version: int | None
