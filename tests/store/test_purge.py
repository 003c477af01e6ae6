"""A purge on real files: the stored bytes of every version are found before, and nowhere after."""

import struct

import pytest

from cyberos import clock
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import BodyPurged
from cyberos.operations import versions
from tests.conformance.naive import HEADER

A, B = "memories/facts/a.md", "memories/facts/b.md"
KIND, DIGEST, LENGTH = 1, 32, 4


def stored(store):
    """Returns what the packs hold: pairs of a SHA-256 and the bytes kept under it."""
    found = []
    for pack in sorted((store / "audit/objects").glob("*.pack")):
        data, at = pack.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from(">I", data, at)
            payload = data[at + HEADER.size : at + HEADER.size + length]
            found.append((payload[KIND : KIND + DIGEST].hex(), payload[KIND + DIGEST + LENGTH :]))
            at += HEADER.size + length
    return found


def holders(store, needle):
    return [file for file in store.rglob("*") if file.is_file() and needle in file.read_bytes()]


@pytest.mark.parametrize("puts_files_off", [False, True])
def test_the_stored_bytes_of_every_version_are_there_before_and_nowhere_after(store, puts_files_off):
    texts = [f"secret {n}: " + "all the same words again " * (40 * n) + f"end {n}\n" for n in range(5)]
    with Writer(store, actor="ann", puts_files_off=puts_files_off) as writer:
        with writer.batch() as others:
            for number in range(600):  # enough for indexes
                others.put(f"memories/other/{number}.md", f"stays {number}\n")
        assert list(store.rglob("*.run"))
        writer.put(A, texts[0], {"password": "hunter2"})
        writer.put(A, texts[1])
        writer.move(A, B)
        writer.write_files()
        (store / B).write_text(texts[2])  # by hand
        writer.put(B, texts[3])
        with writer.batch() as batch:
            batch.put(B, texts[4])
            batch.put("memories/last.md", "stays too\n")
        versions_of = {row["content_sha256"] for row in writer.reader().iter_rows() if row["path"] in (A, B)} - {""}
        kept = [data for sha256, data in stored(store) if sha256 in versions_of]
        assert len(versions_of) == len(kept) == len(texts)
        assert all(holders(store, data) for data in kept)
        writer.delete(B, mode="purge", reason="request 17")
        for needle in (*kept, *(text.encode() for text in texts), b"hunter2", b"secret "):
            assert holders(store, needle) == []
    for needle in (*kept, *(text.encode() for text in texts)):
        assert holders(store, needle) == [], "closing brings nothing back"
    with pytest.raises(BodyPurged):
        versions.show(str(store), A, clock.At(seq=601))
    assert (store / "memories/other/0.md").read_text() == "stays 0\n"
    report = AuditChainReader(store).native.verify(deep=True)
    assert (list(report.findings), report.purged) == ([], len(texts))
