"""`cyberos blocks`, as a user has it, on both databases."""

import errno
import fcntl
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from cyberos.blocks import access, connector
from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.operations.blocks import sessions
from tests.blocks import servers


@pytest.fixture
def run(cli, monkeypatch, memory, tmp_path):
    """Runs a command line in this process, with an environment and a standard input of its own."""

    def run(*args, stdin=b"", cwd=None, **env):
        with monkeypatch.context() as patched:
            for name, value in env.items():
                patched.setenv(name, value)
            patched.chdir(cwd or tmp_path)
            patched.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            return cli(*args)

    return run


@pytest.fixture
def project(kind, request, tmp_path, memory, run):
    """A store that is enrolled, and a way to run `cyberos blocks` in it."""
    parent = memory / tmp_path.name / "demo"
    parent.mkdir(parents=True)
    store = stores.init(parent / ".cyberos" / "memory" / "store")
    if kind == "sqlite":
        project = Project(run, store, {}, {}, Kept(None, str(store.parent / "blocks.db")))
    else:
        server = request.getfixturevalue("postgres")
        name = server.database(None)
        owner = {"CYBEROS_BLOCKS_URL": server.url(name)}
        assert run("blocks", "setup", "--role", servers.APP, cwd=store, **owner).code == 0
        made = run("blocks", "token", "create", "ann", "--json", cwd=store, **owner)
        env = {
            "CYBEROS_BLOCKS_URL": server.url(name, servers.APP),
            "CYBEROS_BLOCKS_TOKEN": json.loads(made.out)["token"],
        }
        project = Project(run, store, env, owner, Kept(server, name))
    assert project("enrol").code == 0
    return project


class Kept:
    """A database that can be put back to how it was, as from a backup."""

    def __init__(self, server, name):
        self._server, self._name = server, name
        self._copy: Any = None

    def keep(self):
        if self._server is None:
            self._copy = {name: Path(name).read_bytes() for name in (self._name, f"{self._name}-wal")}
        else:
            self._copy = self._server.database(self._name)

    def put_back(self):
        if self._server is None:
            Path(f"{self._name}-shm").unlink(missing_ok=True)
            for name, content in self._copy.items():
                Path(name).write_bytes(content)
        else:
            self._server.drop(self._name)
            self._server.rename(self._copy, self._name)


class Project:
    """Runs `cyberos blocks` in a store; `owner` is the environment of the one who owns the tables."""

    def __init__(self, run, store, env, owner, database):
        self.run, self.store, self.env, self.owner, self.database = run, store, env, owner, database

    def __call__(self, *args, **more):
        return self.run("blocks", *args, cwd=self.store, CYBEROS_ACTOR="ann", **{**self.env, **more})


def answer(done):
    assert (done.code, done.err) == (0, ""), done
    return json.loads(done.out)


def test_v1_2_and_v1_3_sessions_converge_when_they_end(project):
    """B and C in parallel, ended in either order; D starts and is told both; E is open and stays unseen."""
    for order in (("b", "c"), ("c", "b")):
        refs = {name: f"x:{name}{order[0]}" for name in "bcde"}
        for name in "bce":
            answer(project("append", refs[name], f"sentinel {refs[name]}", "--topic", f"the rule {order[0]}", "--json"))
        ends = [answer(project("end", refs[name], "--key", refs[name], "--json")) for name in order]
        assert [len(each["conflicts"]) for each in ends] == [0, 1]
        assert [each["parents"] for each in ends] == [1, 2]
        assert answer(project("end", refs[order[0]], "--key", refs[order[0]], "--json"))["replayed"]
        started = answer(project("start", refs["d"], "--json"))
        told = answer(project("bootstrap", refs["d"], "--json"))
        texts = [item["text"] for item in told["history"]]
        assert texts[-2:] == [f"sentinel {refs[name]}" for name in order]
        assert f"sentinel {refs['e']}" not in json.dumps(told)
        assert told["conflicts"][0]["conflict_id"] == ends[1]["conflicts"][0]
        window = answer(project("log", "--json", "--limit", "1000"))
        assert window["head"] == ends[1]["block_id"]
        parents = {node["block_id"]: node["parents"] for node in window["nodes"]}
        assert parents[next(tip["block_id"] for tip in window["tips"] if tip["native_ref"] == refs["d"])] == [
            window["head"]
        ]
        kept = answer(project("receipts", refs["d"], "--json"))["receipts"]
        assert [each["blocks"] for each in kept] == [[item["block_id"] for item in told["history"]]]
        sessions = {each["native_ref"]: each["status"] for each in answer(project("list", "--json"))["sessions"]}
        assert (sessions[refs["b"]], sessions[refs["c"]], sessions[refs["e"]]) == ("ended", "ended", "open")
        (conflict,) = ends[1]["conflicts"]
        answer(project("resolve", conflict, "settled now", "--session", refs["d"], "--json"))
        assert conflict in project("conflicts").out
        answer(project("end", refs["d"], "--json"))
        assert conflict not in project("conflicts").out
        project("abandon", refs["e"], "--yes")
        assert started["base_epoch"] == ends[1]["epoch"]


def test_the_graph_is_drawn_with_the_head_and_the_open_tips(project):
    project("append", "x:1", "one")
    project("append", "x:2", "two", "--topic", "t")
    project("end", "x:1", "--summary", "done")
    project("end", "x:2")
    project("append", "x:3", "three")
    drawn = project("log").out.splitlines()
    shapes = [line.partition("blk_")[0] for line in drawn]
    assert shapes[:6] == ["* ", "+ ", "@ ", "| \\", "| @ ", "* | "]
    assert "(open x:3) three" in drawn[0]
    assert "(head, epoch 2) e2 session end x:2" in drawn[2]
    assert drawn[-1] == "epoch 2; sessions: 1 open, 2 ended"
    assert "[t] two" in drawn[5]
    cut = project("log", "--limit", "1").out
    assert "(head, epoch 2)" in cut
    assert "not drawn: blk_" in cut
    assert "older blocks: --before" in cut


def test_what_happens_is_in_the_stores_log(project, run):
    project("append", "x:1", "one")
    project("end", "x:1")
    project("append", "x:2", "two")
    project("abandon", "x:2", "--yes")
    told = AuditChainReader(project.store).recent(100)
    assert [row["kind"].partition(".")[2] for row in told] == [
        "integrated", "session_started", "integrated", "session_ended", "session_started", "session_abandoned",
    ]  # fmt: skip
    assert [row["extra"]["event"] for row in told] == [1, 2, 3, 4, 5, 6]
    assert {row["actor"] for row in told} == {"ann"}
    history = run("history", told[0]["extra"]["path"], "--json", "--store", project.store)
    assert [row["seq"] for row in json.loads(history.out)] == [row["seq"] for row in told[::-1]]
    assert run("doctor", "--store", project.store).code == 0


def test_many_facts_at_once(project, tmp_path):
    lines = [
        {"text": f"fact {number}", "topic": "t", "key": f"k{number}", "data": {"n": number}} for number in range(50)
    ]
    lines[0]["occurred"] = "2026-05-19T08:00:42Z"
    text = "\n".join(map(json.dumps, lines)).encode()
    done = answer(project("append", "x:1", "--jsonl", "-", "--json", stdin=text))
    assert len(done["blocks"]) == 50
    again = answer(project("append", "x:1", "--jsonl", "-", "--json", stdin=text))
    assert again["known"] == done["blocks"]
    shown = answer(project("show", done["blocks"][0], "--json"))["blocks"][0]
    assert (shown["text"], shown["data"], shown["key"], shown["occurred"][:19]) == (
        "fact 0", {"n": 0}, "k0", "2026-05-19T08:00:42",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("args", "stdin", "code", "error"),
    [
        (["start", "nocolon"], b"", 2, "bad_argument"),
        (["append", "x:1"], b"", 2, "bad_argument"),
        (["append", "x:1", "a", "b", "--fact-key", "k"], b"", 2, "bad_argument"),
        (["append", "x:1", "--jsonl", "-"], b"", 2, "bad_argument"),
        (["append", "x:1", "--jsonl", "-"], b"{", 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b"[1]", 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": 1}', 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": null}', 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": "a", "tpoic": "b"}', 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": "a", "data": {"x": 0.5}}', 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": "a", "resolves": "x"}', 4, "fact_refused"),
        (["append", "x:1", "--jsonl", "-"], b'{"text": "a", "occurred": "soon"}', 2, "bad_argument"),
        (["append", "x:1", "--jsonl", "/nowhere"], b"", 2, "bad_argument"),
        (["append", "ses_none", "a"], b"", 3, "absent"),
        (["end", "x:never"], b"", 3, "absent"),
        (["show", "blk_none"], b"", 3, "absent"),
        (["receipts", "ses_none"], b"", 3, "absent"),
        (["resolve", "cft_none", "a", "--session", "x:1"], b"", 3, "absent"),
        (["list", "--project", "other"], b"", 3, "absent"),
        (["abandon", "x:1"], b"", 4, "not_confirmed"),
        (["start", "x:1", "--key", "\n"], b"", 2, "bad_argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_what_cannot_be(project, args, stdin, code, error):
    done = project(*args, stdin=stdin)
    assert (done.code, done.out) == (code, "")
    assert f"error[{error}]" in done.err
    assert "Traceback" not in done.err
    assert json.loads(project("list", "--json").out)["sessions"] == []


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_session_that_is_over_says_so(project):
    project("append", "x:1", "a")
    project("end", "x:1")
    done = project("end", "x:1", "--json")
    error = json.loads(done.err)["error"]
    assert (done.code, error["code"], error["status"], error["epoch"]) == (5, "session_ended", "ended", 1)
    assert "cyberos blocks start x:1" in error["hints"][0]


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_enrolling_may_be_repeated_and_names_a_project(project):
    done = answer(project("enrol", "--json"))
    assert (done["name"], done["created"], done["bound"]) == ("demo", False, False)
    assert answer(project("enrol", "second", "--json"))["created"]
    assert "several projects: demo, second" in project("list").err
    assert answer(project("start", "x:1", "--project", "second", "--json"))["created"]


def test_a_store_that_is_not_enrolled(run, store):
    done = run("blocks", "list", "--store", store)
    assert done.code == 3
    assert "error[not_enrolled]" in done.err
    assert "cyberos blocks enrol" in done.err
    assert not (store.parent / "blocks.db").exists()


def test_a_database_that_was_put_back_is_noticed(project, run):
    """By the check, by the next change, and where the file lies beside the store by the doctor."""
    project("append", "x:1", "one")
    project.database.keep()
    project("end", "x:1")
    assert project("check").code == 0
    project.database.put_back()
    done = project("check", "--json")
    found = json.loads(done.out)
    assert (done.code, found["sound"], [each["id"] for each in found["problems"]]) == (1, False, ["put_back"])
    assert "put back to an older state" in project("check").out
    assert "nothing is anchored: the chain has event 4" in project("start", "x:1").err
    assert "nothing is anchored: epoch 1 is not the one" in project("end", "x:1").err
    assert [row["extra"]["event"] for row in AuditChainReader(project.store).recent(100)] == [1, 2, 3, 4]
    doctor = run("doctor", "--store", project.store)
    assert (doctor.code, "blocks." in doctor.out) == ((1, True) if not project.env else (0, True))


COMMANDS = [
    *(["append", "{session}", "a"], ["resume", "{session}"], ["end", "{session}", "--key", "k"]),
    *(["abandon", "{session}", "--yes"], ["show", "{session}"], ["show", "{block}"], ["receipts", "{session}"]),
    *(["bootstrap", "{session}"], ["resolve", "{conflict}", "a", "--session", "{session}"]),
    *(["start", "x:1"], ["append", "x:1", "a"], ["end", "x:1"], ["list"], ["log"], ["conflicts"], ["bootstrap"]),
    *(["check"], ["show", "x:1"]),
]


def test_i5_4_and_c8_all_but_the_owner_get_the_same_bytes(project, run):
    """Another principal, a token that is revoked or has no right, and garbage; for what is there and what is not."""
    for ref in ("x:1", "x:2"):
        project("append", ref, f"of {ref}", "--topic", "t")
    (session, other) = (answer(project("start", ref, "--json"))["session_id"] for ref in ("x:1", "x:2"))
    answer(project("end", "x:1", "--key", "k", "--json"))
    (conflict,) = answer(project("end", "x:2", "--json"))["conflicts"]
    block = answer(project("show", session, "--json"))["blocks"][1]["block_id"]
    name = answer(project("list", "--json"))["project_id"]

    def token(principal, *more):
        return answer(run("blocks", "token", "create", principal, *more, "--json", cwd=project.store, **project.owner))

    revoked = token("ann" if project.env else access.OWNER)
    done = run("blocks", "token", "revoke", revoked["credential_id"], cwd=project.store, **project.owner)
    assert done.code == 0
    tokens = ["garbage", revoked["token"], token("eve")["token"], token("eve", "--scopes", "read")["token"]]
    there = {"session": session, "block": block, "conflict": conflict}
    nowhere = {"session": "ses_none", "block": "blk_none", "conflict": "cft_none"}
    for shape in ([], ["--json"]):
        told = set()
        for presented in tokens:
            for names, where in ((there, name), (nowhere, "prj_none")):
                for args in COMMANDS:
                    line = [each.format(**names) for each in args]
                    told.add(project(*line, "--project", where, *shape, CYBEROS_BLOCKS_TOKEN=presented))
        assert len(told) == 1, told
        assert told.pop()[:2] == (3, "")
    assert answer(project("show", other, "--json"))["session"]["status"] == "ended"


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_server_demands_a_token(project):
    for token in ("", "garbage"):
        for args in (["list"], ["start", "x:1"], ["log"], ["enrol"]):
            done = project(*args, CYBEROS_BLOCKS_TOKEN=token)
            assert (done.code, done.out) == (3, "")
            assert done.err == "error[absent]: There is no such thing, or it is not yours.\n"


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_what_the_program_runs_under_cannot_make_tokens(project):
    done = project("token", "create", "eve")
    assert (done.code, done.out) == (70, "")
    assert "permission denied" in done.err


def test_a_server_that_is_not_there(run, store):
    url = "postgresql://ann:secret@127.0.0.1:1/none"
    done = run("blocks", "list", "--store", store, CYBEROS_BLOCKS_URL=url, CYBEROS_BLOCKS_TOKEN="x")
    assert done.code == 70
    assert "error[blocks_unreachable]: cannot connect to postgresql://ann@127.0.0.1:1/none" in done.err
    assert "secret" not in done.err


def test_a_database_of_no_known_kind(run, store):
    done = run("blocks", "list", "--store", store, CYBEROS_BLOCKS_URL="mysql://x/y")
    assert (done.code, "error[bad_argument]" in done.err) == (2, True)


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_tokens_can_be_made_listed_and_revoked(project):
    made = answer(project("token", "create", "ann", "--name", "laptop", "--days", "30", "--json"))
    listed = project("token", "list").out
    assert made["credential_id"] in listed
    assert made["token"] not in listed
    assert project("token", "revoke", made["credential_id"]).code == 0
    assert "revoked" in project("token", "list").out
    assert project("token", "revoke", "tok_none").code == 3


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_the_file_is_its_owners_alone(project):
    file = connector.file_of(str(project.store.parent / "blocks.db"))
    assert os.stat(file).st_mode & 0o077 == 0
    assert not [name for name in os.listdir(project.store) if name.startswith("blocks")]


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_store_that_is_written_to_meanwhile_is_told_later(project, monkeypatch):
    monkeypatch.setattr(sessions, "PATIENCE", 0.05)
    handle = os.open(project.store / ".lock", os.O_RDWR)
    project("start", "x:1")
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        done = project("end", "x:1", "--json")
    finally:
        os.close(handle)
    assert done.code == 0
    assert "the store's log has not been told yet" in done.err
    assert answer(project("start", "x:2", "--json"))["anchored"] == 3


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO])
def test_a_file_that_may_not_be_changed_is_read_and_changes_are_refused(project, monkeypatch, number):
    assert project("start", "x:1").code == 0
    really = os.open

    def refuse(path, flags, *args, **more):
        if str(path).endswith("blocks.db.lock"):
            raise OSError(number, os.strerror(number), path)
        return really(path, flags, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert "x:1" in project("list").out
    for change in (("append", "x:1", "no"), ("end", "x:1"), ("start", "x:2"), ("abandon", "x:1", "--yes")):
        refused = project(*change)
        expected = (70, "io_failure") if number == errno.EIO else (4, "store_read_only")
        assert (refused.code, f"error[{expected[1]}]" in refused.err) == (expected[0], True)
    assert "x:2" not in project("list").out
