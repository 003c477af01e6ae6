"""The working files: a view of the log, which people edit by hand."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core import paths, repair, sidecar
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family
from cyberos.errors import CyberosError

# What a writer prepares a working file in.
_TEMPORARY: Final = re.compile(r"\.([0-9a-f]{16}|.+\.(md|json))\.tmp")
_ADOPT: Final = "record it as a row, by the actor filesystem"


def check(exam: Examination) -> Iterator[Finding]:
    """Yields how the working files differ from what the log says."""
    found = Files(exam.store)
    yield from found.odd
    yield from _collisions(found.files)
    if not exam.follows or exam.survey.tip == "damaged":
        return
    lagging = {path: set(versions) for path, versions in exam.survey.lagging}
    expected = {path: (seq, sha, stored) for path, seq, sha, stored in exam.survey.memories}
    for path, (seq, sha, stored) in expected.items():
        if path not in found.files:
            if path not in found.odd_paths:
                yield Finding(
                    "view.missing", Severity.WARNING, "the working file is not there", path, seq,
                    remedy=Remedy.REPAIR if stored else None,
                    repair="write it from the stored version" if stored else None,
                )  # fmt: skip
        elif (actual := _sha256(exam.path(path))) != sha and sha:
            yield _different(path, seq, stale=actual in lagging.get(path, ()))
    for path in sorted(found.files - expected.keys()):
        if sidecar.is_sidecar(path) and sidecar.memory_of(path) in expected:
            continue
        if path in lagging and _sha256(exam.path(path)) in lagging[path]:
            yield Finding(
                "view.stale", Severity.INFO, "the memory is gone and its working file is not yet", path,
                remedy=Remedy.REPAIR, repair="roll the view forward",
            )  # fmt: skip
        else:
            yield _stray(path)


def _different(path: str, seq: int, *, stale: bool) -> Finding:
    if stale:
        # Every crash leaves such files, and the next writer rolls them forward.
        return Finding(
            "view.stale", Severity.INFO, "the working file holds the version before", path, seq,
            remedy=Remedy.REPAIR, repair="roll the view forward",
        )  # fmt: skip
    return Finding(
        "view.edited", Severity.WARNING, "the working file is not what the log says: it was edited by hand", path, seq,
        remedy=Remedy.ADOPT, repair=_ADOPT,
    )  # fmt: skip


def _stray(path: str) -> Finding:
    try:
        paths.check_path(path)
    except CyberosError as error:
        return Finding("view.stray", Severity.WARNING, f"no row names this file, and none can: {error.message}", path)
    return Finding("view.stray", Severity.WARNING, "no row names this file", path, remedy=Remedy.ADOPT, repair=_ADOPT)


def _collisions(files: set[str]) -> Iterator[Finding]:
    spellings: dict[str, str] = {}
    for path in sorted(files):
        other = spellings.setdefault(paths.fold(path), path)
        if other != path:
            yield Finding(
                "view.collision", Severity.WARNING, f"this name differs from {other} only by case or Unicode form", path
            )


def _sha256(file: str) -> str | None:
    try:
        with open(file, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None


class Files:
    """What lies in the folders of memories."""

    def __init__(self, store: str) -> None:
        self.files: set[str] = set()
        self.odd: list[Finding] = []
        self._store = store
        for root in layout.MEMORY_ROOTS:
            if os.path.lexists(os.path.join(store, root)):
                self._look(root)
        self.odd_paths = {finding.file for finding in self.odd}

    def _look(self, path: str) -> None:
        full = os.path.join(self._store, path)
        name = path.rpartition("/")[2]
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            self._note(
                "view.symlink", Severity.WARNING, "a symbolic link: memories are plain files in plain folders", path
            )
        elif stat.S_ISDIR(mode):
            try:
                names = sorted(os.listdir(full))
            except OSError as error:
                self._note("view.unreadable", Severity.WARNING, f"the folder cannot be listed: {error.strerror}", path)
                return
            for below in names:
                self._look(f"{path}/{below}")
        elif not stat.S_ISREG(mode):
            self._note("view.not_a_file", Severity.WARNING, "neither a file nor a folder", path)
        elif _TEMPORARY.fullmatch(name):
            leftover = Finding(
                "view.leftover", Severity.INFO, "a write that was interrupted left this", path,
                remedy=Remedy.REPAIR, repair="remove it",
            )  # fmt: skip
            self.odd.append(leftover)
        elif name != layout.ACL_FILE:
            self.files.add(path)

    def _note(self, name: str, severity: Severity, message: str, path: str) -> None:
        self.odd.append(Finding(name, severity, message, path))


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:
    """Brings working files up to date, and records those that were edited by hand where that was asked for."""

    def of(name: str) -> list[str]:
        return [finding.file for finding in findings if finding.id == name and finding.file]

    if leftovers := of("view.leftover"):
        repair.remove_leftovers(exam.store, leftovers, patience=exam.patience)
        yield from (Step(f"removed {path}") for path in leftovers)
    if stale := of("view.stale"):
        repair.recover(exam.store, patience=exam.patience)
        yield from (Step(f"rolled {path} forward") for path in stale)
    if missing := of("view.missing"):
        written = repair.restore_files(exam.store, missing, patience=exam.patience)
        yield from (Step(f"wrote {path} from the stored version") for path in written)
    for path in [*of("view.edited"), *of("view.stray")]:
        try:
            seq = repair.adopt(exam.store, path, actor=exam.actor, patience=exam.patience)
        except CyberosError as error:
            yield Step(f"could not record {path}: {error.message}", done=False)
        else:
            yield Step(f"recorded {path} as row {seq}" if seq else f"{path} is what the log says by now")


FAMILY: Final = Family("view", check, restore)
