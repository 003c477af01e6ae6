"""Where everything in a store lies, and how a store is found. Paths inside a store are relative and use `/`."""

import os
from typing import Final

from cyberos.errors import StoreNotFound

# What a store has at its top.
MANIFEST: Final = "manifest.json"
PROTOCOL: Final = "AGENTS.md"
HEAD: Final = "HEAD"
LOCK: Final = ".lock"
AUDIT: Final = "audit"
SESSIONS: Final = "sessions"
INDEX: Final = "index"

ACTIVE_SEGMENT: Final = "audit/current.binlog"
TIP: Final = "audit/tip"
OBJECTS: Final = "audit/objects"
PEAKS: Final = "audit/mmr/peaks.bin"
CHECKPOINTS: Final = "audit/checkpoints"
SEARCH: Final = "index/search.db"
SEARCH_LOCK: Final = "index/search.lock"
ANCHORS_LOCK: Final = "index/anchors.lock"
ACTIVE_SESSION: Final = "sessions/.active"
SESSION_LEASE: Final = "sessions/.lease"

# The folders that hold memories.
MEMORY_ROOTS: Final = ("memories", "meta", "company", "module", "member", "client", "project", "persona")

# The access list of the folder it lies in and of all below.
ACL_FILE: Final = "STORE.yaml"

# Where a project keeps its store, seen from any folder of the project.
IN_PROJECT: Final = os.path.join(".cyberos", "memory", "store")


# Block memory's file, beside the store and not in it.
BLOCKS: Final = "blocks.db"


def blocks_file(store: str) -> str:
    """Returns where block memory lies, unless the store's settings say otherwise."""
    return os.path.join(os.path.dirname(os.path.abspath(store)), BLOCKS)


def is_store(folder: str) -> bool:
    """Whether `folder` holds a store: a manifest or, where that was lost, a log or what says that there was one."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in (MANIFEST, ACTIVE_SEGMENT, TIP))


def find_store(named: str | os.PathLike[str] | None, start: str | os.PathLike[str]) -> str:
    """Returns the folder of the store that is meant: the one that was named, else the project's nearest above `start`.

    A project's folder that is there but holds no store is an error and not passed over: the store above is another one.
    """
    if named is not None:
        folder = os.path.abspath(named)
        if not is_store(folder):
            raise StoreNotFound(f"no store at {folder}", store=folder, hint="run `cyberos init` to create one there")
        return folder
    here = os.path.abspath(start)
    parent = here
    while True:
        folder = os.path.join(parent, IN_PROJECT)
        if os.path.isdir(folder):
            return find_store(folder, start)
        above = os.path.dirname(parent)
        if above == parent:
            break
        parent = above
    if os.path.isfile(os.path.join(here, ACTIVE_SEGMENT)):  # a manifest.json alone may be anybody's
        raise StoreNotFound(f"{here} is itself a store, and not a project that has one", hint="name it: --store .")
    raise StoreNotFound(
        f"no store in {here} or above it",
        hint=("run `cyberos init` to create one", "or name one with --store or CYBEROS_STORE"),
    )
