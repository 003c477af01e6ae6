"""Proofs: what they prove to somebody without the store, by the command and by the page's program."""

import base64
import json
import random
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from cyberos import clock
from cyberos.core import proofs
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.crypto import signing
from cyberos.errors import BadNote, BadProof, CyberosError, LogRewritten
from cyberos.operations import checkpoints as signed
from cyberos.operations import proofs as operations
from tests.trust.conftest import X

PAGE = Path(__file__).parents[2] / "docs" / "verify_proof.py"
by_eye = runpy.run_path(str(PAGE))["verify"]


@pytest.fixture
def public(store, held, cli):
    return cli("--store", store, "key", "show").out.strip()


@pytest.fixture
def proof(store, grow, held, public):
    """The proof of a row with its content, under a head with more rows."""
    grow(1, 11)
    return operations.prove(str(store), X, clock.At(seq=5), held, with_body=True).content


def rejected(content, public, held):
    """Whether both refuse it, each in its own words."""
    with pytest.raises((BadProof, BadNote)):
        operations.verify(content, held, named=[public])
    with pytest.raises(ValueError):  # noqa: PT011, whatever it stumbles over
        by_eye(content, public)
    return True


def test_the_program_is_short_and_needs_nothing_but_python(proof, public, tmp_path):
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) < 80
    (tmp_path / "proof").write_bytes(proof)
    done = subprocess.run(
        [sys.executable, "-I", "-S", PAGE, tmp_path / "proof", public], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["path"] == X


def test_a_proof_proves_the_row_and_its_content(proof, public, held, store, cli, tmp_path):
    row = AuditChainReader(store).row(5)
    proved = operations.verify(proof, held)
    assert (proved.seq, proved.size, proved.path, proved.body) == (5, 11, X, b"5\n")
    assert proved.key == public
    assert by_eye(proof, public)["chain"] == proved.row["chain"] == row["chain"]
    (tmp_path / "p").write_bytes(proof)
    run = cli("verify-proof", tmp_path / "p", "--key", public)
    assert run.code == 0
    assert run.out.startswith("proved: row 5 of the log store-")
    assert json.loads(cli("verify-proof", tmp_path / "p", "--json").out)["body"] == "5\n"


@pytest.mark.parametrize("size", [1, 2, 7, 256, 600])
def test_rows_of_trees_of_many_sizes_are_proved(store, grow, held, public, size):
    grow(1, size)
    signed.create(str(store), held)
    contents = {}
    for seq in (1, (size + 1) // 2, size - 1 or 1, size):
        contents[seq] = operations.prove(str(store), X, clock.At(seq=seq), held).content
        assert operations.verify(contents[seq], held).seq == seq
    assert by_eye(contents[size], public)["extra"] == AuditChainReader(store).row(size)["payload"]


def test_a_truncated_proof_proves_nothing(proof, public, held):
    for cut in {*range(0, len(proof), 97), len(proof) - 1, len(proof) - 2}:
        assert rejected(proof[:cut], public, held)


def test_a_changed_proof_proves_nothing(proof, public, held):
    rng = random.Random(5)
    head = proof.index(b"index")
    for _ in range(12):
        changed = bytearray(proof)
        at = rng.choice([rng.randrange(len(proof)), rng.randrange(head, len(proof))])
        changed[at] = rng.choice(b"ABCabc0123456789+/=\n -")
        if changed == proof or _same(bytes(changed), proof):
            continue
        assert rejected(bytes(changed), public, held)


def _same(changed, proof):
    """Whether only what nobody signs was changed, to the same meaning: the row and the hashes decide."""
    try:
        return proofs.decode(changed) == proofs.decode(proof)
    except CyberosError:
        return False


def forge(proof, **changes):
    return proofs.encode(proofs.decode(proof)._replace(**changes))


def test_forged_proofs_prove_nothing(proof, public, held, store, grow):
    said = proofs.decode(proof)
    other = proofs.decode(operations.prove(str(store), X, clock.At(seq=6), held).content)
    assert rejected(forge(proof, seq=6), public, held)
    assert rejected(forge(proof, seq=5 + 8), public, held)
    assert rejected(forge(proof, payload=other.payload, body=None), public, held)
    assert rejected(forge(proof, payload=said.payload.replace(b"ann", b"bob")), public, held)
    assert rejected(forge(proof, path=other.path), public, held)
    assert rejected(forge(proof, path=said.path[:-1]), public, held)
    assert rejected(forge(proof, path=[*said.path, bytes(32)]), public, held)
    assert rejected(forge(proof, body=b"6\n"), public, held)
    # A head of the forger's own: signed, and not by the log.
    text = said.note.decode().split("\n\n")[0] + "\n"
    name = text.split("\n")[0]
    forged = signing.sign(text, name, bytes(32))
    assert rejected(forge(proof, note=forged), public, held)
    # ... with the id of the log's key on it.
    raw = base64.b64decode(forged.split(b" ")[-1])
    line = base64.b64encode(bytes.fromhex(public.split("+", 2)[1]) + raw[4:]).decode()
    assert rejected(forge(proof, note=f"{text}\n— {name} {line}\n".encode()), public, held)
    # The log's own key, over a head that it has not signed.
    assert rejected(forge(proof, note=said.note.replace(b"\n11\n", b"\n12\n")), public, held)


def test_the_verifier_says_which_log_it_is_and_not_the_proof(proof, public, held):
    _, key_id, key = public.split("+", 2)
    raw = base64.b64decode(key)[1:]
    other = str(signing.Verifier("store-other", raw))
    assert other.split("+")[1] != key_id
    assert rejected(proof, other, held)


def test_a_proof_of_any_row_that_is_about_the_memory_can_be_asked_for(store, held, public):
    with Writer(store, actor="ann") as writer:
        writer.put(X, "one\n")
        writer.move(X, "memories/facts/y.md")
        writer.delete("memories/facts/y.md")
    kinds = {
        seq: operations.verify(operations.prove(str(store), path, clock.At(seq=seq), held).content, held).kind
        for seq, path in ((1, X), (2, X), (2, "memories/facts/y.md"), (3, "memories/facts/y.md"))
    }
    assert kinds == {1: "put", 2: "move", 3: "delete"}
    body = operations.prove(str(store), "memories/facts/y.md", clock.At(seq=2), held, with_body=True)
    assert (body.seq, operations.verify(body.content, held).body) == (2, b"one\n")
    for path, seq in (("memories/facts/none.md", 1), (X, 9)):
        with pytest.raises(CyberosError):
            operations.prove(str(store), path, clock.At(seq=seq), held)
    with pytest.raises(CyberosError, match="had no version"):
        operations.prove(str(store), "memories/facts/y.md", clock.At(seq=3), held, with_body=True)


def test_what_the_log_contradicts_is_not_proved(store, grow, copy, put_back, held):
    grow(1, 5)
    before = copy("before")
    grow(6, 9)
    signed.create(str(store), held)
    heads = copy("after")
    put_back(before)
    grow(6, 12, " another")
    (store / "audit/checkpoints").mkdir()
    for note in (heads / "audit/checkpoints").iterdir():
        (store / "audit/checkpoints" / note.name).write_bytes(note.read_bytes())
    with pytest.raises(LogRewritten):
        operations.prove(str(store), X, clock.At(seq=7), held)


def test_files_that_are_no_proofs_are_told_in_one_line(cli, held, tmp_path, public):
    for content in (b"", b"\xff\xfe", b"hello\n", b"c2sp.org/tlog-proof@v1\n", b"c2sp.org/tlog-proof@v1\nindex 0\n\n"):
        (tmp_path / "p").write_bytes(content)
        run = cli("verify-proof", tmp_path / "p", "--key", public)
        assert (run.code, run.out) == (7, "")
        assert run.err.startswith("error[bad_proof]: "), run.err
    run = cli("verify-proof", tmp_path / "none")
    assert run.code == 70
    assert "No such file" in run.err
