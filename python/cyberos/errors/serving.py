"""A server cannot listen, or a request never gets as far as a memory."""

from cyberos.errors.family import CyberosError, Kind


class AddressInUse(CyberosError):
    """Another program listens at this address."""

    code = "address_in_use"
    kind = Kind.BUSY
    fields = ("host", "port")
    host: str | None
    port: int | None


class TokenRefused(CyberosError):
    """The request does not carry the token that this server demands."""

    code = "token_refused"
    kind = Kind.KEY


class HostRefused(CyberosError):
    """The request is meant for a host that this server does not answer for."""

    code = "host_refused"
    kind = Kind.REFUSED
    fields = ("host",)
    host: str | None


class EndpointNotFound(CyberosError):
    """Nothing is served at this URL."""

    code = "endpoint_not_found"
    kind = Kind.NOT_FOUND
    fields = ("url",)
    url: str | None


class MethodRefused(CyberosError):
    """This URL takes other methods."""

    code = "method_refused"
    kind = Kind.USAGE
    fields = ("method",)
    method: str | None
