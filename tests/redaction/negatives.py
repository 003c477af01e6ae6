"""Texts in which there is nothing to find: prose, code, and what programs write, made from one seed."""

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.redaction.positives import SEED
from tests.redaction.tokens import ALNUM, HEX, drawn, number

ROOT = Path(__file__).parents[2]
# Where values that look like somebody's are the point.
_ABOUT_IT = ("redact",)


def prose() -> Iterator[str]:
    yield from _lines(Path(__file__).parent.joinpath("prose").glob("*.txt"))
    yield from _lines(ROOT.joinpath("docs").rglob("*.md"))
    yield from _lines(
        (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "LICENSE", ROOT / "rust" / "log" / "FORMAT.md")
    )


def code() -> Iterator[str]:
    yield from _lines(ROOT.joinpath("python").rglob("*.py"))
    yield from _lines(ROOT.joinpath("rust").rglob("*.rs"))
    yield from _lines(ROOT.joinpath("benches").rglob("*.py"))


def _lines(files: Iterator[Path] | tuple[Path, ...]) -> Iterator[str]:
    for file in sorted(files):
        if not any(word in str(file.relative_to(ROOT)) for word in _ABOUT_IT):
            yield from (line for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def machine_made() -> Iterator[str]:
    """Yields timestamps, hashes and numbers, alone and in a line of a log or of JSON."""
    random_ = random.Random(SEED)
    for _ in range(400):
        seconds = random_.randrange(1_500_000_000, 1_900_000_000)
        day = f"20{random_.randrange(10, 30)}-{random_.randrange(1, 13):02}-{random_.randrange(1, 29):02}"
        clock = f"{random_.randrange(24):02}:{random_.randrange(60):02}:{random_.randrange(60):02}"
        compact = f"{day.replace('-', '')}{clock.replace(':', '')}"
        made = (
            *(
                str(seconds),
                f"{seconds}{number(random_, 3)}",
                f"{seconds}{number(random_, 6)}",
                f"{seconds}{number(random_, 9)}",
            ),
            *(
                f"{day}T{clock}Z",
                f"{day} {clock}.{number(random_, 6)}+07:00",
                compact,
                f"{day[8:]}/{day[5:7]}/{day[:4]} {clock}",
            ),
            *(
                drawn(random_, HEX, 7),
                drawn(random_, HEX, 40),
                drawn(random_, HEX, 64),
                "sha256:" + drawn(random_, HEX, 64),
            ),
            *(str(uuid.UUID(int=random_.getrandbits(128))), drawn(random_, HEX, 32), drawn(random_, ALNUM, 26).upper()),
            *(number(random_, random_.randrange(1, 13)), f"{random_.random()}", f"{random_.uniform(-1e6, 1e6):.6f}"),
            *(
                f"{random_.randrange(10**9):,}",
                f"{random_.randrange(100)}.{random_.randrange(100)}.{random_.randrange(100)}",
            ),
            *(
                f"{random_.randrange(4096)}x{random_.randrange(4096)}",
                f"0x{drawn(random_, HEX, 16)}",
                f"1.{number(random_, 12)}e-{number(random_, 2)}",
            ),
            " ".join(str(random_.randrange(10_000)) for _ in range(8)),
            ", ".join(f"{random_.uniform(0, 180):.6f}" for _ in range(4)),
        )
        yield from made
        picked = random_.choice(made)
        yield f'{{"ts": {seconds}, "id": "{picked}", "size": {random_.randrange(10**7)}}}'
        yield f"[{day} {clock}] INFO worker-{random_.randrange(64)} took {random_.randrange(9999)} ms, id={picked}"
