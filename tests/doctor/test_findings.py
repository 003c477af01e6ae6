"""A store that is damaged in one way shows that and nothing else, and what can be healed is."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cyberos import _native, layout
from cyberos.core import repair
from cyberos.core.search import search
from cyberos.doctor import registry
from cyberos.doctor.findings import Remedy
from cyberos.operations import doctor
from tests.doctor import test_sessions

LOG = "audit/current.binlog"
PACK = "audit/objects/001.pack"
PEAKS = "audit/mmr/peaks.bin"


def flip(file: Path, at: int) -> None:
    raw = bytearray(file.read_bytes())
    raw[at] ^= 0x10
    file.write_bytes(raw)


def frames(root: Path) -> list[tuple[int, int]]:
    """Returns where each frame of the log begins and ends."""
    raw, at, found = (root / LOG).read_bytes(), 0, []
    while at < len(raw):
        end = at + 24 + int.from_bytes(raw[at : at + 4], "big")
        found.append((at, end))
        at = end
    return found


def appended(file: Path, more: bytes) -> None:
    with file.open("ab") as handle:
        handle.write(more)


def indexed(root: Path) -> None:
    """Gives the store indexes, which so few rows would not have."""
    _native.Writer(root).rebuild()
    _native.Repair(root).index_bodies()


def damage_index(root: Path, which: str, at: int) -> None:
    indexed(root)
    (run,) = (root / "index" / which).iterdir()
    flip(run, at % run.stat().st_size)


def foreign_index(root: Path) -> None:
    indexed(root)
    from cyberos.core import store as stores

    other = root.parent / "other"
    stores.init(other)
    writer = _native.Writer(other)
    for number in range(30):
        writer.submit([("put", "bob", number, None, f"memories/{number}.md", b"x", None)])
    writer.rebuild()
    for run in (root / "index" / "history").iterdir():
        run.unlink()
    for run in (other / "index" / "history").iterdir():
        run.rename(root / "index" / "history" / run.name)


def put_back_purged(root: Path) -> None:
    """Puts the bodies of before the purge back, as a crash between the row and the erasure leaves them."""
    _native.Writer(root).submit([("put", "ann", 1, None, "memories/p.md", b"to be purged\n", None)])
    before = (root / PACK).read_bytes()
    _native.Writer(root).submit([("delete", "ann", 2, None, "memories/p.md", "purge", "secret")])
    (root / PACK).write_bytes(before)


def replace_by_a_file(place: str) -> Callable[[Path], object]:
    def replace(root: Path) -> None:
        shutil.rmtree(root / place, ignore_errors=True)
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text("not an index")

    return replace


def spoil_search_index(root: Path) -> None:
    search(root, "version")
    flip(root / layout.SEARCH, 70)


def open_to_others(root: Path) -> None:
    root.chmod(0o755)
    (root / "manifest.json").chmod(0o644)


def lose_bodies(root: Path) -> None:
    (root / PACK).write_bytes(b"")


def cut_without_tip(root: Path, end: int) -> bool:
    (root / "audit/tip").unlink()
    os.truncate(root / LOG, end)
    return True


def erase_living(root: Path) -> None:
    """Takes from a living memory the copy that it has of what was purged elsewhere."""
    erased = (root / PACK).read_bytes()
    body = b"---\nkind: fact\n---\nversion 9\n"
    _native.Writer(root).submit([("put", "ann", 1, None, "memories/f/3.md", body, None)])
    (root / PACK).write_bytes(erased)


def aux(root: Path, kind: str) -> None:
    _native.Writer(root).submit([("aux", "ann", 1, {}, kind, "")])


# How to damage a store, what shows, and whether --repair heals it.
DAMAGES: dict[str, tuple[Callable[[Path], object], set[tuple[str, str | None]], bool]] = {
    "frame": (lambda root: flip(root / LOG, frames(root)[9][0] + 40), {("log.frame", LOG)}, False),
    "last frame": (
        lambda root: flip(root / LOG, frames(root)[19][0] + 40),
        {("log.frame", LOG), ("log.tip", "audit/tip")},
        False,
    ),
    "cut": (
        lambda root: os.truncate(root / LOG, frames(root)[14][1]),
        {("log.tip", "audit/tip")},
        False,
    ),
    "cut in a frame": (
        lambda root: os.truncate(root / LOG, frames(root)[14][1] + 9),
        {("log.frame", LOG), ("log.tip", "audit/tip")},
        False,
    ),
    "torn tail": (lambda root: appended(root / LOG, b"\0\0\1\0unfinished"), {("log.torn_tail", LOG)}, True),
    "tip missing": (lambda root: (root / "audit/tip").unlink(), {("log.tip_missing", "audit/tip")}, True),
    "tip damaged": (
        lambda root: (root / "audit/tip").write_bytes(bytes(1024)),
        {("log.tip_damaged", "audit/tip")},
        True,
    ),
    "tip missing and the log cut": (
        lambda root: cut_without_tip(root, frames(root)[14][1]),
        {("log.missing", "HEAD"), ("log.tip_missing", "audit/tip")},
        False,
    ),
    "tip missing and the log cut, by the peaks": (
        lambda root: (cut_without_tip(root, frames(root)[14][1]), (root / "HEAD").write_bytes(bytes(8))),
        {("log.missing", PEAKS), ("log.tip_missing", "audit/tip")},
        False,
    ),
    "HEAD ahead": (
        lambda root: (root / "HEAD").write_bytes((23).to_bytes(8, "little")),
        {("log.missing", "HEAD")},
        False,
    ),
    "log emptied and tip missing": (
        lambda root: cut_without_tip(root, 0),
        {("log.missing", "HEAD"), ("log.tip_missing", "audit/tip")},
        False,
    ),
    "segments gone": (
        lambda root: (root / LOG).unlink(),
        {("log.missing", "audit"), ("log.tip", "audit/tip")},
        False,
    ),
    "log gone": (lambda root: shutil.rmtree(root / "audit"), {("log.missing", "audit")}, False),
    "HEAD missing": (lambda root: (root / "HEAD").unlink(), {("log.head", "HEAD")}, True),
    "HEAD differs": (lambda root: (root / "HEAD").write_bytes(bytes(8)), {("log.head", "HEAD")}, True),
    "HEAD too long": (lambda root: (root / "HEAD").write_bytes(bytes(99)), {("log.head", "HEAD")}, True),
    "HEAD garbled": (lambda root: (root / "HEAD").write_bytes(b"x"), {("log.head", "HEAD")}, True),
    "stray in audit": (lambda root: (root / "audit/x").write_bytes(b""), {("log.stray", "audit/x")}, False),
    "leftover": (lambda root: (root / "audit/x.tmp").write_bytes(b""), {("log.leftover", "audit/x.tmp")}, True),
    "segment twice": (
        lambda root: (root / f"{LOG}.zst").write_bytes(b""),
        {("log.segment_name", f"{LOG}.zst")},
        False,
    ),
    "peaks missing": (lambda root: (root / PEAKS).unlink(), {("peaks.missing", PEAKS)}, True),
    "peaks wrong": (lambda root: flip(root / PEAKS, 60), {("peaks.wrong", PEAKS)}, True),
    "peaks malformed": (lambda root: flip(root / PEAKS, 3), {("peaks.wrong", PEAKS)}, True),
    "index damaged": (lambda root: damage_index(root, "history", -10), {("index.wrong", "index/history")}, True),
    "index unusable": (
        lambda root: damage_index(root, "history", 20),
        {("index.unusable", "index/history/00000000000000000001-00000000000000000020.run")},
        True,
    ),
    "objects index damaged": (lambda at: damage_index(at, "objects", -10), {("index.wrong", "index/objects")}, True),
    "objects index unusable": (
        lambda root: damage_index(root, "objects", 20),
        {("index.unusable", "index/objects/00000000000000000001-00000000000000000016.run")},
        True,
    ),
    "a file in place of the indexes": (replace_by_a_file("index"), {("index.not_a_folder", "index")}, True),
    "a file in place of an index": (
        replace_by_a_file("index/objects"),
        {("index.not_a_folder", "index/objects")},
        True,
    ),
    "a link that leads nowhere in place of an index": (
        lambda root: (root / "index").symlink_to("nowhere"),
        {("index.not_a_folder", "index")},
        False,
    ),
    "search index": (spoil_search_index, {("search.unusable", layout.SEARCH)}, True),
    "another log's index": (foreign_index, {("index.foreign", "index/history")}, True),
    "pack damaged": (
        lambda root: flip(root / PACK, 90),
        {("bodies.damaged", PACK), ("bodies.missing", "audit/objects")},
        False,
    ),
    "bodies lost": (lose_bodies, {("bodies.missing", "audit/objects")}, False),
    "body of a living memory erased": (erase_living, {("bodies.erased", "memories/f/3.md")}, False),
    "purge unfinished": (put_back_purged, {("bodies.purge_unfinished", "memories/p.md")}, True),
    "working file missing": (
        lambda root: (root / "memories/f/4.md").unlink(),
        {("view.missing", "memories/f/4.md")},
        True,
    ),
    "working file behind": (
        lambda root: (root / "memories/f/4.md").write_text("---\nkind: fact\n---\nversion 4\n"),
        {("view.stale", "memories/f/4.md")},
        True,
    ),
    "working file of a memory that is gone": (
        lambda root: (root / "memories/f/2.md").write_text("---\nkind: fact\n---\nversion 8\n"),
        {("view.stale", "memories/f/2.md")},
        True,
    ),
    "working file of a memory that was purged": (
        lambda root: (root / "memories/f/3.md").write_text("---\nkind: fact\n---\nversion 9\n"),
        {("view.stale", "memories/f/3.md")},
        True,
    ),
    "edited by hand": (
        lambda root: (root / "memories/f/4.md").write_text("mine\n"),
        {("view.edited", "memories/f/4.md")},
        False,
    ),
    "stray file": (lambda root: (root / "memories/x.md").write_text("x\n"), {("view.stray", "memories/x.md")}, False),
    "stray of a purged memory": (
        lambda root: (root / "memories/f/3.md").write_text("x\n"),
        {("view.stray", "memories/f/3.md")},
        False,
    ),
    "left-over temporary": (
        lambda root: (root / "memories/f/.4.md.tmp").write_text("ver"),
        {("view.leftover", "memories/f/.4.md.tmp")},
        True,
    ),
    "left-over temporary of any name": (
        lambda root: (root / "memories/f/.0123456789abcdef.tmp").write_text("ver"),
        {("view.leftover", "memories/f/.0123456789abcdef.tmp")},
        True,
    ),
    "symbolic link": (
        lambda root: (root / "memories/link.md").symlink_to("/etc/hostname"),
        {("view.symlink", "memories/link.md")},
        False,
    ),
    "pipe": (lambda root: os.mkfifo(root / "memories/p.md"), {("view.not_a_file", "memories/p.md")}, False),
    "collision": (
        lambda root: (root / "memories/NEW.md").write_bytes((root / "memories/new.md").read_bytes()),
        {("view.collision", "memories/new.md"), ("view.stray", "memories/NEW.md")},
        False,
    ),
    "AGENTS.md missing": (lambda root: (root / "AGENTS.md").unlink(), {("protocol.missing", "AGENTS.md")}, False),
    "no §14.4": (lambda root: (root / "AGENTS.md").write_text("# x\n"), {("protocol.no_acl", "AGENTS.md")}, False),
    "access list malformed": (
        lambda root: (root / "memories/f/STORE.yaml").write_text("store_id: [\n"),
        {("protocol.acl_malformed", "memories/f/STORE.yaml")},
        False,
    ),
    "manifest malformed": (
        lambda root: (root / "manifest.json").write_text("{"),
        {("manifest.malformed", "manifest.json")},
        False,
    ),
    "manifest missing": (
        lambda root: (root / "manifest.json").unlink(),
        {("manifest.missing", "manifest.json")},
        True,
    ),
    "open to others": (
        open_to_others,
        {("permissions.readable", ".")},
        True,
    ),
    "open to writers": (lambda root: os.chmod(root, 0o777), {("permissions.writable", ".")}, True),
    "stray at the top": (lambda root: (root / "notes.txt").write_text("x"), {("strays.top", "notes.txt")}, False),
    "unknown kind": (lambda root: aux(root, "what.is_this"), {("kinds.unknown", None)}, False),
}  # fmt: skip


def everything(root: Path) -> dict[str, str]:
    return {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.rglob("*"))
        if file.is_file() and not file.is_symlink() and file.name != ".lock"
    }


def test_nothing_is_found_in_a_healthy_store(store):
    found = doctor.examine(str(store))
    assert (found.findings, found.healthy, found.rows) == ((), True, 20)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_shows_itself_alone(damage, store, ids):
    break_it, expected, _ = DAMAGES[damage]
    break_it(store)
    before = everything(store)
    assert ids(store) == expected
    assert everything(store) == before, "checking changes nothing"


@pytest.mark.parametrize("damage", DAMAGES)
def test_repair_heals_what_can_be_healed_and_is_done_after_one_run(damage, store):
    break_it, expected, heals = DAMAGES[damage]
    break_it(store)
    first = doctor.mend(str(store), actor="ann")
    if heals:
        assert [finding for finding in first.findings if finding.counts or finding.remedy is Remedy.REPAIR] == []
        assert first.healthy
        assert first.steps
    else:
        assert {(finding.id, finding.file) for finding in first.findings} == expected
    after = everything(store)
    second = doctor.mend(str(store), actor="ann")
    assert second.steps == ()
    assert second.findings == first.findings
    assert everything(store) == after


# Enough at once that every family has something to do; those first for which a writer has to be opened.
EVERYTHING = (
    "purge unfinished", "index unusable", "peaks wrong", "HEAD missing", "leftover", "working file missing",
    "left-over temporary", "open to others", "torn tail", "tip damaged",
)  # fmt: skip


@pytest.mark.parametrize("dies_at", range(8))
def test_a_repair_that_dies_is_finished_by_the_next(dies_at, store, monkeypatch):
    for damage in EVERYTHING:
        DAMAGES[damage][0](store)
    calls = 0

    def dying(step):
        def call(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls == dies_at // 2 + 1 and dies_at % 2 == 0:
                raise KeyboardInterrupt  # before the step
            result = step(*arguments, **options)
            if calls == dies_at // 2 + 1:
                raise KeyboardInterrupt  # behind it
            return result

        return call

    steps = ("rebuild_tip", "recover", "rebuild", "drop_index", "finish_purges", "restore_files", "remove_leftovers")
    with monkeypatch.context() as patched:
        for name in steps:
            patched.setattr(repair, name, dying(getattr(repair, name)))
        with pytest.raises(KeyboardInterrupt):
            doctor.mend(str(store), actor="ann")
    assert doctor.mend(str(store), actor="ann").healthy
    assert doctor.mend(str(store), actor="ann").steps == ()


def test_nothing_is_written_while_looking(store):
    (store / ".lock").unlink()
    damaged = (store / LOG).read_bytes()[:-1]
    (store / LOG).write_bytes(damaged)
    before = sorted(store.rglob("*"))
    doctor.examine(str(store))
    assert doctor.plan_loss(str(store)) is not None
    assert sorted(store.rglob("*")) == before


def test_every_id_belongs_to_its_family_and_is_shown_by_a_test():
    shown = {name for _, expected, _ in DAMAGES.values() for name, _ in expected}
    elsewhere = {"blocks", "session-schema", *(family.name for family in test_sessions.FAMILIES)}
    assert {name.partition(".")[0] for name in shown} == {family.name for family in registry.families()} - elsewhere


def test_a_purge_that_is_finished_leaves_nothing(store):
    put_back_purged(store)

    def holding():
        return [file.name for file in store.rglob("*") if file.is_file() and b"to be purged" in file.read_bytes()]

    assert holding() == ["001.pack"]
    assert doctor.mend(str(store), actor="ann").healthy
    assert holding() == []
