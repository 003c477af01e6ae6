"""A log that its writer has rewritten: whole in itself, so that only a head that was signed before tells."""

import hashlib
import json
import shutil
import struct

import pytest

from cyberos.core import checkpoints
from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import LogRewritten
from cyberos.operations import checkpoints as operations
from tests.conformance.naive import crc32c
from tests.trust.conftest import X


def forged_suffix(store, grow, copy, put_back):
    """The last rows are replaced by as many others."""
    before = copy("before")
    grow(11, 20)
    yield
    put_back(before)
    grow(11, 20, " forged")


def cut_tail(store, grow, copy, put_back):
    """The last rows are gone, and everything that says that there were some."""
    before = copy("before")
    grow(11, 12)
    yield
    put_back(before)


def restored_old_copy(store, grow, copy, put_back):
    """An older copy of the whole store is put back, and writing goes on."""
    before = copy("before")
    grow(11, 20)
    yield
    put_back(before)
    grow(11, 14)


def fork(store, grow, copy, put_back):
    """Two logs go on from one: one of them was signed, the other one is shown, and is longer."""
    before = copy("before")
    grow(11, 20)
    yield
    put_back(before)
    grow(11, 40, " another")


def recomputed_chain(store, grow, copy, put_back):
    """One old row is changed, and all rows behind it are written anew, as they were."""
    grow(11, 20)
    yield
    manifest = (store / "manifest.json").read_bytes()
    rows = list(AuditChainReader(store).iter_rows())
    shutil.rmtree(store)
    stores.init(store)
    (store / "manifest.json").write_bytes(manifest)
    with Writer(store, actor="ann") as writer:
        for row in rows:
            body = "3 and more\n" if row["seq"] == 3 else f"{row['seq']}\n"
            writer._native.submit([("put", row["actor"], row["ts_ns"], {}, X, body.encode(), None)])


CASES = [forged_suffix, cut_tail, restored_old_copy, fork, recomputed_chain]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def rewrite(request, store, grow, copy, put_back, held):
    """A store of which the head is signed, and what rewrites it."""
    grow(1, 10)
    steps = request.param(store, grow, copy, put_back)
    next(steps)
    return lambda: next(steps, None)


@pytest.mark.parametrize("place", ["remembered", "file", "folder", "git"])
def test_only_the_signed_head_tells(rewrite, place, store, held, cli, tmp_path):
    made = operations.create(str(store), held)
    where = {
        "remembered": "remembered",
        "file": tmp_path / "head.txt",
        "folder": tmp_path / "heads",
        "git": tmp_path / "git",
    }
    if place == "file":
        assert cli("--store", store, "checkpoint", "export", "-o", where["file"]).code == 0
    elif place == "folder":
        where["folder"].mkdir()
        operations.copies(str(store), held.folder, add=str(where["folder"]))
    elif place == "git":
        assert _git(where["git"], "init", "-q") == 0
        operations.copies(str(store), held.folder, add=str(where["git"]))
    against = ["verify", "--json", "--against", where[place]]
    before = cli("--store", store, *against)
    assert (before.code, json.loads(before.out)["heads"]) == (0, 1)
    rewrite()
    # The log is whole: no check that knows only the store finds anything.
    assert cli("--store", store, "verify", "--deep").code == 0
    assert cli("--store", store, "doctor").code == 0
    run = cli("--store", store, *against)
    found = json.loads(run.out)
    assert (run.code, found["ok"]) == (1, False)
    assert [(finding["check"], finding["seq"]) for finding in found["findings"]] == [("checkpoint", made.head.size)]


def _git(folder, *command):
    import subprocess

    folder.mkdir(exist_ok=True)
    return subprocess.run(["git", *command], cwd=folder, check=False).returncode


def test_nothing_is_signed_that_contradicts_what_was_signed(rewrite, store, held):
    operations.create(str(store), held)
    rewrite()
    with pytest.raises(LogRewritten, match=r"rows are missing|not those that were signed"):
        operations.create(str(store), held)


def test_every_size_of_an_honest_log_agrees_with_every_head(store, grow, held):
    for last in range(1, 40, 3):
        grow(last, last + 2)
        operations.create(str(store), held)
    result = operations.hold(str(store), held, ["remembered"])
    assert (result.heads, result.contradictions) == (13, [])


def test_an_index_that_was_made_to_hide_it_hides_nothing(store, grow, copy, put_back, held):
    grow(1, 100)
    before = copy("before")
    grow(101, 800)
    operations.create(str(store), held)
    honest = [AuditChainReader(store).native.payload(seq) for seq in range(1, 769)]
    put_back(before)
    grow(101, 900, " forged")
    # The roots of the old rows under the marks of the new ones: as whole a file as any.
    level = [hashlib.sha256(b"\0" + payload).digest() for payload in honest]
    while len(level) > 3:
        level = [hashlib.sha256(b"\1" + left + right).digest() for left, right in zip(*[iter(level)] * 2, strict=True)]
    reader, records = AuditChainReader(store), b"CYBTREE1"
    for number, root in enumerate(level):
        record = root + bytes.fromhex(reader.row((number + 1) * 256)["chain"])
        records += record + struct.pack(">I", crc32c(record + struct.pack(">Q", number)))
    (store / "index/tree").mkdir(exist_ok=True)
    (store / "index/tree/nodes").write_bytes(records)
    assert reader.native.root(768) != reader.native.roots([768])[0], "the index lies"
    assert len(operations.hold(str(store), held, ["remembered"]).contradictions) == 1


def test_a_lying_index_is_told_by_doctor_and_made_anew(store, grow, cli):
    grow(1, 800)
    nodes = store / "index/tree/nodes"
    good = nodes.read_bytes()
    assert len(good) == 8 + 3 * 68
    assert cli("--store", store, "doctor").code == 0
    record = bytes(32) + good[8 + 32 : 8 + 64]
    nodes.write_bytes(good[:8] + record + struct.pack(">I", crc32c(record + bytes(8))) + good[8 + 68 :])
    run = cli("--store", store, "doctor")
    assert "index/tree" in run.out
    assert cli("--store", store, "doctor", "--repair", "--yes").code == 0
    assert nodes.read_bytes() == good


def test_another_log_of_the_same_key_is_told_by_its_id(store, grow, held, tmp_path, cli):
    grow(1, 3)
    operations.create(str(store), held)
    assert cli("--store", store, "checkpoint", "export", "-o", tmp_path / "head.txt").code == 0
    other = stores.init(tmp_path / "other")
    grow(1, 5, into=other)
    run = cli("--store", other, "verify", "--against", tmp_path / "head.txt")
    # The key at hand counts for the store at hand only: its name is the store's id.
    assert run.code == 1
    assert checkpoints.origin_of(store) in run.out
