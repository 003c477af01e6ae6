"""Every error that cyberos raises on purpose.

One family: catch `CyberosError`. A class has a stable `code` for programs, a `kind` that each surface maps to an exit
code or an HTTP status in one table of its own, and a docstring that says what it means. The compiled core raises these
same classes. Nothing heavy is imported here: this module is on every start-up path.
"""

import errno

from cyberos.errors.blocks import Absent as Absent
from cyberos.errors.blocks import BlocksBusy as BlocksBusy
from cyberos.errors.blocks import BlocksCorrupt as BlocksCorrupt
from cyberos.errors.blocks import BlocksDisabled as BlocksDisabled
from cyberos.errors.blocks import BlocksUnreachable as BlocksUnreachable
from cyberos.errors.blocks import FactRefused as FactRefused
from cyberos.errors.blocks import IdempotencyConflict as IdempotencyConflict
from cyberos.errors.blocks import IntegrationStateInvalid as IntegrationStateInvalid
from cyberos.errors.blocks import InvariantRefused as InvariantRefused
from cyberos.errors.blocks import NotEnrolled as NotEnrolled
from cyberos.errors.blocks import OutcomeUnknown as OutcomeUnknown
from cyberos.errors.blocks import ProjectUnavailable as ProjectUnavailable
from cyberos.errors.blocks import SchemaMismatch as SchemaMismatch
from cyberos.errors.blocks import SessionAbandoned as SessionAbandoned
from cyberos.errors.blocks import SessionEnded as SessionEnded
from cyberos.errors.blocks import SessionOver as SessionOver
from cyberos.errors.blocks import SessionReconciled as SessionReconciled
from cyberos.errors.family import CyberosError as CyberosError
from cyberos.errors.family import Kind as Kind
from cyberos.errors.family import command as command
from cyberos.errors.family import error_classes as error_classes
from cyberos.errors.recording import SessionNotFound as SessionNotFound
from cyberos.errors.recording import SessionStateRefused as SessionStateRefused
from cyberos.errors.recording import TranscriptMissing as TranscriptMissing
from cyberos.errors.recording import TranscriptPurged as TranscriptPurged
from cyberos.errors.recording import TurnRefused as TurnRefused
from cyberos.errors.sealing import CorruptKeystore as CorruptKeystore
from cyberos.errors.sealing import KeyErased as KeyErased
from cyberos.errors.sealing import KeyRetired as KeyRetired
from cyberos.errors.sealing import KeystoreLocked as KeystoreLocked
from cyberos.errors.sealing import SealBroken as SealBroken
from cyberos.errors.sealing import WrongKey as WrongKey
from cyberos.errors.serving import AddressInUse as AddressInUse
from cyberos.errors.serving import EndpointNotFound as EndpointNotFound
from cyberos.errors.serving import HostRefused as HostRefused
from cyberos.errors.serving import MethodRefused as MethodRefused
from cyberos.errors.serving import TokenRefused as TokenRefused
from cyberos.errors.signing import BadNote as BadNote
from cyberos.errors.signing import BadProof as BadProof
from cyberos.errors.signing import KeyMissing as KeyMissing
from cyberos.errors.signing import KeyRefused as KeyRefused
from cyberos.errors.signing import LogRewritten as LogRewritten

# What was asked for does not make sense.


class BadArgument(CyberosError):
    """An argument can never be valid."""

    code = "bad_argument"
    kind = Kind.USAGE
    fields = ("argument",)
    argument: str | None


class UnknownFilter(BadArgument):
    """A filter names a key that cannot be filtered by."""

    code = "unknown_filter"


# What was asked for is not there.


class StoreNotFound(CyberosError):
    """There is no store here."""

    code = "store_not_found"
    kind = Kind.NOT_FOUND
    fields = ("store",)
    store: str | None


class MemoryNotFound(CyberosError):
    """No memory has this path."""

    code = "memory_not_found"
    kind = Kind.NOT_FOUND
    fields = ("path",)
    path: str | None


class VersionNotFound(CyberosError):
    """The memory had no version at that row or time."""

    code = "version_not_found"
    kind = Kind.NOT_FOUND
    fields = ("path", "seq")
    path: str | None
    seq: int | None


class BodyPurged(CyberosError):
    """The content of this version was purged; only the fact of it is left."""

    code = "body_purged"
    kind = Kind.NOT_FOUND
    fields = ("path", "seq")
    path: str | None
    seq: int | None


class BodyUnavailable(CyberosError):
    """The content of this version was never kept; the log holds only its hash."""

    code = "body_unavailable"
    kind = Kind.NOT_FOUND
    fields = ("path", "seq")
    path: str | None
    seq: int | None


class NothingToRevert(CyberosError):
    """No memory was changed in this session or dream."""

    code = "nothing_to_revert"
    kind = Kind.NOT_FOUND
    fields = ("session_id", "dream_id")
    session_id: str | None
    dream_id: str | None


class RepositoryNotFound(CyberosError):
    """There is no git repository with a commit here."""

    code = "repository_not_found"
    kind = Kind.NOT_FOUND
    fields = ("repository",)
    repository: str | None


# What was asked for is not allowed.


class AclDenied(CyberosError):
    """The access list refuses this actor's write."""

    code = "acl_denied"
    kind = Kind.REFUSED
    fields = ("path", "actor", "mode", "store_id", "matched_entry", "yaml_path")
    path: str | None
    actor: str | None
    mode: str | None
    store_id: str | None
    matched_entry: str | None
    yaml_path: str | None


class ProtocolNotApproved(CyberosError):
    """The store's owner has not approved the protocol section that this needs."""

    code = "protocol_not_approved"
    kind = Kind.REFUSED
    fields = ("section",)
    section: str | None


class NotConfirmed(CyberosError):
    """What has to be confirmed was not, so nothing was done."""

    code = "not_confirmed"
    kind = Kind.REFUSED


class PathRefused(CyberosError):
    """A memory cannot have this path."""

    code = "path_refused"
    kind = Kind.REFUSED
    fields = ("path",)
    path: str | None


class BodyRefused(CyberosError):
    """A memory cannot have this content."""

    code = "body_refused"
    kind = Kind.REFUSED
    fields = ("path",)
    path: str | None


class PurgeRefused(CyberosError):
    """The content to purge is shared with another living memory."""

    code = "purge_refused"
    kind = Kind.REFUSED
    fields = ("path", "shared_with")
    path: str | None
    shared_with: tuple[str, ...] | None


class ArchiveRefused(CyberosError):
    """A file is not an archive that an export writes."""

    code = "archive_refused"
    kind = Kind.REFUSED
    fields = ("archive", "member")
    archive: str | None
    member: str | None


class RepositoryRefused(CyberosError):
    """A git repository cannot be imported as it is."""

    code = "repository_refused"
    kind = Kind.REFUSED
    fields = ("repository",)
    repository: str | None


class StoreReadOnly(CyberosError):
    """The store cannot be written to."""

    code = "store_read_only"
    kind = Kind.REFUSED
    fields = ("store",)
    store: str | None


class NetworkFileSystem(CyberosError):
    """The store lies on a network file system, where locks may not keep other machines out."""

    code = "network_file_system"
    kind = Kind.REFUSED
    fields = ("store",)
    store: str | None


# The state of things is not what the caller took it for.


class PreconditionFailed(CyberosError):
    """The memory is not at the version that the write was meant for."""

    code = "precondition_failed"
    kind = Kind.CONFLICT
    fields = ("path", "expected", "actual")
    path: str | None
    expected: str | None
    actual: str | None


class AlreadyExists(CyberosError):
    """Something is already there."""

    code = "already_exists"
    kind = Kind.CONFLICT
    fields = ("path",)
    path: str | None


class HistoryRewritten(CyberosError):
    """What was imported before is not in the repository's history any more."""

    code = "history_rewritten"
    kind = Kind.CONFLICT
    fields = ("repository", "commit")
    repository: str | None
    commit: str | None


class StoreLocked(CyberosError):
    """Another process is writing to the store."""

    code = "store_locked"
    kind = Kind.BUSY
    fields = ("store", "actor", "pid", "host", "since")
    store: str | None
    actor: str | None
    pid: int | None
    host: str | None
    since: str | None


# The store is damaged, or cannot be used as it is.


class CorruptLog(CyberosError):
    """Bytes that were acknowledged are not what they must be."""

    code = "corrupt_log"
    kind = Kind.CORRUPT
    fields = ("file", "offset", "seq")
    file: str | None
    offset: int | None
    seq: int | None


class CorruptArchive(CyberosError):
    """What is in an archive is not what it says."""

    code = "corrupt_archive"
    kind = Kind.CORRUPT
    fields = ("archive", "member")
    archive: str | None
    member: str | None


class CorruptRepository(CyberosError):
    """git cannot read all of a repository."""

    code = "corrupt_repository"
    kind = Kind.CORRUPT
    fields = ("repository",)
    repository: str | None


class UnsupportedStore(CyberosError):
    """The store has a format that this version of cyberos does not know."""

    code = "unsupported_store"
    kind = Kind.CONFIG
    fields = ("store", "format_version")
    store: str | None
    format_version: int | None


class ProgramMissing(CyberosError):
    """A program that this needs is not installed."""

    code = "program_missing"
    kind = Kind.CONFIG
    fields = ("program",)
    program: str | None


class BadConfig(CyberosError):
    """A settings file says something that cannot be."""

    code = "bad_config"
    kind = Kind.CONFIG
    fields = ("file", "key")
    file: str | None
    key: str | None


class ExtraMissing(CyberosError):
    """A package that this needs is not installed."""

    code = "extra_missing"
    kind = Kind.CONFIG
    fields = ("extra",)
    extra: str | None


# The machine let us down.


class IoFailure(CyberosError):
    """The operating system refused an operation on a file."""

    code = "io_failure"
    kind = Kind.INTERNAL
    fields = ("file", "errno")
    file: str | None
    errno: int | None

    @staticmethod
    def of(what: str, file: str, error: OSError) -> "IoFailure":
        """Returns the error for what cannot be done to a file: `DiskFull` where there is no room for it."""
        cls = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else IoFailure
        return cls(f"{what} {file}: {error.strerror}", file=file, errno=error.errno)


class DiskFull(IoFailure):
    """There is no room left where the store lies."""

    code = "disk_full"


class WriterPoisoned(CyberosError):
    """An earlier write could not be made durable, so this writer takes no more."""

    code = "writer_poisoned"
    kind = Kind.INTERNAL
