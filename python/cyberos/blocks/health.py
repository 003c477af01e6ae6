"""Block memory as a family of the doctor's invariants: the file beside the store, against the store's chain."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from cyberos import layout
from cyberos.doctor.examination import Examination
from cyberos.doctor.findings import Finding, Remedy, Severity, Step
from cyberos.doctor.registry import Family
from cyberos.errors import CyberosError


def check(exam: Examination) -> Iterator[Finding]:
    """Yields what is wrong with the projects that the store is enrolled in."""
    settings = exam.config
    if not exam.follows or settings is None:
        return
    told = [first for kind, _, first in exam.survey.kinds if kind.startswith("block.")]
    file = layout.blocks_file(exam.store)
    if settings.blocks.url is not None or not os.path.exists(file):
        if told and settings.blocks.url is None and _was_in_a_file(exam, min(told)):
            message = f"rows tell of block memory in a file, and {file} is not there"
            yield Finding("blocks.gone", Severity.WARNING, message, seq=min(told))
        elif told:
            message = "block memory lies elsewhere and was not looked at: `cyberos blocks check` does"
            yield Finding("blocks.elsewhere", Severity.INFO, message)
        return
    try:
        yield from _examined(exam, file, settings.store_id)
    except CyberosError as error:
        yield Finding(f"blocks.{error.code}", Severity.ERROR, error.message)


def _was_in_a_file(exam: Examination, seq: int) -> bool:
    """Whether the first row that tells of block memory says that it lay in a file."""
    from cyberos.core.reader import AuditChainReader

    return bool(AuditChainReader(exam.store).row(seq)["payload"].get("database") == "sqlite")


def _examined(exam: Examination, file: str, store_id: str | None) -> Iterator[Finding]:
    from cyberos.blocks import access, check, connector, enrolment
    from cyberos.blocks.schema import migrations
    from cyberos.core.reader import AuditChainReader

    database = connector.connect(file, patience=exam.patience)
    try:
        migrations.check(database)
        with database.read() as transaction:
            projects = enrolment.of_store(transaction, access.OWNER, store_id) if store_id else []
        reader = AuditChainReader(exam.store)
        for problem in check.forgotten(database, reader):
            yield Finding(f"blocks.{problem.id}", Severity.WARNING, problem.message)
        for project in projects:
            for problem in check.examine(database, project.project_id, access.OWNER, reader):
                where = f" ({problem.where})" if problem.where else ""
                message = f"{project.name}: {problem.message}{where}"
                if problem.id == check.NOT_ANCHORED:
                    yield Finding(
                        f"blocks.{problem.id}", Severity.WARNING, message,
                        remedy=Remedy.REPAIR, repair="tell it",
                    )  # fmt: skip
                else:
                    yield Finding(f"blocks.{problem.id}", Severity.ERROR, message)
    finally:
        database.close()


def restore(exam: Examination, findings: Sequence[Finding]) -> Iterator[Step]:  # noqa: ARG001, as others
    """Tells the chain what it has not been told."""
    from cyberos.blocks import access, anchor, connector, enrolment
    from cyberos.blocks.access import Caller
    from cyberos.blocks.engine import Engine

    settings = exam.config
    if settings is None or settings.store_id is None:
        return
    database = connector.connect(layout.blocks_file(exam.store), patience=exam.patience)
    try:
        with database.read() as transaction:
            projects = enrolment.of_store(transaction, access.OWNER, settings.store_id)
        for project in projects:
            to, caller = Engine(database), Caller(exam.actor)
            done = anchor.catch_up(to, caller, exam.store, project.project_id, patience=exam.patience)
            if done.rows:
                yield Step(f"told the chain of {done.rows} events of {project.name}")
    finally:
        database.close()


FAMILY: Final = Family("blocks", check, restore)
