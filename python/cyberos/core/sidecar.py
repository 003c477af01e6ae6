"""The fields that upstream may keep beside a memory: those of `x.md` in `x.meta.json`.

The log does not speak of sidecars, so what they held before is not known: they say something of one version only, the
one in the working file. Where they name a content (`extra.body_hash`, as upstream writes it), it has to be that one.
"""

import os
from typing import Any, Final, NamedTuple

from cyberos import _native
from cyberos.core import paths
from cyberos.core.bodies import sha256_of, working_file
from cyberos.errors import BadArgument, BodyRefused, PathRefused

_PREFIX: Final = "sha256:"


class Sidecar(NamedTuple):
    """What lies beside a memory: its fields, or the reason why they are not those of the version asked for."""

    path: str
    fields: dict[str, Any]
    reason: str | None = None


def path_of(path: str) -> str | None:
    """Returns where the sidecar of a memory would be."""
    return path.removesuffix(".md") + paths.SIDECAR_SUFFIX if path.endswith(".md") else None


def memory_of(path: str) -> str:
    """Returns the memory whose fields a sidecar holds."""
    return path.removesuffix(paths.SIDECAR_SUFFIX) + ".md"


def is_sidecar(path: str) -> bool:
    """Whether a file of this name holds another memory's fields."""
    return path.endswith(paths.SIDECAR_SUFFIX)


def read(store_path: str | os.PathLike[str], path: str, sha256: str) -> Sidecar | None:
    """Returns the sidecar of the memory at `path` for its version with this SHA-256; `None` where there is none."""
    beside = path_of(path)
    if beside is None:
        return None
    try:
        raw = working_file(store_path, beside)
        if raw is None:
            return None
        fields = _native.parse_json(raw)
    except (BadArgument, BodyRefused, PathRefused) as error:
        return Sidecar(beside, {}, f"{beside} cannot be read: {error}")
    if not isinstance(fields, dict):
        return Sidecar(beside, {}, f"{beside} cannot be read: it is no JSON object")
    extra = fields.get("extra")
    named = extra.get("body_hash") if isinstance(extra, dict) else None
    if isinstance(named, str) and named:
        described = named.removeprefix(_PREFIX)
    else:
        body = working_file(store_path, path)
        described = "" if body is None else sha256_of(body)
    if described != sha256:
        return Sidecar(beside, {}, f"{beside} is about another content")
    return Sidecar(beside, fields)


def frontmatter(content: bytes, sidecar: Sidecar | None) -> tuple[dict[str, Any] | None, str | None]:
    """Returns the fields of a version, those of its sidecar among them, or `None` and why they cannot be read.

    The version's own win: the log vouches for them. Without frontmatter there are no fields and no reason.
    """
    own, why, _ = _native.split_memory(content)
    if why is not None:
        return None, why
    if sidecar is None or not sidecar.fields:
        return own, None
    return {**sidecar.fields, **(own or {})}, None


def merged(content: bytes, sidecar: Sidecar | None) -> bytes:
    """Returns a version's bytes with the fields of its sidecar in its frontmatter, for comparing."""
    own, why, _ = _native.split_memory(content)
    if sidecar is None or why is not None:
        return content
    further = {name: value for name, value in sidecar.fields.items() if name not in (own or {})}
    return _native.with_meta(further, content)


def left_behind(store_path: str | os.PathLike[str], path: str) -> str | None:
    """Returns what to say of the sidecar of a memory that was moved or deleted; `None` where there is none."""
    beside = path_of(path)
    if beside is None or not os.path.lexists(os.path.join(store_path, beside)):
        return None
    return f"{beside} stays where it is: it holds fields of {path}, and no row speaks of it"
