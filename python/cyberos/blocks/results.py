"""What the operations of a session answer. Values of JSON only: an answer is kept as JSON to be given again.

`replayed` says that the request was carried out before, and this is the answer it got then.
"""

from typing import NamedTuple


class Started(NamedTuple):
    """A session that is open for its native reference. `created` says whether this made it; `status` is what it is now.

    `base_epoch` is the epoch it branched from, `epoch` the project's.
    """

    session_id: str
    native_ref: str
    generation: int
    successor_of: str | None
    status: str
    base_epoch: int
    epoch: int
    created: bool
    replayed: bool = False


class Appended(NamedTuple):
    """Blocks on a session's branch, in the order of the facts; `known` are those whose key was there already."""

    session_id: str
    started: bool
    blocks: list[str]
    known: list[str]
    replayed: bool = False


class Resumed(NamedTuple):
    """A session that goes on; `was` is the state it was found in."""

    session_id: str
    native_ref: str
    was: str
    base_epoch: int
    epoch: int
    blocks: int
    replayed: bool = False


class Ended(NamedTuple):
    """A session whose branch is canonical: `block_id` is the head of `epoch`, with one parent or two.

    `conflicts` are those found between it and what became canonical since the session began.
    """

    session_id: str
    block_id: str
    epoch: int
    parents: int
    conflicts: list[str]
    replayed: bool = False


class Abandoned(NamedTuple):
    """A session that is over and whose branch is not canonical."""

    session_id: str
    block_id: str
    replayed: bool = False


class Enrolled(NamedTuple):
    """A project that the store is enrolled in. `created` says whether this made it."""

    project_id: str
    name: str
    store_id: str
    created: bool
    bound: bool
