"""Archives that somebody made by hand are refused, and leave nothing behind."""

import io
import json
import stat
import struct
import zipfile
from contextlib import suppress

import pytest

from cyberos.core.writer import Writer
from cyberos.errors import ArchiveRefused, CorruptArchive
from cyberos.exchange import archive
from cyberos.operations import exporting


@pytest.fixture
def good(store, tmp_path):
    with Writer(store, actor="ann") as writer:
        for number in range(5):
            writer.put("memories/a.md", f"{number}\n")
        writer.put("memories/f/b.md", "b\n")
    exporting.export(str(store), str(tmp_path / "good.zip"))
    with zipfile.ZipFile(tmp_path / "good.zip") as opened:
        return [(info.filename, opened.read(info)) for info in opened.infolist()]


def packed(parts, change=lambda info: info):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as made:
        for name, content in parts:
            made.writestr(change(archive.member(name)), content)
    return target.getvalue()


@pytest.fixture
def refused(tmp_path):
    def refused(content, error=ArchiveRefused, match=None):
        (tmp_path / "bad.zip").write_bytes(content)
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(error, match=match) as raised:
            exporting.import_zip(str(tmp_path / "bad.zip"), str(tmp_path / "made"))
        assert raised.value.archive == str(tmp_path / "bad.zip")
        assert sorted(tmp_path.rglob("*")) == before

    return refused


def test_what_is_packed_again_in_this_way_is_taken(good, tmp_path):
    (tmp_path / "again.zip").write_bytes(packed(good))
    assert exporting.import_zip(str(tmp_path / "again.zip"), str(tmp_path / "made")).memories == 2


@pytest.mark.parametrize(
    "name",
    [
        *("../x.md", "/etc/x.md", "memories/../../x.md", "memories/./x.md", "memories//x.md", "memories\\x.md"),
        *("audit/tip", "audit/2020-01_01.binlog", "audit/checkpoints/../x", "audit/checkpoints/a/b", "index/x", "HEAD"),
        *("sessions/x", "elsewhere/x.md", "memories", "audit/objects/002.pack", ".lock", "memories/x/"),
        *("memories/A.md", "memories/F/c.md", "memories/a.md/c.md", "Manifest.json", "memories/f"),
    ],
)
def test_names_that_an_export_does_not_have(good, refused, name):
    refused(packed([*good, (name, b"x\n")]))


@pytest.mark.parametrize("pair", [("memories/\u00e9.md", "memories/e\u0301.md"), ("memories/x.md", "memories/X.md")])
def test_names_that_are_one_on_some_file_systems(good, refused, pair):
    refused(packed([*good, *((name, b"x\n") for name in pair)]), match="would be one file")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice(good, refused):
    refused(packed([*good, good[-1]]))


def test_links_devices_and_folders(good, refused):
    for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFCHR, stat.S_IFIFO):

        def change(info, kind=kind):
            if info.filename == "memories/a.md":
                info.external_attr = (kind | 0o777) << 16
            return info

        refused(packed(good, change), match="a link, a folder or a device")


def test_bombs(good, refused):
    def change(info):
        info.compress_type = zipfile.ZIP_DEFLATED
        return info

    refused(packed([*good, ("memories/bomb.md", bytes(30 << 20))], change), match="is compressed")
    refused(packed([*good, ("memories/large.md", bytes(17 << 20))]), match="larger than")


def test_members_that_overlap_or_leave_gaps(good, refused):
    content = packed(good)
    directory = content.rindex(b"PK\5\6")
    (start,) = struct.unpack_from("<I", content, directory + 16)
    # The second entry of the directory points to the member of the first.
    second = content.index(b"PK\1\2", start + 4)
    refused(content[: second + 42] + struct.pack("<I", 0) + content[second + 46 :])
    refused(b"before" + content)
    refused(content + b"behind")
    refused(content[: directory + 20] + struct.pack("<H", 2) + b"hi")
    moved = content[:start] + b"between" + content[start:]
    end = moved.rindex(b"PK\5\6")
    refused(moved[: end + 16] + struct.pack("<I", start + 7) + moved[end + 20 :])


def test_an_encrypted_member(good, refused):
    content = bytearray(packed(good))
    at = content.index(b"PK\1\2")
    content[at + 8] |= 1
    refused(bytes(content), match="encrypted")


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all" * 100, b"PK\5\6" + bytes(18)])
def test_what_is_no_zip(refused, content):
    refused(content)


def test_every_cut_and_every_flipped_byte_is_refused(good, tmp_path):
    content = packed(good)
    places = range(0, len(content), 41)
    for place in places:
        for bad in (content[:place], content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :]):
            (tmp_path / "bad.zip").write_bytes(bad)
            # What no checksum of a zip covers: its dates, versions and the like. Everything else is foreseen.
            with suppress(ArchiveRefused, CorruptArchive):
                exporting.import_zip(str(tmp_path / "bad.zip"), str(tmp_path / f"made-{place}"))
                assert len(bad) == len(content)
    assert not list(tmp_path.glob("*.tmp-*"))


def change(parts, name, edit):
    return [(each, edit(content) if each == name else content) for each, content in parts]


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("memories/a.md", lambda content: b"forged\n"),
        ("audit/current.binlog", lambda content: content[: len(content) // 2]),
        ("audit/current.binlog", lambda content: content.replace(b'"ann"', b'"eve"', 1)),
        ("audit/objects/001.pack", lambda content: content.replace(b"3\n", b"4\n")),
        ("export.json", lambda content: content.replace(b'"last_seq": 6', b'"last_seq": 5')),
    ],
)
def test_contents_that_the_log_does_not_bear_out(good, refused, name, edit):
    edited = change(good, name, edit)
    assert edited != good
    refused(packed(edited), CorruptArchive)


def test_memories_that_the_log_does_not_know_or_that_are_missing(good, refused):
    refused(packed([*good, ("memories/x.md", b"x\n")]), CorruptArchive, match="knows no memory")
    refused(packed([part for part in good if part[0] != "memories/a.md"]), CorruptArchive, match="is missing")


@pytest.mark.parametrize("name", ["export.json", "manifest.json", "audit/current.binlog"])
def test_what_must_be_there(good, refused, name):
    refused(packed([part for part in good if part[0] != name]), match="is not in it")


def test_an_export_of_a_later_form(good, refused):
    refused(packed(change(good, "export.json", lambda _: json.dumps({"format": 2}).encode())), match="not know")
    refused(packed(change(good, "export.json", lambda _: b"[" * 10_000)), match="not know")
