import hashlib
import json
import os

from cyberos.core.protocol import BASE_TEXT
from cyberos.core.reader import AuditChainReader


def test_status_says_what_is_in_force_and_what_could_be(cli, bare_store):
    (bare_store / "AGENTS.md").write_text(BASE_TEXT, encoding="utf-8")
    run = cli("--store", bare_store, "protocol", "status")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"{bare_store}/AGENTS.md\n"
        "in force: §1 §2 §3.1 §3.6 §14.4\n"
        'not approved: §18; to approve it: cyberos protocol approve "APPROVE protocol change P22 §18"\n'
    )


def test_status_in_json(cli, bare_store):
    run = cli("protocol", "status", "--json", "--store", bare_store)
    assert json.loads(run.out) == {
        "store": str(bare_store),
        "sections": [],
        "acl_binding": False,
        "amendments": [{"section": "§18", "in_force": False, "phrase": "APPROVE protocol change P22 §18"}],
    }


def test_a_store_without_the_section_only_warns(cli, bare_store):
    assert "access lists only warn" in cli("--store", bare_store, "protocol", "status").out


def test_approving_adds_to_the_owners_text_and_changes_no_byte_of_it(cli, store):
    file = store / "AGENTS.md"
    text = file.read_bytes() + b"caf\xe9\r\nlast line"
    file.write_bytes(text)
    file.with_suffix(".md.tmp").write_bytes(b"a crash left this")
    run = cli("--store", store, "protocol", "approve", "APPROVE protocol change P22 §18")
    assert (run.code, run.out, run.err) == (0, "[     1] §18 is in force now\n", "")
    assert file.read_bytes().startswith(text + b"\n\n## \xc2\xa718 ")
    assert file.stat().st_mode & 0o777 == 0o600
    row = AuditChainReader(store).row(1)
    assert (row["kind"], row["payload"]["section"]) == ("protocol.approved", "§18")
    assert row["payload"]["sha256_before"] == hashlib.sha256(text).hexdigest()
    assert row["payload"]["sha256_after"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "AGENTS.md.tmp" not in os.listdir(store)


def test_no_store(cli, tmp_path):
    run = cli("--store", tmp_path / "none", "protocol", "status")
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith(f"error[store_not_found]: no store at {tmp_path / 'none'}\nhint: ")
