"""The one table of HTTP statuses. Nothing is imported here that the extra `serve` brings."""

from typing import Final

from cyberos import errors
from cyberos.errors import CyberosError, Kind

STATUSES: Final = {
    Kind.FINDINGS: 200,
    Kind.USAGE: 422,
    Kind.NOT_FOUND: 404,
    Kind.REFUSED: 403,
    Kind.CONFLICT: 409,
    Kind.BUSY: 503,
    Kind.CORRUPT: 500,
    Kind.KEY: 500,
    Kind.CONFIG: 500,
    Kind.INTERNAL: 500,
}

# Where HTTP says more of an error than of its kind.
_OWN: Final[dict[type[CyberosError], int]] = {
    errors.StoreNotFound: 500,  # what the client asked for is not the store: the server has lost it
    errors.BodyPurged: 410,
    errors.PathRefused: 422,
    errors.BodyRefused: 422,
    errors.PreconditionFailed: 412,
    errors.TokenRefused: 401,
    errors.HostRefused: 421,
    errors.MethodRefused: 405,
    errors.DiskFull: 507,
}


def status_of(error: type[CyberosError]) -> int:
    """Returns the status that answers with this error."""
    for cls in error.__mro__:
        if cls in _OWN:
            return _OWN[cls]
    return STATUSES[error.kind]
