"""A store's settings: `manifest.json`.

Ours and upstream's manifests are both read: every setting has a default, and keys that are not ours are left alone. A
manifest without `format_version` is upstream's, whose format is version 1.
"""

import os
from typing import Any, Final, NamedTuple

from cyberos import layout
from cyberos.clock import iso_seconds
from cyberos.errors import BadConfig, IoFailure

FORMAT_VERSION: Final = 1
MIB: Final = 1 << 20


class Sessions(NamedTuple):
    """Settings of the transcript ledger."""

    retention_days: int = 30


class Memories(NamedTuple):
    """Settings of memories."""

    max_body_bytes: int = MIB


class Checkpoints(NamedTuple):
    """Settings of signed heads. `every_rows`: after how many rows a head is signed without being asked; 0 for never."""

    every_rows: int = 0


class Redaction(NamedTuple):
    """What redaction leaves as it is: texts, and regular expressions that match all of such a text."""

    allow: tuple[str, ...] = ()
    allow_patterns: tuple[str, ...] = ()


class Blocks(NamedTuple):
    """Settings of block memory. `url`: where it lies; nothing for a file beside the store.

    `dormant_after_hours`: how long an open session is quiet before it is shown as dormant. `keys_kept_hours`: how long
    a request can be repeated with its key.
    """

    url: str | None = None
    dormant_after_hours: int = 24
    keys_kept_hours: int = 168


class Config(NamedTuple):
    """What a store's manifest says, with the defaults filled in."""

    store_id: str | None = None
    format_version: int = FORMAT_VERSION
    created_at: str | None = None
    sessions: Sessions = Sessions()
    memories: Memories = Memories()
    checkpoints: Checkpoints = Checkpoints()
    redaction: Redaction = Redaction()
    blocks: Blocks = Blocks()
    # Where locks may not keep other machines out; whoever sets it sees to it that no other machine writes.
    allow_network_file_system: bool = False
    # Upstream's manifests name no format.
    is_ours: bool = False


def new_manifest(store_id: str, now_ns: int, *, is_ours: bool = True, allow_network_file_system: bool = False) -> bytes:
    """Returns the manifest of a new store, with the fields that upstream's readers look for."""
    return encode(
        {
            "schema_version": 1,
            **({"format_version": FORMAT_VERSION} if is_ours else {}),
            "store_id": store_id,
            "created_at": iso_seconds(now_ns),
            "timezone": "UTC",
            "sessions": Sessions()._asdict(),
            "memories": Memories()._asdict(),
            **({"allow_network_file_system": True} if allow_network_file_system else {}),
        }
    )


def encode(manifest: dict[str, Any]) -> bytes:
    """Returns a manifest as it is written to disk."""
    import json  # not needed by a command that only reads a store

    return json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n"


def load(store: str | os.PathLike[str]) -> Config:
    """Reads a store's settings; a store that lost its manifest has the defaults."""
    file = os.path.join(store, layout.MANIFEST)
    try:
        with open(file, "rb") as handle:
            raw = handle.read(MIB + 1)
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise IoFailure(f"cannot read {file}: {error.strerror}", file=file, errno=error.errno) from error
    return parse(raw, file)


def parse(raw: bytes, file: str = layout.MANIFEST) -> Config:
    """Returns the settings in the bytes of a manifest; `file` is what an error names."""
    reader = _Reader(decode(raw, file), file)
    sessions, memories = reader.section("sessions"), reader.section("memories")
    checkpoints, redaction = reader.section("checkpoints"), reader.section("redaction")
    blocks = reader.section("blocks")
    return Config(
        store_id=reader.text("store_id"),
        format_version=reader.integer("format_version", FORMAT_VERSION, 1, None),
        created_at=reader.text("created_at"),
        sessions=Sessions(sessions.integer("retention_days", Sessions().retention_days, 1, 36_500)),
        memories=Memories(memories.integer("max_body_bytes", Memories().max_body_bytes, 1, 8 * MIB)),
        checkpoints=Checkpoints(checkpoints.integer("every_rows", Checkpoints().every_rows, 0, None)),
        redaction=Redaction(redaction.texts("allow"), redaction.texts("allow_patterns")),
        blocks=Blocks(
            blocks.text("url"),
            blocks.integer("dormant_after_hours", Blocks().dormant_after_hours, 1, 87_600),
            blocks.integer("keys_kept_hours", Blocks().keys_kept_hours, 1, 87_600),
        ),
        allow_network_file_system=reader.truth("allow_network_file_system"),
        is_ours=reader.has("format_version"),
    )


def decode(raw: bytes, file: str = layout.MANIFEST) -> dict[str, Any]:
    """Returns the object in the bytes of a manifest, unknown keys and all."""
    import json

    if len(raw) > MIB:
        raise BadConfig(f"{file} is larger than a manifest can be", file=file)
    try:
        manifest = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"{file} is not JSON: {error}", file=file) from None
    if not isinstance(manifest, dict):
        raise BadConfig(f"{file} is not a JSON object", file=file)
    return manifest


class _Reader:
    """Takes checked values out of one object of the manifest."""

    def __init__(self, values: dict[str, Any], file: str, prefix: str = "") -> None:
        self._values, self._file, self._prefix = values, file, prefix

    def _wrong(self, key: str, must: str) -> BadConfig:
        name = self._prefix + key
        return BadConfig(f"{self._file}: {name} must be {must}", file=self._file, key=name)

    def has(self, key: str) -> bool:
        return key in self._values

    def section(self, key: str) -> "_Reader":
        value = self._values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(key, "an object")
        return _Reader(value or {}, self._file, f"{self._prefix}{key}.")

    def truth(self, key: str) -> bool:
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(text, str) for text in value)):
            raise self._wrong(key, "a list of texts")
        return tuple(value or ())

    def integer(self, key: str, default: int, low: int, high: int | None) -> int:
        value = self._values.get(key)
        if value is None:
            return default
        if type(value) is not int or value < low or (high is not None and value > high):
            raise self._wrong(key, f"a whole number from {low} to {high}" if high else f"a whole number, {low} or more")
        return value
