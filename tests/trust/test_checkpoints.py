"""Signed heads: their text, who may sign them, where they go, and what is told of bad ones."""

import base64
import json
import random
import subprocess

import pytest

from cyberos.core import checkpoints, heads
from cyberos.crypto import signing
from cyberos.crypto.signing import Verifier
from cyberos.errors import BadArgument, BadConfig, BadNote, CyberosError, IoFailure, KeyMissing
from cyberos.operations import checkpoints as operations

KEY = bytes(range(32))
# What the specifications of C2SP show, with the public keys that go with it.
SPEC = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
).encode()
SPEC_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"


def test_a_note_that_another_program_signed_is_verified():
    verifier = signing.parse_verifier(SPEC_KEY)
    assert str(verifier) == SPEC_KEY
    assert signing.verify(SPEC, [verifier]) == ("This is an example message.\n", verifier)


def test_a_head_is_a_checkpoint_as_c2sp_writes_it(store, grow, held):
    grow(1, 5)
    made = operations.create(str(store), held)
    origin = checkpoints.origin_of(store)
    text, signature = made.head.note.split("\n\n")
    assert text.split("\n")[:2] == [origin, "5"]
    assert base64.b64decode(text.split("\n")[2]).hex() == made.head.root
    assert signature.startswith(f"— {origin} ")
    assert signature.endswith("\n")
    assert made.created
    again = operations.create(str(store), held)
    assert (again.created, again.head) == (False, made.head)
    assert [head.size for head in operations.list_heads(str(store)).checkpoints] == [5]


def test_every_change_of_a_note_is_noticed():
    note = signing.sign(checkpoints.text_of("store-1", 5, bytes(32)), "store-1", KEY)
    verifier = Verifier("store-1", signing.public_of(KEY))
    assert checkpoints.verified(note, [verifier])[0].size == 5
    rng = random.Random(1)
    for _ in range(300):
        changed = bytearray(note)
        at = rng.randrange(len(note))
        changed[at] = rng.choice([byte for byte in range(256) if byte != note[at]])
        with pytest.raises(BadNote):
            checkpoints.verified(bytes(changed), [verifier])
    for cut in range(len(note)):
        with pytest.raises(BadNote):
            checkpoints.verified(note[:cut], [verifier])


@pytest.mark.parametrize(
    "text",
    [
        "a\n1\n",
        "a\n01\nAAAA\n",
        "a\n-1\nAAAA\n",
        "a\n1\nAAAA\n",
        f"a\n{'9' * 19}\n{'A' * 43}=\n",
        f"a\n1\n{'A' * 43}=\n\nx\n",
    ],
)
def test_a_signed_text_that_is_no_head_is_none(text):
    note = signing.sign(text, "a", KEY)
    with pytest.raises(BadNote, match="no checkpoint"):
        checkpoints.verified(note, [Verifier("a", signing.public_of(KEY))])


def test_who_trusts_a_key_trusts_it_for_one_log():
    note = signing.sign(checkpoints.text_of("store-2", 5, bytes(32)), "store-1", KEY)
    with pytest.raises(BadNote, match="of the log store-2"):
        checkpoints.verified(note, [Verifier("store-1", signing.public_of(KEY))])


def test_other_signatures_count_for_nothing_and_a_wrong_one_of_ours_for_everything():
    text = checkpoints.text_of("s", 5, bytes(32))
    ours, other = signing.sign(text, "s", KEY), signing.sign(text, "s", bytes(32))
    verifier = Verifier("s", signing.public_of(KEY))
    both = ours + other.split(b"\n\n")[1]
    assert checkpoints.verified(both, [verifier])[1] == verifier
    with pytest.raises(BadNote, match="no key that is trusted"):
        checkpoints.verified(other, [verifier])
    wrong = bytearray(base64.b64decode(ours.split(b" ")[-1]))
    wrong[-1] ^= 1
    line = f"— s {base64.b64encode(wrong).decode()}\n".encode()
    with pytest.raises(BadNote, match="is wrong"):
        checkpoints.verified(ours + line, [verifier])


@pytest.mark.parametrize("text", ["", "a", "a+b+c", SPEC_KEY[:-4], SPEC_KEY.replace("530d", "530e"), "x" + SPEC_KEY])
def test_what_is_no_public_key_is_told(text):
    with pytest.raises(BadArgument, match="not a public key"):
        signing.parse_verifier(text)


def test_any_number_of_notes_behind_one_another_are_read_one_by_one(tmp_path):
    notes = [signing.sign(checkpoints.text_of("s", size, bytes(32)), "s", KEY) for size in range(4)]
    assert heads.split(b"".join(notes)) == notes
    assert heads.split(b"\n\n".join(notes)) == notes
    assert heads.split(b"") == []
    for note in [*notes, *notes]:
        heads.append(str(tmp_path / "f.txt"), note)
    assert heads.read_file(str(tmp_path / "f.txt")) == notes


@pytest.mark.parametrize("store_id", [None, "", "two words", "a+b", "line\nbreak", "../up"])
def test_a_store_without_a_usable_id_cannot_be_signed(store, held, store_id):
    (store / "manifest.json").write_text(json.dumps({"store_id": store_id}))
    with pytest.raises(BadConfig, match="no id"):
        operations.create(str(store), held)


def test_a_git_repository_gets_commits_on_a_reference_of_its_own(store, grow, held, tmp_path, cli):
    folder = tmp_path / "repository"
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "file").write_text("x")
    hook = folder / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    (tmp_path / "ran").unlink(missing_ok=True)
    hook.chmod(0o700)
    before = subprocess.run([*git, "status", "--porcelain=v2", "--branch"], capture_output=True, check=True).stdout
    grow(1, 2)
    operations.create(str(store), held)
    assert cli("--store", store, "checkpoint", "copies", "--add", folder).code == 0
    grow(3, 4)
    run = cli("--store", store, "checkpoint", "create")
    assert f"copied to {folder}" in run.out
    operations.create(str(store), held)  # nothing new
    origin = checkpoints.origin_of(store)
    found = [checkpoints.parse(note).size for note in heads.read(str(folder), origin)]
    assert found == [2, 4]
    after = subprocess.run([*git, "status", "--porcelain=v2", "--branch"], capture_output=True, check=True).stdout
    assert after == before, "no branch, index or working file is touched"
    assert not (tmp_path / "ran").exists(), "and none of its programs is run"
    assert cli("--store", store, "verify", "--against", f"git:{folder}").code == 0
    assert cli("--store", store, "checkpoint", "copies", "--remove", folder).out == "nowhere\n"


def test_a_place_that_cannot_be_written_is_told_and_the_head_is_signed_all_the_same(store, grow, held, tmp_path):
    grow(1, 2)
    place = tmp_path / "place"
    place.mkdir()
    operations.copies(str(store), held.folder, add=str(place / "heads.txt"))
    place.rmdir()
    place.write_text("a file")
    made = operations.create(str(store), held)
    assert made.created
    assert len(made.warnings) == 1
    with pytest.raises((IoFailure, CyberosError)):
        operations.copies(str(store), held.folder, add=str(place / "heads.txt"))


def test_without_a_key_that_counts_no_head_is_believed(store, grow, held, tmp_path, cli):
    grow(1, 2)
    operations.create(str(store), held)
    public = cli("--store", store, "key", "show").out.strip()
    cli("--store", store, "checkpoint", "export", "-o", tmp_path / "head.txt")
    stranger = held._replace(folder=str(tmp_path / "stranger"))
    with pytest.raises(KeyMissing, match="no key is known"):
        operations.hold(str(store), stranger, [str(tmp_path / "head.txt")])
    good = operations.hold(str(store), stranger, [str(tmp_path / "head.txt")], named=[public])
    assert (good.heads, good.contradictions) == (1, [])
    other = str(Verifier(checkpoints.origin_of(store), bytes(31) + b"\x01"))
    bad = operations.hold(str(store), stranger, [str(tmp_path / "head.txt")], named=[other])
    assert "cannot be trusted" in bad.contradictions[0].what
    with pytest.raises(BadNote, match="no signed head"):
        operations.hold(str(store), stranger, ["remembered"])
    with pytest.raises(BadArgument, match="nothing at"):
        operations.hold(str(store), stranger, [str(tmp_path / "nowhere")], named=[public])


def test_a_folder_with_other_things_in_audit_is_listed_all_the_same(store, grow, held, cli):
    grow(1, 2)
    operations.create(str(store), held)
    (store / "audit/checkpoints/zz.txt").write_bytes(b"\xff no note\n")
    run = cli("--store", store, "checkpoint", "list", "--json")
    assert [head["size"] for head in json.loads(run.out)["checkpoints"]] == [2]
    assert cli("--store", store, "doctor").code == 0
    assert cli("--store", store, "checkpoint", "export", "--size", "9").code == 3
