"""Damaged rows are given up only when that is asked for and confirmed; what was whole, and every old byte, is kept."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cyberos.core import repair
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.operations import doctor

LOG = "audit/current.binlog"


def frames(raw: bytes | bytearray) -> list[tuple[int, int]]:
    at, found = 0, []
    while at < len(raw):
        end = at + 24 + int.from_bytes(raw[at : at + 4], "big")
        found.append((at, end))
        at = end
    return found


def overwrite(root: Path, change: Callable[[bytearray], object]) -> None:
    raw = bytearray((root / LOG).read_bytes())
    change(raw)
    (root / LOG).write_bytes(raw)


def damage_row(root: Path, row: int) -> None:
    def flip(raw: bytearray) -> None:
        raw[frames(raw)[row - 1][0] + 60] ^= 1

    overwrite(root, flip)


def damage_rows(*arguments: Any) -> None:
    *rows, root = arguments
    for row in rows:
        damage_row(root, row)


def damage_row_and_tip(root: Path) -> None:
    damage_row(root, 9)
    (root / "audit/tip").write_bytes(b"?")


def cut_after(root: Path, row: int, more: int = 0) -> None:
    def cut(raw: bytearray) -> None:
        del raw[frames(raw)[row - 1][1] + more :]

    overwrite(root, cut)


def lose(root: Path, *files: str) -> None:
    for file in files:
        (root / file).unlink()


def cut_without_tip(root: Path) -> None:
    cut_after(root, 15)
    lose(root, "audit/tip")


def garble(root: Path, first: int, last: int) -> None:
    def fill(raw: bytearray) -> None:
        start, end = frames(raw)[first - 1][0], frames(raw)[last - 1][1]
        raw[start:end] = b"\x55" * (end - start)

    overwrite(root, fill)


# How a log of twenty rows is damaged, the first row that is given up, and the rows that are lost.
DAMAGES: dict[str, tuple[Callable[[Path], object], int, list[tuple[int, int]]]] = {
    **{f"row {row}": (partial(damage_rows, row), row, [(row, row)]) for row in range(1, 21)},
    "rows 3 and 7": (partial(damage_rows, 3, 7), 3, [(3, 3), (7, 7)]),
    "rows 8 to 12": (lambda root: garble(root, 8, 12), 8, [(8, 12)]),
    "everything": (lambda root: garble(root, 1, 20), 1, [(1, 20)]),
    "cut after row 15": (lambda root: cut_after(root, 15), 16, [(16, 20)]),
    "cut in row 16": (lambda root: cut_after(root, 15, 30), 16, [(16, 20)]),
    "no log": (lambda root: (root / LOG).unlink(), 1, [(1, 20)]),
    "no log and no tip": (lambda root: lose(root, LOG, "audit/tip"), 1, [(1, 20)]),
    "cut after row 15, and no tip": (cut_without_tip, 16, [(16, 20)]),
    "row 9, and the tip": (damage_row_and_tip, 9, [(9, 9)]),
}


def working_files(root: Path) -> dict[str, bytes]:
    found = (file for file in (root / "memories").rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in found}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_can_be_given_up(damage, store):
    break_it, first, lost = DAMAGES[damage]
    files = working_files(store)
    break_it(store)
    old = {name: (store / name).read_bytes() for name in (LOG, "audit/tip") if (store / name).exists()}
    plan = doctor.plan_loss(str(store))
    assert plan is not None
    assert (plan.from_seq, plan.to_seq, list(plan.lost)) == (first, 20, lost)
    found = doctor.mend(str(store), actor="ann", accept_loss=True)
    assert [finding for finding in found.findings if finding.counts] == []
    assert found.loss is not None
    assert found.loss.plan == plan

    rows = list(AuditChainReader(store).iter_rows())
    (row,) = (row for row in rows if row["kind"] == "log.loss_accepted")
    assert (row["seq"], row["actor"]) == (first, "ann")
    assert (row["payload"]["from_seq"], row["payload"]["to_seq"]) == (first, 20)
    assert [tuple(pair) for pair in row["payload"]["lost"]] == lost
    kept = {entry["file"]: entry for entry in row["payload"]["kept"]}
    whole = {name.read_bytes() for name in (store / "audit").iterdir() if name.is_file()}
    assert all(raw in whole for raw in old.values() if raw), "a segment that is good to its end is kept as it is"
    for name, entry in kept.items():
        raw = (store / entry["kept_as"]).read_bytes()
        assert (raw, hashlib.sha256(raw).hexdigest()) == (old[name], entry["sha256"])
    again = [row["payload"]["recovered_from_seq"] for row in rows if "recovered_from_seq" in row["payload"]]
    gone = {seq for low, high in lost for seq in range(low, high + 1)}
    assert again == [seq for seq in range(first, 21) if seq not in gone]

    # The working files are as they were, and are what the log says.
    assert working_files(store) == files

    before = {name: name.read_bytes() for name in store.rglob("*") if name.is_file() and name.name != ".lock"}
    second = doctor.mend(str(store), actor="ann", accept_loss=True)
    assert (second.steps, second.loss) == ((), None)
    assert {name: name.read_bytes() for name in before} == before
    with Writer(store, actor="ann") as writer:
        writer.put("memories/after.md", "and on it goes\n")
    assert doctor.examine(str(store)).healthy


def test_what_nothing_is_known_of_is_given_up_as_unknown(store, cli):
    shutil.rmtree(store / "audit")
    (store / "HEAD").unlink()
    shown = cli("--store", store, "doctor", "--accept-loss", "--dry-run")
    assert (shown.code, shown.out.splitlines()[1]) == (1, "how many rows are lost is not known")
    found = doctor.mend(str(store), actor="ann", accept_loss=True)
    assert any("rows of unknown number were given up" in step.what for step in found.steps)
    rows = list(AuditChainReader(store).iter_rows())
    assert (rows[0]["kind"], rows[0]["payload"]["rows_lost"]) == ("log.loss_accepted", 0)
    assert found.healthy


def test_a_file_that_holds_a_lost_version_is_recorded(store):
    damage_row(store, 20)  # it wrote memories/new.md
    found = doctor.mend(str(store), actor="ann", accept_loss=True)
    assert found.healthy
    rows = list(AuditChainReader(store).iter_rows())
    last = rows[-1]
    assert (last["path"], last["actor"], last["payload"]["adopted"]) == ("memories/new.md", "filesystem", True)
    assert last["content_sha256"] == hashlib.sha256(b"newer\n").hexdigest()


@pytest.mark.parametrize("lost", [16, 17])
def test_a_memory_does_not_come_back_when_the_row_that_deleted_it_is_lost(lost, store):
    damage_row(store, lost)
    doctor.mend(str(store), actor="ann", accept_loss=True)
    path = {16: "memories/f/2.md", 17: "memories/f/3.md"}[lost]
    assert not (store / path).exists()
    (row,) = (row for row in AuditChainReader(store).iter_rows() if row["kind"] == "delete" and row["path"] == path)
    assert (row["actor"], row["payload"]["mode"]) == ("ann", "tombstone")
    assert row["payload"]["reason"] == f"its file was gone when rows {lost} to 20 were given up"


def test_nothing_is_given_up_without_being_asked(store):
    damage_row(store, 10)
    before = {name: name.read_bytes() for name in store.rglob("*") if name.is_file()}
    found = doctor.mend(str(store), actor="ann", adopt=True)
    assert {finding.id for finding in found.findings} == {"log.frame"}
    assert {name: name.read_bytes() for name in before} == before


def test_the_command_shows_what_it_would_do_and_wants_a_yes(store, program):
    damage_row(store, 10)
    before = (store / LOG).read_bytes()
    shown = (
        f"{LOG} at byte {frames(before)[9][0]}: the checksum does not match the payload\n"
        "rows 10 to 20 would leave the log; the files that hold them are kept\n"
        "10 of them are whole and would be recorded anew\n"
        "row 10 would be lost\n"
    )
    run = program("--store", store, "doctor", "--accept-loss", "--dry-run")
    assert (run.code, run.out, run.err) == (1, shown, "")
    run = program("--store", store, "doctor", "--repair", "--accept-loss")
    assert (run.code, run.out) == (4, "")
    assert run.err.startswith(shown + "error[not_confirmed]")
    assert (store / LOG).read_bytes() == before
    run = program("--store", store, "doctor", "--accept-loss", "--yes")
    assert run.code == 2
    run = program("--store", store, "doctor", "--repair", "--accept-loss", "--yes", "--json")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    assert (result["healthy"], result["loss"]["plan"]["from_seq"]) == (True, 10)
    run = program("--store", store, "doctor", "--accept-loss", "--dry-run", "--json")
    assert (run.code, run.out) == (0, "null\n")


def test_a_loss_that_was_interrupted_is_finished_by_a_plain_repair(store, ids):
    damage_row(store, 10)
    # The plan is written and then the tip cannot be replaced: something is where it would be prepared.
    (store / "audit/loss-tip.tmp").mkdir()
    with pytest.raises(Exception, match=r"loss-tip\.tmp|tip"):
        repair.accept_loss(str(store), actor="ann", patience=1)
    os.rmdir(store / "audit/loss-tip.tmp")
    assert ("log.loss_unfinished", "audit") in ids(store)
    found = doctor.mend(str(store), actor="ann")
    assert found.healthy
    assert [row["seq"] for row in AuditChainReader(store).iter_rows() if row["kind"] == "log.loss_accepted"] == [10]
    assert doctor.mend(str(store), actor="ann").steps == ()
