"""`cyberos doctor`."""

from collections.abc import Iterator

import click

from cyberos.cli import output
from cyberos.cli.options import Command
from cyberos.cli.settings import Settings, pass_settings
from cyberos.core.repair import LossPlan
from cyberos.doctor.findings import Finding
from cyberos.errors import BadArgument, Kind
from cyberos.operations import doctor as operations
from cyberos.operations.doctor import Diagnosis


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Do what can be done without losing or adding anything")
@click.option("--adopt", is_flag=True, help="With --repair: record files that were edited by hand as rows")
@click.option("--accept-loss", is_flag=True, help="With --repair: give damaged rows up; asks first")
@click.option("--dry-run", is_flag=True, help="With --accept-loss: only say what would be given up")
@click.option("--yes", is_flag=True, help="Give damaged rows up without asking")
@pass_settings
def doctor(
    settings: Settings,
    repair: bool,  # noqa: FBT001, they are the options' values
    adopt: bool,  # noqa: FBT001
    accept_loss: bool,  # noqa: FBT001
    dry_run: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
) -> Kind | None:
    """Check that the store is as it should be.

    Exits with 1 where errors or warnings remain. --repair makes anew what can be made from what is whole, and says
    what it does. Rows that are damaged are only given up with --accept-loss: their bytes are kept in files beside the
    log, the rows behind them that are whole are recorded anew, and a row says what happened.
    """
    if dry_run and not accept_loss:
        # Whoever asks for a trial must not get the repair.
        raise BadArgument("--dry-run goes with --accept-loss", argument="--dry-run", hint="`cyberos doctor` only looks")
    if (adopt or accept_loss) and not repair and not dry_run:
        raise BadArgument("--adopt and --accept-loss go with --repair", argument="--repair")
    store = settings.store()
    if accept_loss:
        plan = operations.plan_loss(store)
        if dry_run:
            output.emit(plan, _planned, as_json=settings.json)
            return Kind.FINDINGS if plan else None
        if plan is not None and not yes:
            _confirm(plan)
    with output.Progress("checking") as progress:
        if repair:
            found = operations.mend(
                store, actor=settings.actor(), adopt=adopt, accept_loss=accept_loss, progress=progress
            )
        else:
            found = operations.examine(store, progress=progress)
    output.emit(found, _human, as_json=settings.json)
    return None if found.healthy else Kind.FINDINGS


def _confirm(plan: LossPlan) -> None:
    for line in _planned(plan):
        output.say(line + "\n")
    output.confirm("Give these rows up?", assumed=False)


def _planned(plan: LossPlan | None) -> Iterator[str]:
    if plan is None:
        yield "the log is whole: there is nothing to give up"
        return
    yield f"{plan.file} at byte {plan.offset}: {output.printable(plan.reason)}"
    if plan.to_seq < plan.from_seq:
        yield "how many rows are lost is not known"
        return
    yield f"rows {plan.from_seq} to {plan.to_seq} would leave the log; the files that hold them are kept"
    yield f"{plan.whole} of them are whole and would be recorded anew"
    for first, last in plan.lost:
        yield f"row {first} would be lost" if first == last else f"rows {first} to {last} would be lost"


def _human(found: Diagnosis) -> Iterator[str]:
    for step in found.steps:
        yield f"{'done' if step.done else 'failed'}: {output.printable(step.what)}"
    for finding in found.findings:
        yield from _described(finding)
    counts = sum(finding.counts for finding in found.findings)
    wrong = "1 thing is not as it" if counts == 1 else f"{output.counted(counts, 'thing')} are not as they"
    verdict = "nothing is wrong" if found.healthy else f"{wrong} should be"
    yield f"{found.store}: {output.counted(found.rows, 'row')}; {verdict}"


def _described(finding: Finding) -> Iterator[str]:
    place = " ".join(
        part
        for part in (
            output.printable(finding.file) if finding.file else "",
            f"row {finding.seq}" if finding.seq else "",
            f"byte {finding.offset}" if finding.offset is not None else "",
        )
        if part
    )
    yield f"{finding.severity.value}[{finding.id}] {place}: {output.printable(finding.message)}"
    if finding.remedy is not None:
        flags = "--repair" if finding.remedy.value == "repair" else f"--repair --{finding.remedy.value}"
        yield f"  {flags}: {output.printable(finding.repair or '')}"
