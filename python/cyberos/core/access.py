"""The access lists of a store, with the one YAML parser."""

import os

from cyberos import _native
from cyberos.core import acl, protocol


def rules(store: str | os.PathLike[str]) -> acl.Acl:
    """Returns the access lists of a store as they are now; use them for one group of writes."""
    binding = protocol.ACL in protocol.sections(protocol.load(store))
    return acl.Acl(store, _native.parse_yaml, binding=binding)
