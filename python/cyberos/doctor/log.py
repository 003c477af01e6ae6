"""The log: frames, order, canonical rows, links and hashes, the tip, HEAD, and files beside the segments."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.core import repair
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family

_SEGMENT: Final = re.compile(r"current\.binlog|[0-9]{4}-[0-9]{2}_[0-9]{2,}\.binlog(\.zst)?")
_KEPT: Final = re.compile(r"(torn|lost)-[0-9]{20}-.+")
_TEMPORARY: Final = re.compile(r".+\.tmp")
_KNOWN: Final = frozenset({"tip", "objects", "mmr", "checkpoints"})

_GIVE_UP: Final = (
    "move the log from here on aside, record anew the rows behind it that are whole, and say in a row what was lost"
)


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the log."""
    survey = exam.survey
    pending = repair.pending_loss(exam.store)
    if pending:
        yield Finding(
            "log.loss_unfinished", Severity.ERROR, "giving up damaged rows was interrupted", layout.AUDIT,
            remedy=Remedy.REPAIR, repair="finish it",
        )  # fmt: skip
    for name, file, offset, seq, what in exam.faults:
        if pending and name == "tip":
            continue
        yield Finding(f"log.{name}", Severity.ERROR, what, file, seq, offset, Remedy.ACCEPT_LOSS, _GIVE_UP)
    if survey.truncated:
        yield Finding("log.more", Severity.ERROR, "more rows are damaged than are listed here", layout.AUDIT)
    if not pending:
        yield from _tip(exam)
    if survey.torn_tail is not None:
        file, offset, length = survey.torn_tail
        yield Finding(
            "log.torn_tail", Severity.INFO,
            f"{length} bytes of a row that was never finished lie behind the last one", file,
            offset=offset, remedy=None if exam.faults else Remedy.REPAIR,
            repair=None if exam.faults else "move them into a file of their own",
        )  # fmt: skip
    yield from _head(exam)
    yield from _files(exam, pending=pending)


def _tip(exam: Examination) -> Iterator[Finding]:
    survey = exam.survey
    if survey.tip not in ("lost", "damaged"):
        return
    kind, what = ("missing", "is not there") if survey.tip == "lost" else ("damaged", "cannot be read")
    whole = not exam.faults
    yield Finding(
        f"log.tip_{kind}", Severity.ERROR,
        f"the record of what was acknowledged {what}: rows may be missing at the end unseen", layout.TIP,
        remedy=Remedy.REPAIR if whole else Remedy.ACCEPT_LOSS,
        repair="write it again from the log, which is whole from its start" if whole else _GIVE_UP,
    )  # fmt: skip


def _head(exam: Examination) -> Iterator[Finding]:
    state, detail = exam.survey.head
    last = exam.survey.last_seq
    found = {
        "missing": (Severity.WARNING, "HEAD is not there"),
        # Every crash leaves it so, and the next writer catches up.
        "behind": (Severity.INFO, f"HEAD says {detail}, and the log ends with row {last}"),
        "wrong": (Severity.WARNING, f"HEAD is wrong: {detail}"),
    }.get(state)
    if found is None or exam.faults or (state == "missing" and last == 0):
        return
    severity, message = found
    yield Finding("log.head", severity, message, layout.HEAD, last, remedy=Remedy.REPAIR, repair="write it again")


def _files(exam: Examination, *, pending: bool) -> Iterator[Finding]:
    folder = exam.path(layout.AUDIT)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        file = f"{layout.AUDIT}/{name}"
        if name in _KNOWN or name == repair.LOSS_PLAN:
            continue
        if name.endswith((".binlog", ".binlog.zst")):
            if not _SEGMENT.fullmatch(name):
                yield Finding("log.segment_name", Severity.INFO, "this is no name that a segment is given", file)
            elif name.endswith(".zst") and name.removesuffix(".zst") in names:
                yield Finding(
                    "log.segment_twice", Severity.INFO,
                    f"{name.removesuffix('.zst')} is there as well, and is the one that is read", file,
                )  # fmt: skip
        elif _KEPT.fullmatch(name):
            yield Finding("log.kept", Severity.INFO, "bytes that a recovery moved aside; nothing reads them", file)
        elif _TEMPORARY.fullmatch(name):
            if pending:
                continue  # what is still to be put in its place
            yield Finding(
                "log.leftover", Severity.INFO, "an interrupted repair left this; nothing reads it", file,
                remedy=Remedy.REPAIR, repair="remove it",
            )  # fmt: skip
        else:
            yield Finding("log.stray", Severity.WARNING, "this is no part of a log", file)


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:
    """Carries out what the findings call for, what everything else needs first."""
    ids = {finding.id for finding in findings}
    if "log.loss_unfinished" in ids:
        seq = repair.finish_loss(exam.store, patience=exam.patience)
        yield Step(f"finished giving up damaged rows, which row {seq} records")
    if ids & {"log.tip_missing", "log.tip_damaged"}:
        seq = repair.rebuild_tip(exam.store, patience=exam.patience)
        yield Step(f"wrote {layout.TIP} again: the log is whole up to row {seq}")
    for finding in findings:
        if finding.id == "log.leftover" and finding.file:
            repair.remove_leftovers(exam.store, [finding.file], patience=exam.patience)
            yield Step(f"removed {finding.file}")
    if "log.torn_tail" in ids:
        kept = repair.recover(exam.store, patience=exam.patience)
        yield Step(f"moved the unfinished row into {layout.AUDIT}/{kept}" if kept else "the unfinished row is gone")
    if ids & {"log.head", "log.loss_unfinished"}:
        repair.rebuild(exam.store, patience=exam.patience)
        yield Step("wrote HEAD, peaks and the path index again")


FAMILY: Final = Family("log", check, restore)
