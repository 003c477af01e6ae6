"""What is measured of redaction: texts of 8 KB with nothing in them, with some, and with little else."""

import random
import time
from collections.abc import Iterator

from measure import Stats
from report import Case

from cyberos.redaction import redact_text

SIZE = 8_192
SEED = 20_261_130
_TARGET_S = 0.005
_PROSE = (
    "We moved the deployment to Tuesday because the release on 2026-03-14 took four hours, and 2.13.9 is affected. ",
    "Mật khẩu phải có ít nhất mười hai ký tự, một chữ số và một ký hiệu. ",
    "The token is rotated every 90 days; ask the owner for a key, and keep it out of the logs. ",
    '{"ts": 1700000000, "id": "9f86d081884c7d65", "size": 4096, "took_ms": 17} ',
)
_FOUND = (
    "ann.miller@example.com",
    "+84 912 345 678",
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    "192.168.12.34",
    "password=hunter2",
    "postgres://app:sesame@db.example/x",
)


def cases(runs: int) -> Iterator[Case]:
    """Redacts texts of 8 KB, after a first one that loads the validators."""
    for name, share in (("nothing to find", 0.0), ("one thing in ten", 0.1), ("nothing but", 1.0)):
        text, expected = _text(share)
        done = redact_text(text)
        if done.total != expected:
            raise AssertionError(f"{expected} things put in, {done.total} found: {done.counts}")
        taken = []
        for _ in range(runs):
            start = time.perf_counter()
            redact_text(text)
            taken.append(time.perf_counter() - start)
        stats = Stats.of(taken)
        if share == 1.0:  # hundreds of values, each of which a validator confirms: no text is like that
            yield Case(f"redact 8 KB, {name}", SIZE, "ms", stats)
            continue
        measured = f"{stats.p95 * 1e3:.2f} ms"
        yield Case(f"redact 8 KB, {name}", SIZE, "ms", stats, "p95 <= 5 ms", measured, stats.p95 <= _TARGET_S)


def _text(share: float) -> tuple[str, int]:
    """Returns a text in which this share of the parts is to be found, and how many those are."""
    random_ = random.Random(SEED)
    parts: list[str] = []
    size = found = 0
    while size < SIZE:
        is_found = random_.random() < share
        part = f"{random_.choice(_FOUND)} \n" if is_found else random_.choice(_PROSE)
        found += is_found
        parts.append(part)
        size += len(part.encode())
    return "".join(parts), found
