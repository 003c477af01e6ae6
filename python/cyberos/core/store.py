"""Making a store, and its settings anew."""

import os
import uuid
from pathlib import Path

from cyberos import _native, clock, config, layout
from cyberos.core import protocol
from cyberos.errors import AlreadyExists, IoFailure


def init(folder: str | os.PathLike[str], *, allow_network_file_system: bool = False) -> Path:
    """Makes an empty store in `folder`, which may exist but must be empty; returns its path.

    The manifest is written last: a folder without one is not a store.
    """
    root = Path(folder).absolute()
    if layout.is_store(os.fspath(root)):
        lost = not (root / layout.MANIFEST).exists()
        raise AlreadyExists(
            f"there is a store at {root} already" + (", which has lost its manifest.json" if lost else ""),
            path=os.fspath(root),
            hint="`cyberos doctor --repair` writes it again" if lost else (),
        )
    if not allow_network_file_system:
        _native.check_local(next(parent for parent in (root, *root.parents) if parent.exists()))
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if strays := sorted(os.listdir(root)):
            raise AlreadyExists(
                f"{root} is not empty: it has {', '.join(strays[:3])}",
                path=os.fspath(root),
                hint="choose a new folder",
            )
        (root / layout.AUDIT).mkdir(mode=0o700)
        (root / "memories").mkdir(mode=0o700)
        _write(root / layout.HEAD, bytes(8))
        _write(root / layout.ACTIVE_SEGMENT, b"")
        _write(root / layout.PROTOCOL, protocol.BASE_TEXT.encode())
        _write(root / layout.MANIFEST, _manifest(allow_network_file_system=allow_network_file_system))
    except FileExistsError as error:
        raise AlreadyExists(f"{root} is a file", path=os.fspath(root), hint="choose a new folder") from error
    except OSError as error:
        raise IoFailure(
            f"cannot make a store at {root}: {error.strerror}", file=os.fspath(root), errno=error.errno
        ) from error
    return root


def restore_manifest(folder: str | os.PathLike[str], *, is_ours: bool) -> None:
    """Writes the defaults where a store has no manifest. `is_ours`: whether its log is known to be this program's."""
    root = Path(folder)
    temporary = root / f"{layout.MANIFEST}.tmp"
    try:
        temporary.unlink(missing_ok=True)
        _write(temporary, _manifest(is_ours=is_ours))
        temporary.rename(root / layout.MANIFEST)
    except OSError as error:
        file = os.fspath(root / layout.MANIFEST)
        raise IoFailure(f"cannot write {file}: {error.strerror}", file=file, errno=error.errno) from error


def _manifest(**facts: bool) -> bytes:
    return config.new_manifest(f"store-{uuid.uuid4().hex[:12]}", clock.now_ns(), **facts)


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(descriptor)
