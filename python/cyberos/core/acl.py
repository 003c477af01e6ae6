"""Who may write where: `STORE.yaml`.

The nearest `STORE.yaml` from a memory's folder upwards governs it; in that file the first entry whose pattern matches
the actor decides, else `default_mode` does. `read` and `deny` both refuse writes. A file that cannot be understood
refuses every write below it: nobody can say what its owner meant.

A store whose AGENTS.md has no §14.4 is only warned (the refusal is recorded and the write goes on), but
`sessions/STORE.yaml` always binds.
"""

import errno
import os
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from cyberos import layout
from cyberos.errors import AclDenied, BadConfig, CyberosError, command

READ_WRITE: Final = "read-write"
MODES: Final = ("read", READ_WRITE, "deny")
_STORE_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_MAX_BYTES: Final = 256 * 1024

ParseYaml = Callable[[bytes], object]


class Entry(NamedTuple):
    """One line of an access list."""

    pattern: str
    mode: str


class AccessList(NamedTuple):
    """One `STORE.yaml`; `yaml_path` is where it lies in the store."""

    yaml_path: str
    store_id: str
    default_mode: str
    entries: tuple[Entry, ...]


class Decision(NamedTuple):
    """What the access lists say of one actor's write to one path, and which line of them said it."""

    target_path: str
    actor: str
    mode: str = READ_WRITE
    store_id: str | None = None
    pattern: str | None = None
    matched_entry: str | None = None
    yaml_path: str | None = None
    warn_only: bool = False

    @property
    def refused(self) -> bool:
        """Whether the list refuses the write; that is recorded even where the write goes on."""
        return self.mode != READ_WRITE

    @property
    def allowed(self) -> bool:
        """Whether the write goes on."""
        return not self.refused or self.warn_only

    def row_extra(self, attempt_kind: str) -> dict[str, Any]:
        """Returns the `extra` of the `memory.acl_denied` row about an attempted `put`, `move` or `delete`."""
        return {
            "actor": self.actor,
            "attempt_kind": attempt_kind,
            "matched_entry": self.matched_entry,
            "mode": self.mode,
            "store_id": self.store_id,
            "target_path": self.target_path,
            "warn_only": self.warn_only,
            "yaml_path": self.yaml_path,
        }

    def error(self) -> AclDenied:
        """Returns the error for a write that does not go on."""
        return AclDenied(
            f"{self.yaml_path} does not let {self.actor!r} write {self.target_path} ({self.matched_entry})",
            path=self.target_path,
            actor=self.actor,
            mode=self.mode,
            store_id=self.store_id,
            matched_entry=self.matched_entry,
            yaml_path=self.yaml_path,
            hint=f"ask the store's owner, or see `{command('cyberos', 'acl', 'explain', self.target_path)}`",
        )


class Acl:
    """The access lists of one store, each read once: make a new one for each group of writes.

    `binding` says whether the store's AGENTS.md has §14.4.
    """

    def __init__(self, store: str | os.PathLike[str], parse_yaml: ParseYaml, *, binding: bool) -> None:
        """Reads nothing yet."""
        self._store = os.fspath(store)
        self._parse_yaml = parse_yaml
        self._binding = binding
        self._lists: dict[str, AccessList | None] = {}

    def decide(self, actor: str, path: str) -> Decision:
        """Returns what governs `actor` writing `path`; raises `BadConfig` where that cannot be known."""
        governing = self._governing(path.rpartition("/")[0])
        if governing is None:
            return Decision(path, actor)
        entry = next((entry for entry in governing.entries if fnmatchcase(actor, entry.pattern)), None)
        mode = entry.mode if entry else governing.default_mode
        binding = self._binding or governing.yaml_path.startswith(layout.SESSIONS + "/")
        return Decision(
            target_path=path,
            actor=actor,
            mode=mode,
            store_id=governing.store_id,
            pattern=entry.pattern if entry else None,
            # Upstream's spelling, which names the actor and not the pattern.
            matched_entry=f"actor={actor!r} → mode={mode!r}" if entry else f"default → mode={mode!r}",
            yaml_path=governing.yaml_path,
            warn_only=mode != READ_WRITE and not binding,
        )

    def _governing(self, folder: str) -> AccessList | None:
        if folder not in self._lists:
            yaml_path = f"{folder}/{layout.ACL_FILE}" if folder else layout.ACL_FILE
            raw = _read(os.path.join(self._store, yaml_path), yaml_path)
            if raw is not None:
                self._lists[folder] = parse(raw, yaml_path, self._parse_yaml)
            else:
                self._lists[folder] = self._governing(folder.rpartition("/")[0]) if folder else None
        return self._lists[folder]


def parse(raw: bytes, yaml_path: str, parse_yaml: ParseYaml) -> AccessList:
    """Returns the access list in the bytes of a `STORE.yaml`; raises `BadConfig` where they say anything but one."""
    try:
        document = parse_yaml(raw)
    except (ValueError, CyberosError) as error:
        raise _malformed(yaml_path, f"it is not YAML: {error}") from error
    values = _mapping(document, yaml_path, "the file", ("store_id", "default_mode", "acl"))
    store_id = values.get("store_id")
    if not isinstance(store_id, str) or not _STORE_ID.fullmatch(store_id):
        raise _malformed(
            yaml_path, "store_id must be a small letter and then up to 63 of a-z, 0-9, _ and -", "store_id"
        )
    lines = values.get("acl", [])
    if not isinstance(lines, list):
        raise _malformed(yaml_path, "acl must be a list", "acl")
    default_mode = _mode(values.get("default_mode", READ_WRITE), yaml_path, "default_mode")
    entries = tuple(_entry(line, yaml_path, f"acl[{number}]") for number, line in enumerate(lines))
    return AccessList(yaml_path, store_id, default_mode, entries)


def _entry(line: object, yaml_path: str, where: str) -> Entry:
    values = _mapping(line, yaml_path, where, ("actor", "mode"))
    pattern = values.get("actor")
    if not isinstance(pattern, str) or not pattern:
        raise _malformed(yaml_path, f"{where}.actor must be a pattern in quotes", f"{where}.actor")
    return Entry(pattern, _mode(values.get("mode"), yaml_path, f"{where}.mode"))


def _mapping(value: object, yaml_path: str, where: str, known: tuple[str, ...]) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise _malformed(yaml_path, f"{where} must be a mapping of {', '.join(known)}")
    # A misspelt key must not leave the default in force unseen.
    for key in value:
        if key not in known:
            raise _malformed(yaml_path, f"{where} has the unknown key {key!r}; known are {', '.join(known)}", str(key))
    return value


def _mode(value: object, yaml_path: str, where: str) -> str:
    if isinstance(value, str) and value in MODES:
        return value
    raise _malformed(yaml_path, f"{where} must be one of {', '.join(MODES)}", where)


def _malformed(yaml_path: str, what: str, key: str | None = None) -> BadConfig:
    return BadConfig(
        f"{yaml_path} cannot be understood, so nothing below it can be written: {what}",
        file=yaml_path,
        key=key,
        hint=f"correct {yaml_path}",
    )


def _read(file: str, yaml_path: str) -> bytes | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # nothing can be there
            return None
        what = "it is a symbolic link" if error.errno == errno.ELOOP else f"it cannot be read: {error.strerror}"
        raise _malformed(yaml_path, what) from error
    try:
        with open(descriptor, "rb") as handle:
            raw = handle.read(_MAX_BYTES + 1)
    except OSError as error:
        raise _malformed(yaml_path, f"it cannot be read: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise _malformed(yaml_path, f"it is larger than {_MAX_BYTES // 1024} KiB")
    return raw
