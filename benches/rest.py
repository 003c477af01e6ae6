"""What is measured of `cyberos serve`: histories over HTTP, many readers at a time."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from measure import Stats
from report import Case
from stores import SEED, Built

_PROGRAM = str(Path(sys.executable).parent / "cyberos")
_READERS = 50
# Seconds between two questions of one reader: 50 readers ask 500 times a second.
_PACE_S = 0.1
_TARGET_S = 0.005
_LIST_TARGET_S = 0.05


class _Load(NamedTuple):
    """What came of some load: seconds an answer took, each, and answers a second."""

    stats: Stats
    rate: float


def histories(built: Built, seconds: float) -> Iterator[Case]:
    """Ten entries of the hot, the cold, the moved and the missing memory in turn, by 50 readers that stay connected."""
    loads = {}
    for workers in (1, 2):
        with _served(built.folder, workers) as address:
            _check(built, address)
            asyncio.run(_load(address, built, min(seconds, 1.0), 0.0))
            by = "one process" if workers == 1 else f"{workers} processes"
            if workers == 1:
                yield from _listing(built, address)
                paced = asyncio.run(_load(address, built, seconds, _PACE_S))
                loads[f"REST history, {_READERS} readers, each every {_PACE_S * 1e3:.0f} ms, {by}"] = paced
            packed = asyncio.run(_load(address, built, seconds, 0.0))
            loads[f"REST history, {_READERS} readers without a pause, {by}"] = packed
    for name, load in loads.items():
        p95 = load.stats.p95
        measured = f"{p95 * 1e3:.2f} ms, {load.rate:,.0f} answers/s"
        yield Case(name, built.size, "ms", load.stats, "p95 <= 5 ms", measured, p95 <= _TARGET_S)


@contextmanager
def _served(store: Path, workers: int) -> Iterator[tuple[str, int]]:
    command = [_PROGRAM, "--store", str(store), "serve", "--port", "0", "--json"]
    command += ["--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        text = ""
        try:
            while not text.endswith("}\n"):
                text += server.stdout.readline().decode()
            url = urlsplit(json.loads(text)["url"])
            yield str(url.hostname), int(url.port or 0)
        finally:
            server.terminate()


def _request(path: str) -> bytes:
    return _get(f"memories/{quote(path)}/history?limit=10")


def _get(url: str) -> bytes:
    return f"GET /api/v2/{url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


class _Connection(asyncio.Protocol):
    """One connection that is kept: a question at a time. Cheap, since it shares the processors with the server."""

    def __init__(self) -> None:
        self._got = bytearray()
        self._wanted: int | None = None
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        if self._wanted is None:
            head, found, _ = self._got.partition(b"\r\n\r\n")
            if not found:
                return
            assert head.startswith(b"HTTP/1.1 200"), head
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self._wanted = len(head) + 4 + int(length)
        if len(self._got) >= self._wanted and self._answer is not None:
            self._answer.set_result(bytes(self._got))

    async def ask(self, request: bytes) -> bytes:
        self._got, self._wanted = bytearray(), None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        self._transport.close()


async def _connect(address: tuple[str, int]) -> _Connection:
    return (await asyncio.get_running_loop().create_connection(_Connection, *address))[1]


async def _load(address: tuple[str, int], built: Built, seconds: float, pace: float) -> _Load:
    requests = [_request(probe.path) for probe in built.probes.values()]
    took: list[float] = []
    dice = random.Random(SEED)
    end = time.perf_counter() + seconds

    async def reader(number: int, delay: float) -> None:
        connection = await _connect(address)
        due = time.perf_counter() + delay
        turn = number
        while due < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            await connection.ask(requests[turn % len(requests)])
            took.append(time.perf_counter() - start)
            turn += 1
            due = max(due + pace, time.perf_counter())
        connection.close()

    await asyncio.gather(*(reader(number, dice.random() * pace) for number in range(_READERS)))
    return _Load(Stats.of(took), len(took) / seconds)


def _listing(built: Built, address: tuple[str, int]) -> Iterator[Case]:
    """A hundred memories by name: the first question, which reads the whole log, and those that follow."""

    async def ask() -> list[float]:
        connection = await _connect(address)
        took = []
        for _ in range(200):
            start = time.perf_counter()
            answer = await connection.ask(_get("memories?limit=100&prefix=memories/facts/"))
            took.append(time.perf_counter() - start)
            assert answer.count(b'"body_hash"') == 100
        connection.close()
        return took

    first, *later = asyncio.run(ask())
    yield Case("REST memories, the first question", built.size, "ms", Stats.of([first]))
    stats = Stats.of(later)
    measured = f"{stats.p95 * 1e3:.2f} ms"
    yield Case(
        "REST memories, a hundred", built.size, "ms", stats, "p95 <= 50 ms", measured, stats.p95 <= _LIST_TARGET_S
    )


def _check(built: Built, address: tuple[str, int]) -> None:
    async def ask() -> None:
        connection = await _connect(address)
        for probe in built.probes.values():
            answer = await connection.ask(_request(probe.path))
            entries = json.loads(answer.partition(b"\r\n\r\n")[2])["entries"]
            kinds = tuple(entry["kind"] for entry in entries)
            if kinds != probe.newest:
                raise AssertionError(f"{kinds!r}, not {probe.newest!r}")
        connection.close()

    asyncio.run(ask())
