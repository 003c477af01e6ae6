"""What is measured of redaction: texts of 8 KB with nothing in them, with some, and with nothing else."""

import random
import time
from collections.abc import Iterator

from measure import Stats
from report import Case
from stdnum import iban, luhn

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


def cases(runs: int) -> Iterator[Case]:
    """Redacts texts of 8 KB, after a first one that loads the validators."""
    texts = {
        "nothing to find": _text(0.0),
        "one thing in ten": _text(0.1),
        "a list of contacts": _contacts(),
        "nothing but": _text(1.0),
    }
    for name, (text, expected) in texts.items():
        done = redact_text(text)
        if done.total != expected:
            raise AssertionError(f"{expected} things put in, {done.total} found: {done.counts}")
        taken = []
        for _ in range(runs):
            start = time.perf_counter()
            redact_text(text)
            taken.append(time.perf_counter() - start)
        stats = Stats.of(taken)
        measured = f"{stats.p95 * 1e3:.2f} ms"
        yield Case(f"redact 8 KB, {name}", SIZE, "ms", stats, "p95 <= 5 ms", measured, stats.p95 <= _TARGET_S)


def _text(share: float) -> tuple[str, int]:
    """Returns a text in which this share of the parts is to be found, and how many those are."""
    random_ = random.Random(SEED)
    parts: list[str] = []
    size = found = 0
    while size < SIZE:
        is_found = random_.random() < share
        part = f"{_value(random_)} \n" if is_found else random_.choice(_PROSE)
        found += is_found
        parts.append(part)
        size += len(part.encode())
    return "".join(parts), found


def _contacts() -> tuple[str, int]:
    """Returns a table of people with an address and a telephone number each, and how many of those there are."""
    random_ = random.Random(SEED)
    lines = ["name,mail,phone,since"]
    while sum(len(line) + 1 for line in lines) < SIZE:
        lines.append(f"Nguyen Van {len(lines)},{_mail(random_)},{_phone(random_)},2024-05-{len(lines) % 28 + 1:02d}")
    return "\n".join(lines), 2 * (len(lines) - 1)


def _value(random_: random.Random) -> str:
    """Returns something to be found; hardly two are alike, since the answer about one is used again."""
    kinds = (
        _mail,
        _phone,
        _card,
        _account,
        lambda _: f"192.168.{random_.randrange(256)}.{random_.randrange(1, 255)}",
        lambda _: f"password=hunter{_digits(random_, 4)}",
        lambda _: f"postgres://app:sesame{_digits(random_, 4)}@db.example/x",
    )
    return random_.choice(kinds)(random_)


def _mail(random_: random.Random) -> str:
    return f"ann.miller{_digits(random_, 4)}@example.com"


def _phone(random_: random.Random) -> str:
    return f"+84 91{_digits(random_, 1)} {_digits(random_, 3)} {_digits(random_, 3)}"


def _card(random_: random.Random) -> str:
    number = "4" + _digits(random_, 14)
    return number + luhn.calc_check_digit(number)


def _account(random_: random.Random) -> str:
    number = _digits(random_, 18)
    return "DE" + iban.calc_check_digits("DE00" + number) + number


def _digits(random_: random.Random, count: int) -> str:
    return "".join(random_.choices("0123456789", k=count))
