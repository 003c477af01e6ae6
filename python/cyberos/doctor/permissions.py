"""Who else on this machine can read or change the store."""

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Final

from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family

_OTHERS_ENTER: Final = stat.S_IXGRP | stat.S_IXOTH
_OTHERS_READ: Final = stat.S_IRGRP | stat.S_IROTH
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what others may do. A store whose own folder keeps others out has nothing to fear from what is inside."""
    mode = os.stat(exam.store).st_mode
    if not mode & (_OTHERS_ENTER | _OTHERS_READ | _OTHERS_WRITE):
        return
    readable = writable = 0
    for folder, _, files in os.walk(exam.store):
        for name in files:
            held = os.lstat(os.path.join(folder, name))
            if stat.S_ISREG(held.st_mode):
                readable += bool(held.st_mode & _OTHERS_READ)
                writable += bool(held.st_mode & _OTHERS_WRITE)
    repair = "let only its owner into the store's folder"
    if writable or mode & _OTHERS_WRITE:
        yield Finding(
            "permissions.writable", Severity.WARNING,
            f"other users of this machine can change the store ({writable} of its files)", ".",
            remedy=Remedy.REPAIR, repair=repair,
        )  # fmt: skip
    elif readable and mode & _OTHERS_ENTER:
        yield Finding(
            "permissions.readable", Severity.WARNING,
            f"other users of this machine can read the store ({readable} of its files)", ".",
            remedy=Remedy.REPAIR, repair=repair,
        )  # fmt: skip


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, the same for every family
    """Lets only the owner in."""
    mode = stat.S_IMODE(os.stat(exam.store).st_mode)
    os.chmod(exam.store, mode & ~(stat.S_IRWXG | stat.S_IRWXO))
    yield Step("let only its owner into the store's folder")


FAMILY: Final = Family("permissions", check, restore)
