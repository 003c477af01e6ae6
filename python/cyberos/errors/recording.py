"""A session, or a turn of one, cannot be recorded or read."""

from cyberos.errors.family import CyberosError, Kind


class SessionNotFound(CyberosError):
    """No session has this id."""

    code = "session_not_found"
    kind = Kind.NOT_FOUND
    fields = ("session_id",)
    session_id: str | None


class TranscriptPurged(CyberosError):
    """The session's transcript was erased; that it existed stays in the log."""

    code = "transcript_purged"
    kind = Kind.NOT_FOUND
    fields = ("session_id",)
    session_id: str | None


class TranscriptMissing(CyberosError):
    """The session's transcript is not where it was written, and nothing says that it was erased."""

    code = "transcript_missing"
    kind = Kind.CORRUPT
    fields = ("session_id", "file")
    session_id: str | None
    file: str | None


class SessionStateRefused(CyberosError):
    """The session is not in a state in which this can be done."""

    code = "session_state"
    kind = Kind.REFUSED
    fields = ("session_id", "state", "active")
    session_id: str | None
    state: str | None
    active: str | None


class TurnRefused(CyberosError):
    """A turn cannot have this content."""

    code = "turn_refused"
    kind = Kind.REFUSED
    fields = ("session_id", "turn")
    session_id: str | None
    turn: int | None
