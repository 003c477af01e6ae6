"""Heads that are signed without being asked, when a command has written."""

import json
import os
import threading

import pytest

from cyberos import _native, config
from cyberos.core.changes import Put
from cyberos.core.writer import Writer
from cyberos.crypto.keys import Keys
from cyberos.errors import BadConfig
from cyberos.operations import automatic, checkpoints
from cyberos.operations.automatic import Signer
from tests.trust.conftest import X


def sizes(store):
    return [head.size for head in checkpoints.list_heads(str(store)).checkpoints]


def every(store, rows):
    manifest = json.loads((store / "manifest.json").read_text())
    (store / "manifest.json").write_text(json.dumps({**manifest, "checkpoints": {"every_rows": rows}}))


def put(cli, store, *bodies):
    """Writes one version after the other; returns what the last command did."""
    runs = []
    for body in bodies:
        file = store.parent / "body"
        file.write_text(body)
        runs.append(cli("--store", store, "put", X, file))
        assert runs[-1].code == 0
    return runs[-1]


def test_a_head_is_signed_every_so_many_rows_and_copied(cli, store, held, tmp_path):
    every(store, 3)
    place = tmp_path / "elsewhere.txt"
    assert cli("--store", store, "checkpoint", "copies", "--add", place).code == 0
    put(cli, store, "1", "2")
    assert sizes(store) == []
    assert put(cli, store, "3").err == ""
    put(cli, store, "4", "5", "6", "7")
    assert sizes(store) == [3, 6]
    for command in (["move", X, "memories/y.md"], ["restore", "memories/y.md@1"], ["delete", "memories/y.md"]):
        assert cli("--store", store, *command).code == 0
    assert sizes(store) == [3, 6, 9]
    assert place.read_text().count("\n\n— ") == 3
    assert cli("--store", store, "verify", "--against", place).code == 0


def test_an_import_signs_one_head(cli, store, held, tmp_path):
    every(store, 5)
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.md").write_text(str(number))
    assert cli("--store", store, "import", "dir", folder, "--dry-run").code == 0
    assert sizes(store) == []
    assert cli("--store", store, "import", "dir", folder).code == 0
    assert sizes(store) == [20]


def test_a_sealed_segment_is_signed_where_there_is_a_key(cli, store, held, tmp_path, monkeypatch):
    writer = _native.Writer(store, max_segment_bytes=1000)
    for number in range(6):
        writer.submit([("put", "ann", 1_800_000_000_000_000_000 + number, {}, X, b"%d" % number, None)])
    writer.close()
    assert len([name for name in os.listdir(store / "audit") if name.endswith(".binlog")]) > 1
    monkeypatch.setenv("CYBEROS_CONFIG", str(tmp_path / "nobody"))
    assert put(cli, store, "a").err == "", "who has no key has not asked for it"
    assert sizes(store) == []
    monkeypatch.setenv("CYBEROS_CONFIG", held.folder)
    put(cli, store, "b")
    assert sizes(store) == [8]
    put(cli, store, "c")
    assert sizes(store) == [8], "nothing was sealed since"


def test_without_a_key_the_change_is_made_and_the_warning_says_why_nothing_is_signed(cli, store, tmp_path):
    every(store, 1)
    run = put(cli, store, "1")
    assert "put memories" in run.out
    assert run.err.startswith("warning: the log's head is not signed: there is no key file:default")
    assert cli("--store", store, "verify").code == 0


def test_a_rollback_is_noticed_by_whoever_writes_on(cli, store, held, copy, put_back):
    every(store, 2)
    put(cli, store, "1", "2")
    before = copy("before")
    put(cli, store, "3", "4")
    assert sizes(store) == [2, 4]
    put_back(before)
    assert put(cli, store, "5").err == ""
    assert "not those that were signed" in put(cli, store, "6").err


def test_a_writer_that_stays_open_signs_as_rows_come(store, held):
    every(store, 3)
    told: list[str] = []
    with Writer(store, actor="ann", signer=Signer(store, held, tell=told.append)) as writer:
        for number in range(8):
            writer.put(X, f"{number}")
        assert sizes(store) == [3, 6]
        writer.put(X, "7")  # nothing to be changed, so nothing to be signed
        with writer.batch() as batch:
            for number in range(7):
                batch.put(X, f"b{number}")
        assert sizes(store) == [3, 6, 15], "a batch is one commit"
        writer.delete(X, mode="purge", reason="asked")
        create(writer, 2)
        assert sizes(store) == [3, 6, 15, 18]
    assert told == []


def create(writer, count):
    for number in range(count):
        writer.put(f"memories/{number}.md", str(number))


def test_a_writer_that_cannot_sign_writes_on_and_says_so_now_and_then(store, tmp_path):
    every(store, 4)
    told: list[str] = []
    with Writer(store, actor="ann", signer=Signer(store, Keys(str(tmp_path), {}), tell=told.append)) as writer:
        create(writer, 13)
        assert writer.head_seq() == 13
    assert told == ["the log's head is not signed: there is no key file:default"] * 3


def test_a_writer_without_the_setting_signs_what_was_sealed(store, held):
    told: list[str] = []
    with Writer(store, actor="ann", signer=Signer(store, held, tell=told.append)) as writer:
        for day in range(4):
            when = 1_700_000_000_000_000_000 + day * 40 * 86_400 * 10**9
            writer.apply([Put(X, f"{day}")], times=[when])
            writer.apply([Put(X, f"{day} again")], times=[when + 1])
    assert sizes(store) == [3, 5, 7]
    assert told == []


def test_threads_that_share_a_writer_sign_what_is_due(store, held):
    every(store, 5)
    told: list[str] = []
    with Writer(store, actor="ann", signer=Signer(store, held, tell=told.append)) as writer:

        def write(name):
            for number in range(10):
                writer.put(f"memories/{name}.md", str(number))

        threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert told == []
    made = sizes(store)
    assert made == sorted(set(made))
    assert 35 < made[-1] <= 40
    assert checkpoints.hold(str(store), held, [checkpoints.REMEMBERED]).contradictions == []


def test_an_export_takes_a_head_along_that_is_signed_for_it(cli, store, held, tmp_path):
    put(cli, store, "1", "2", "3")
    run = cli("--store", store, "export", tmp_path / "1.zip", "--at", "2")
    assert (run.code, run.err, "signed by " in run.out) == (0, "", True)
    run = cli("--store", store, "export", tmp_path / "2.zip", "--json")
    assert json.loads(run.out)["head"]["size"] == 3
    assert sizes(store) == [2, 3]
    assert cli("--store", store, "export", tmp_path / "again.zip").code == 0
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    assert cli("--store", store, "export", tmp_path / "1 again.zip", "--at", "2").code == 0
    assert (tmp_path / "1 again.zip").read_bytes() == (tmp_path / "1.zip").read_bytes()
    assert cli("import", "zip", tmp_path / "2.zip", tmp_path / "made").code == 0
    assert sizes(tmp_path / "made") == [2, 3]
    for place in ("remembered", tmp_path / "made/audit/checkpoints"):
        assert cli("--store", tmp_path / "made", "verify", "--against", place).code == 0


def test_an_export_that_cannot_be_signed_is_made_all_the_same(cli, store, held, tmp_path, monkeypatch):
    assert json.loads(cli("--store", store, "export", tmp_path / "0.zip", "--json").out)["head"] is None, "no rows"
    put(cli, store, "1")
    assert cli("--store", store, "export", tmp_path / "0.zip").code == 5
    assert sizes(store) == [], "nothing was exported"
    os.chmod(os.path.join(held.folder, "keys/default.key"), 0o644)
    run = cli("--store", store, "export", tmp_path / "1.zip")
    assert (run.code, "not signed" in run.err, "signed by" in run.out) == (0, True, False)
    monkeypatch.setenv("CYBEROS_CONFIG", str(tmp_path / "nobody"))
    run = cli("--store", store, "export", tmp_path / "2.zip")
    assert (run.code, run.err) == (0, "")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


@pytest.mark.parametrize("rows", [-1, 1.5, "3", True])
def test_the_setting_is_a_number_of_rows(rows):
    with pytest.raises(BadConfig, match=r"checkpoints\.every_rows"):
        config.parse(json.dumps({"checkpoints": {"every_rows": rows}}).encode())


def test_odd_names_among_the_heads_are_passed_over(store, grow):
    grow(1, 2)
    folder = store / "audit/checkpoints"
    folder.mkdir()
    (folder / "readme.txt").write_text("x")
    (folder / f"{'²' * 20}.txt").write_text("x")
    assert automatic.is_due(str(store), 2)
    assert not automatic.is_due(str(store), 3)
    assert not automatic.is_due(str(store), 0)
