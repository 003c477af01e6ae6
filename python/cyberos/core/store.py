"""Making a store, and its settings anew."""

import os
import uuid
from pathlib import Path

from cyberos import _native, clock, config, durable, layout
from cyberos.core import protocol
from cyberos.errors import AlreadyExists, IoFailure


def init(folder: str | os.PathLike[str], *, allow_network_file_system: bool = False) -> Path:
    """Makes an empty store in `folder`, which may exist but must be empty; returns its path.

    The manifest is written last of what makes it one: a folder without it is not a store.
    """
    root = Path(folder).absolute()
    if layout.is_store(os.fspath(root)):
        lost = not (root / layout.MANIFEST).exists()
        raise AlreadyExists(
            f"there is a store at {root} already" + (", which has lost its manifest.json" if lost else ""),
            path=os.fspath(root),
            hint="`cyberos doctor --repair` writes it again" if lost else (),
        )
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    if not allow_network_file_system:
        _native.check_local(missing[-1].parent if missing else root)
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
        durable.create(root / layout.HEAD, bytes(8))
        durable.create(root / layout.ACTIVE_SEGMENT, b"")
        durable.create(root / layout.PROTOCOL, protocol.BASE_TEXT.encode())
        durable.create(root / layout.MANIFEST, _manifest(allow_network_file_system=allow_network_file_system))
        # What is acknowledged later must not be lost with the name of a folder above it.
        for changed in (root / layout.AUDIT, root, *(each.parent for each in missing)):
            durable.sync_folder(changed)
        # Whoever writes first, be it another program, finds a log that says of itself what is acknowledged: nothing.
        _native.Repair(root, actor="init").rebuild_tip()
    except FileExistsError as error:
        raise AlreadyExists(f"{root} is a file", path=os.fspath(root), hint="choose a new folder") from error
    except OSError as error:
        raise IoFailure.of("cannot make a store at", os.fspath(root), error) from error
    return root


def restore_manifest(folder: str | os.PathLike[str], *, is_ours: bool) -> None:
    """Writes the defaults where a store has no manifest. `is_ours`: whether its log is known to be this program's."""
    root = Path(folder)
    durable.replace(root / layout.MANIFEST, _manifest(is_ours=is_ours))


def _manifest(**facts: bool) -> bytes:
    return config.new_manifest(f"store-{uuid.uuid4().hex[:12]}", clock.now_ns(), **facts)
