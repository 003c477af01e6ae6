"""The server as a program: starting, ending, and what clients do to it."""

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from cyberos.api import server
from cyberos.core.reader import AuditChainReader
from cyberos.operations import verify
from tests.surfaces.rest.test_history import start

X = "memories/facts/x.md"


def test_ctrl_c_ends_it_and_a_token_from_the_environment_is_demanded(store):
    process, said = start(store, CYBEROS_TOKEN="a-token-of-24-characters")
    assert said["token"] is True
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert process.wait(20) == 130


def test_several_processes_answer_at_one_address_and_end_together(store, writer):
    writer.put(X, "one\n")
    process, said = start(store, "--workers", "2")
    host, _, port = said["url"].removeprefix("http://").partition(":")
    try:
        for _ in range(4):
            connection = http.client.HTTPConnection(host, int(port), timeout=60)
            connection.request("GET", f"/api/v2/memories/{X}/history")
            assert len(json.load(connection.getresponse())["entries"]) == 1
            connection.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        assert process.wait(30) == -signal.SIGTERM
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=5)


def test_ctrl_c_ends_several_processes_and_is_told_as_with_one(store):
    process, _ = start(store, "--workers", "2")
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert process.wait(30) == 130


def test_a_port_in_use_is_told(cli, store):
    with server.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = cli("--store", store, "serve", "--port", port, "--json")
    assert (done.code, done.out) == (6, "")
    error = json.loads(done.err)["error"]
    assert (error["code"], error["host"], error["port"]) == ("address_in_use", "127.0.0.1", port)
    assert error["hints"] == ["choose another with --port; 0 takes any that is free"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--host", "0.0.0.0"], 2, "can be reached from other machines"),
        (["--host", "no.such.host.invalid"], 2, "cannot find the host"),
        (["--host", "192.0.2.1"], 2, "cannot listen at 192.0.2.1"),
        (["--port", "65536"], 2, "--port"),
        (["--token-file", "/nowhere/token"], 70, "cannot read /nowhere/token"),
        (["--token-file", "/etc/passwd"], 9, "others may use /etc/passwd"),
    ],
)
def test_what_cannot_be_served_is_told(cli, store, args, code, said):
    done = cli("--store", store, "serve", "--port", "0", *args)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_short_token_in_the_environment_is_refused(cli, store, monkeypatch):
    monkeypatch.setenv("CYBEROS_TOKEN", "short")
    done = cli("--store", store, "serve", "--port", "0")
    assert (done.code, "the token in CYBEROS_TOKEN" in done.err) == (9, True)
    assert "short" not in done.err


def test_where_the_extra_is_missing_that_is_told(store):
    code = "import sys; sys.modules['fastapi'] = None; from cyberos.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "--store", str(store), "serve", "--json"],
        capture_output=True,
        check=False,
    )
    error = json.loads(done.stderr)["error"]
    assert (done.returncode, error["code"], error["extra"]) == (9, "extra_missing", "serve")
    assert error["hints"] == ["pip install 'cyberos[serve]'"]


def test_clients_that_hang_up_at_any_point_do_no_harm(rest, writer):
    for number in range(20):
        writer.put(X, "".join(f"{number} {line}\n" for line in range(500)))
    request = f"GET /api/v2/memories/{X}/history?limit=20&show_body=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    for cut in (1, 10, len(request) - 1, len(request)):
        for reset in (False, True):
            with socket.create_connection(("127.0.0.1", rest.port), timeout=20) as connection:
                if reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.sendall(request[:cut])
    assert rest.memory(X, "history", limit=20, show_body=True).status == 200


def test_a_check_ends_when_its_client_hangs_up(rest, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def endless(store, *, deep, progress):
        begun.set()
        try:
            for _ in range(10_000):
                progress("rows", 0, 1)
                time.sleep(0.001)
        except Exception:
            ended.set()
            raise
        raise AssertionError("nobody has told it to end")

    monkeypatch.setattr(verify, "verify", endless)
    with socket.create_connection(("127.0.0.1", rest.port), timeout=20) as connection:
        connection.sendall(b"GET /api/v2/verify HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert begun.wait(20)
        assert rest.get("health").status == 200, "others are answered meanwhile"
        assert not ended.is_set()
    assert ended.wait(20)


def test_many_readers_beside_a_writer_see_whole_answers_that_only_grow(rest, writer):
    writer.put(X, "0\n")
    done = threading.Event()

    def read(_number):
        newest = answers = 0
        while not done.is_set():
            entries = rest.memory(X, "history", limit=5, show_body=True).json["entries"]
            seqs = [entry["seq"] for entry in entries]
            assert seqs == sorted(seqs, reverse=True)
            assert seqs[0] >= newest
            newest = seqs[0]
            assert all(entry["body_diff"] or entry["body_diff_reason"] == "first" for entry in entries)
            rows = rest.get("rows?newest_first=true&limit=3").json["rows"]
            assert all(row["prev_chain"] == older["chain"] for row, older in itertools.pairwise(rows))
            answers += 1
        return answers

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read, number) for number in range(8)]
        for number in range(1, 60):
            writer.put(X, f"{number}\n")
        done.set()
        assert all(reader.result(20) for reader in readers)
    assert AuditChainReader(rest.store).last_seq() == 60
    assert rest.get("verify").json["ok"]


def test_a_connection_is_kept_for_many_questions(shared):
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=20)
    connection.connect()
    first = connection.sock
    for _ in range(5):
        connection.request("GET", "/api/v2/health")
        assert connection.getresponse().read()
        assert connection.sock is first
    connection.close()


def test_serving_leaves_nothing_open(serving, store):
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with serving(store) as rest:
        assert rest.get("health").status == 200
    after = set(os.listdir("/proc/self/fd")) if before else set()
    assert len(after) <= len(before) + 1
