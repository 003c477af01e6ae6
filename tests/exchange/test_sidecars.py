"""Fields that upstream keeps beside memories go out with a store and come back with it."""

import json
import zipfile

import pytest

from cyberos import clock
from cyberos.core.writer import Writer
from cyberos.errors import ArchiveRefused, CorruptArchive
from cyberos.exchange import archive
from cyberos.operations import doctor, exporting, reading

A, B = "memories/facts/a.md", "memories/facts/b.md"
SIDECAR = "memories/facts/a.meta.json"
FIELDS = {"kind": "fact", "importance": 0.8, "tags": ["x"]}


@pytest.fixture
def filled(store):
    with Writer(store, actor="ann") as writer:
        writer.put(A, "one\n")
        writer.put(B, "---\nkind: note\n---\ntwo\n")
    (store / SIDECAR).write_text(json.dumps(FIELDS))
    return store


def names(file):
    with zipfile.ZipFile(file) as packed:
        return packed.namelist()


def export(store, file, **options):
    exporting.export(str(store), str(file), **options)
    return file


def test_they_come_back_as_they_were(filled, tmp_path):
    file = export(filled, tmp_path / "1.zip")
    assert names(file)[-3:] == [SIDECAR, A, B]
    made = exporting.import_zip(str(file), str(tmp_path / "made")).store
    assert (tmp_path / "made" / SIDECAR).read_bytes() == (filled / SIDECAR).read_bytes()
    assert reading.get(made, A).frontmatter == reading.get(str(filled), A).frontmatter == FIELDS
    assert doctor.examine(made).healthy
    assert export(made, tmp_path / "2.zip").read_bytes() == file.read_bytes()


def test_they_are_of_now_and_of_memories_that_are_there(filled, tmp_path):
    (filled / "memories/facts/gone.meta.json").write_text("{}")
    assert SIDECAR not in names(export(filled, tmp_path / "1.zip", at=clock.At(seq=1)))
    assert "memories/facts/gone.meta.json" not in names(export(filled, tmp_path / "2.zip"))


def test_a_link_in_place_of_one_stays_out(filled, tmp_path):
    (filled / SIDECAR).rename(tmp_path / "elsewhere")
    (filled / SIDECAR).symlink_to(tmp_path / "elsewhere")
    assert SIDECAR not in names(export(filled, tmp_path / "1.zip"))


@pytest.mark.parametrize("name", ["memories/facts/x.meta.json", "memories/facts/a.meta.json.md", "audit/a.meta.json"])
def test_one_that_belongs_to_no_memory_is_refused(filled, tmp_path, name):
    file = export(filled, tmp_path / "1.zip")
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr(archive.member(name), b"{}")
    with pytest.raises((ArchiveRefused, CorruptArchive)):
        exporting.import_zip(str(file), str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()
