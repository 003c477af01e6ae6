"""After damaged rows were given up: what the working files say of the rows that are lost.

A file that holds what no row says is recorded, as an edit by hand is (see `view`). A file that is not there tells
something too: a lost row may have deleted or moved its memory. Such a memory gets a tombstone. Its history and its
stored versions stay, so that it can be restored; a memory that someone wanted gone would otherwise come back unasked.
"""

from collections.abc import Iterator
from typing import Final

from cyberos.core import repair
from cyberos.core.reader import AuditChainReader
from cyberos.core.repair import Loss
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Step
from cyberos.doctor.view import Files
from cyberos.errors import CyberosError

_RECOVERED: Final = "recovered_from_seq"


def witness(exam: Examination) -> frozenset[str]:
    """Returns the working files that are there, before anything brings them up to date."""
    return frozenset(Files(exam.store).files)


def settle(exam: Examination, present: frozenset[str], loss: Loss) -> Iterator[Step]:
    """Gives a tombstone to each memory that had no working file and may have been deleted by a row that is lost."""
    last_lost = max((last for _, last in loss.plan.lost), default=0)
    reader = AuditChainReader(exam.store)
    for path, seq, _, _ in exam.survey.memories:
        # The number that the row had while the lost rows were still there.
        if path in present or reader.row(seq)["payload"].get(_RECOVERED, seq) > last_lost:
            continue
        reason = f"its file was gone when rows {loss.plan.from_seq} to {loss.plan.to_seq} were given up"
        try:
            row = repair.bury(exam.store, path, reason, actor=exam.actor, patience=exam.patience)
        except CyberosError as error:
            yield Step(f"could not record that {path} is gone: {error.message}", done=False)
        else:
            yield Step(f"recorded in row {row} that {path} is gone")
