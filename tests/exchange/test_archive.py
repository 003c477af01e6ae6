"""Exports: the same bytes always, and a store again when they are imported."""

import base64
import os
import stat
import zipfile

import pytest

from cyberos import clock
from cyberos.core import store as stores
from cyberos.core.changes import Put
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import AlreadyExists, CorruptArchive, CorruptLog, VersionNotFound
from cyberos.operations import doctor, exporting, reading, sample, verify


@pytest.fixture
def filled(store, mock_time):
    with Writer(store, actor="ann") as writer:
        sample.fill(writer, 300, memories=40, now_ns=1_780_000_000_000_000_000)
        writer.put("memories/zeros.md", b"\0" * 100)
        writer.put("memories/empty.md", b"")
        writer.put("memories/secret.md", b"secret\n")
        writer.delete("memories/secret.md", mode="purge", reason="test")
        writer.put("memories/ü b.md", b"last\n")
    return store


def export(store, file, **options):
    return exporting.export(str(store), str(file), **options)


def members(file):
    with zipfile.ZipFile(file) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def memories(store):
    return {memory.path: memory.content_sha256 for memory in AuditChainReader(store).native.memories_at()[0]}


def test_the_same_rows_give_the_same_bytes(filled, tmp_path, monkeypatch):
    first = export(filled, tmp_path / "1.zip")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    os.umask(os.umask(0o077) | 0o022)
    for file in filled.rglob("*"):  # another machine's times
        os.utime(file, ns=(1, 1))
    second = export(filled, tmp_path / "2.zip")
    assert first._replace(file="") == second._replace(file="")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    assert stat.S_IMODE(os.stat(tmp_path / "1.zip").st_mode) == 0o600
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        for info in archive.infolist():
            assert (info.date_time, info.compress_type, info.create_system) == ((1980, 1, 1, 0, 0, 0), 0, 3)
            assert info.external_attr >> 16 == stat.S_IFREG | 0o600


def test_an_import_of_an_export_is_the_same_store_and_exports_to_the_same_bytes(filled, tmp_path):
    (filled / "memories" / "STORE.yaml").write_text("store_id: s\n")
    export(filled, tmp_path / "1.zip")
    done = exporting.import_zip(str(tmp_path / "1.zip"), str(tmp_path / "made/store"))
    assert done.chain == AuditChainReader(filled).row(done.rows)["chain"]
    assert memories(done.store) == memories(filled)
    assert verify.verify(done.store, deep=True).root == verify.verify(str(filled)).root
    assert doctor.examine(done.store).healthy
    export(done.store, tmp_path / "2.zip")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with Writer(done.store, actor="bob") as writer:
        assert writer.put("memories/new.md", "goes on\n").seq == done.rows + 1
    assert os.listdir(tmp_path / "made") == ["store"]


def test_an_export_as_of_a_row_or_a_time_is_what_was_exported_then(filled, tmp_path, mock_time):
    last = AuditChainReader(filled).last_seq()
    export(filled, tmp_path / "then.zip")
    mock_time.ns = 1_790_000_000_000_000_000
    with Writer(filled, actor="ann") as writer:
        writer.put("memories/later.md", "later\n")
        writer.move("memories/ü b.md", "memories/moved.md")
    export(filled, tmp_path / "row.zip", at=clock.At(seq=last))
    export(filled, tmp_path / "time.zip", at=clock.At(ts_ns=1_789_999_999_000_000_000))
    then = (tmp_path / "then.zip").read_bytes()
    assert then == (tmp_path / "row.zip").read_bytes() == (tmp_path / "time.zip").read_bytes()
    assert export(filled, tmp_path / "none.zip", at=clock.At(ts_ns=1)).rows == 0
    with pytest.raises(VersionNotFound):
        export(filled, tmp_path / "x.zip", at=clock.At(seq=last + 3))


def test_what_was_purged_and_keys_and_transcripts_are_not_in_it(filled, tmp_path):
    (filled / "sessions").mkdir()
    (filled / "sessions/x.binlog.zst").write_bytes(b"told in confidence")
    done = export(filled, tmp_path / "1.zip")
    assert done.missing == 1
    content = (tmp_path / "1.zip").read_bytes()
    assert b"secret\n" not in content
    assert b"told in confidence" not in content
    assert b"last\n" in content


def test_without_bodies_there_are_the_log_and_the_memories_as_they_are(filled, tmp_path):
    export(filled, tmp_path / "1.zip", bodies=False)
    assert "audit/objects/001.pack" not in members(tmp_path / "1.zip")
    done = exporting.import_zip(str(tmp_path / "1.zip"), str(tmp_path / "made"))
    assert (done.bodies, done.memories) == (0, len(memories(filled)))
    assert reading.get(done.store, "memories/ü b.md").content == b"last\n"


def test_signed_heads_go_along_that_cover_no_later_row(filled, tmp_path):
    folder = filled / "audit/checkpoints"
    folder.mkdir()
    for name, size in (("1.txt", 3), ("2.txt", 100)):
        (folder / name).write_text(f"origin\n{size}\nroot\n\n— key sig\n")
    assert export(filled, tmp_path / "all.zip").checkpoints == 2
    assert export(filled, tmp_path / "some.zip", at=clock.At(seq=99)).checkpoints == 1
    done = exporting.import_zip(str(tmp_path / "some.zip"), str(tmp_path / "made"))
    assert os.listdir(tmp_path / "made/audit/checkpoints") == ["1.txt"]
    assert done.checkpoints == 1


def test_a_head_that_the_log_does_not_continue_is_refused(filled, tmp_path):
    folder = filled / "audit/checkpoints"
    folder.mkdir()
    root = base64.b64encode(bytes(32)).decode()
    (folder / "1.txt").write_text(f"origin\n3\n{root}\n\n\u2014 origin {base64.b64encode(bytes(68)).decode()}\n")
    export(filled, tmp_path / "1.zip")
    with pytest.raises(CorruptArchive, match="not those that were signed"):
        exporting.import_zip(str(tmp_path / "1.zip"), str(tmp_path / "made"))


def test_names_may_be_as_long_as_any(store, tmp_path):
    path = f"memories/{'n' * 252}.md"
    with Writer(store, actor="ann") as writer:
        assert writer.put(path, "one\n").warnings == []
    (tmp_path / "d").mkdir()
    export(store, tmp_path / "d" / ("e" * 255))
    done = exporting.import_zip(str(tmp_path / "d" / ("e" * 255)), str(tmp_path / ("s" * 255)))
    assert reading.get(done.store, path).content == b"one\n"
    assert sorted(os.listdir(tmp_path)) == ["d", "s" * 255, "store"]


def test_segments_make_no_difference(tmp_path):
    store = stores.init(tmp_path / "s")
    with Writer(store, actor="ann") as writer:
        for day in range(5):
            when = 1_700_000_000_000_000_000 + day * 40 * 86_400 * 10**9
            writer.apply([Put("memories/a.md", f"{day}")], times=[when])
    assert len(list((store / "audit").glob("*.binlog"))) > 3
    export(store, tmp_path / "1.zip")
    segments = sorted((store / "audit").glob("*.binlog"), key=lambda file: file.read_bytes()[8:16])
    assert members(tmp_path / "1.zip")["audit/current.binlog"] == b"".join(file.read_bytes() for file in segments)
    done = exporting.import_zip(str(tmp_path / "1.zip"), str(tmp_path / "made"))
    export(done.store, tmp_path / "2.zip")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_a_damaged_log_is_not_exported_and_nothing_is_left(filled, tmp_path):
    log = filled / "audit/current.binlog"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    with pytest.raises(CorruptLog):
        export(filled, tmp_path / "out.zip")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == []


def test_nothing_is_overwritten(filled, tmp_path):
    (tmp_path / "1.zip").write_text("mine")
    with pytest.raises(AlreadyExists):
        export(filled, tmp_path / "1.zip")
    assert (tmp_path / "1.zip").read_text() == "mine"
    export(filled, tmp_path / "2.zip")
    with pytest.raises(AlreadyExists):
        exporting.import_zip(str(tmp_path / "2.zip"), str(filled))


def test_what_it_says(cli, filled, tmp_path):
    done = cli("--store", filled, "export", tmp_path / "x.zip")
    assert done.code == 0
    assert done.out.startswith(f"wrote {tmp_path}/x.zip: 305 rows, ")
    made = cli("import", "zip", tmp_path / "x.zip", tmp_path / "made")
    assert made.code == 0
    assert done.out.splitlines()[1] == made.out.splitlines()[1]
    assert made.out.startswith(f"made a store at {tmp_path}/made: 305 rows, ")
