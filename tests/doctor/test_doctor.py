"""What `doctor` says and does, as its users see it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from cyberos import _native, config
from cyberos.core.reader import AuditChainReader
from cyberos.doctor import registry
from cyberos.doctor.findings import Finding, Severity, Step
from cyberos.operations import doctor


def test_files_edited_by_hand_are_recorded_when_that_is_asked_for(store):
    (store / "memories/f/4.md").write_text("mine\n")
    (store / "memories/x.md").write_text("x\n")
    (store / "memories/no good.txt").write_text("no memory can have this name\n")
    first = doctor.mend(str(store), actor="ann", adopt=True)
    assert [step.what for step in first.steps] == [
        "recorded memories/f/4.md as row 21",
        "recorded memories/x.md as row 22",
    ]
    assert [(finding.id, finding.file) for finding in first.findings] == [("view.stray", "memories/no good.txt")]
    rows = AuditChainReader(store).recent(2)
    assert {(row["path"], row["actor"], row["payload"]["adopted"]) for row in rows} == {
        ("memories/f/4.md", "filesystem", True),
        ("memories/x.md", "filesystem", True),
    }
    assert doctor.mend(str(store), actor="ann", adopt=True).steps == ()


def test_who_may_not_write_may_not_have_an_edit_recorded(store):
    (store / "memories/f/STORE.yaml").write_text("store_id: f\ndefault_mode: read\n")
    (store / "memories/f/4.md").write_text("mine\n")
    found = doctor.mend(str(store), actor="ann", adopt=True)
    assert [(step.done, "does not let 'ann' write" in step.what) for step in found.steps] == [(False, True)]
    assert {(finding.id, finding.file) for finding in found.findings} == {("view.edited", "memories/f/4.md")}


def test_upstreams_store_shows_what_is_true_of_it(tmp_path):
    fixture = Path(__file__).parents[1] / "fixtures" / "peer-store"
    root = Path(shutil.copytree(fixture, tmp_path / "peer"))
    for file in (root, *root.rglob("*")):
        file.chmod(0o700 if file.is_dir() else 0o600)
    found = doctor.examine(str(root))
    assert {(finding.id, finding.file, finding.seq) for finding in found.findings} == {
        # A legacy row wrote it, and nothing else did.
        ("view.missing", "memories/facts/legacy-new.md", 424),
        ("bodies.not_kept", "audit/objects", None),
    }
    assert doctor.mend(str(root), actor="ann").findings == found.findings
    # A manifest that is written again must not claim a log whose writer knew no tip.
    (root / "manifest.json").unlink()
    assert doctor.mend(str(root), actor="ann").steps == (
        Step("wrote manifest.json with the defaults and a new store id"),
    )
    assert not config.load(root).is_ours
    assert doctor.examine(str(root)).findings == found.findings


def test_a_manifest_is_written_again_only_into_a_store(store, tmp_path, cli):
    (store / "manifest.json").unlink()
    run = cli("init", store)
    assert (run.code, "`cyberos doctor --repair` writes it again" in run.err) == (5, True)
    run = cli("--store", store, "doctor", "--repair")
    assert (run.code, run.out.splitlines()[0]) == (
        0,
        "done: wrote manifest.json with the defaults and a new store id",
    )
    assert config.load(store).is_ours
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine\n")
    assert cli("--store", tmp_path / "other", "doctor", "--repair").code == 3
    assert os.listdir(tmp_path / "other") == ["notes.txt"]


def test_layers_above_can_add_a_family(store, monkeypatch):
    monkeypatch.setattr(registry, "_above", [])
    found = Finding("mine.odd", Severity.WARNING, "this is odd")
    registry.register(registry.Family("mine", lambda exam: [found] if exam.survey.rows == 20 else []))
    assert doctor.examine(str(store)).findings == (found,)
    with pytest.raises(ValueError, match="mine"):
        registry.register(registry.Family("mine", lambda exam: []))


def test_the_command(store, cli):
    run = cli("--store", store, "doctor")
    assert (run.code, run.err) == (0, "")
    assert run.out == f"{store}: 20 rows; nothing is wrong\n"
    (store / "HEAD").unlink()
    run = cli("--store", store, "doctor")
    assert (run.code, run.err) == (1, "")
    assert run.out == (
        "warning[log.head] HEAD row 20: HEAD is not there\n"
        "  --repair: write it again\n"
        f"{store}: 20 rows; 1 thing is not as it should be\n"
    )
    run = cli("--store", store, "doctor", "--json")
    assert json.loads(run.out)["findings"] == [
        {
            "id": "log.head",
            "severity": "warning",
            "message": "HEAD is not there",
            "file": "HEAD",
            "seq": 20,
            "offset": None,
            "remedy": "repair",
            "repair": "write it again",
        }
    ]
    run = cli("--store", store, "doctor", "--repair")
    assert (run.code, run.out.splitlines()[0]) == (0, "done: wrote HEAD, peaks and the path index again")
    assert cli("--store", store, "doctor", "--adopt").code == 2


@pytest.mark.parametrize("options", [["--dry-run"], ["--repair", "--dry-run"], ["--repair", "--adopt", "--dry-run"]])
def test_a_trial_is_never_a_repair(store, cli, options):
    (store / "HEAD").unlink()
    run = cli("--store", store, "doctor", *options)
    assert (run.code, run.out) == (2, "")
    assert "--dry-run goes with --accept-loss" in run.err
    assert not (store / "HEAD").exists()


def test_information_alone_is_no_fault(store, cli):
    _native.Writer(store).submit([("aux", "ann", 1, {}, "what.is_this", "")])
    run = cli("--store", store, "doctor")
    assert (run.code, run.out.splitlines()[0].split(" ")[0]) == (0, "info[kinds.unknown]")
