"""Making a store."""

import os
import uuid
from pathlib import Path

from cyberos import clock, config, layout
from cyberos.core import protocol
from cyberos.errors import AlreadyExists, IoFailure


def init(folder: str | os.PathLike[str]) -> Path:
    """Makes an empty store in `folder`, which may exist but must be empty; returns its path.

    The manifest is written last: a folder without one is not a store.
    """
    root = Path(folder).absolute()
    if layout.is_store(os.fspath(root)):
        raise AlreadyExists(f"there is a store at {root} already", path=os.fspath(root))
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
        manifest = config.new_manifest(f"store-{uuid.uuid4().hex[:12]}", clock.now_ns())
        _write(root / layout.MANIFEST, manifest)
    except FileExistsError as error:
        raise AlreadyExists(f"{root} is a file", path=os.fspath(root), hint="choose a new folder") from error
    except OSError as error:
        raise IoFailure(
            f"cannot make a store at {root}: {error.strerror}", file=os.fspath(root), errno=error.errno
        ) from error
    return root


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(descriptor)
