"""Writes the vector files beside this script with msgspec, which upstream writes its rows with."""

import hashlib
import json
import math
import random
import struct
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
ENCODER = msgspec.json.Encoder(order="sorted")


def floats(rng: random.Random) -> list[float]:
    """Returns floats around every place where the spelling changes, and random ones."""
    found = [0.0, -0.0, 0.1, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0]
    for exponent in range(-12, 26):
        for digits in (1.0, 1.5, 1.2345, 9.999999999999999):
            found += [digits * 10.0**exponent, -digits * 10.0**exponent]
    found += [2.0**power for power in range(-80, 80, 3)]
    found += [float(f"{rng.random():.3f}") for _ in range(30)]
    while len(found) < 600:
        (number,) = struct.unpack(">d", rng.randbytes(8))
        if math.isfinite(number):
            found.append(number)
    return found


def canonical_lines(rng: random.Random) -> list[tuple[str, str]]:
    """Returns pairs of a JSON text and its canonical spelling."""
    values: list[object] = [None, True, False, [], {}, [[]], [{}, []], {"a": {"b": [1, {"c": None}]}}]
    values += [0, -1, 10, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]
    values += [2**64, -(2**63) - 1, 10**40, -(10**40)]
    values += floats(rng)
    codes = (*range(0x100), 0x2028, 0x2029, 0xFEFF, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF)
    characters = [chr(code) for code in codes]
    values += characters
    values.append({character: code for code, character in enumerate(characters)})
    keys = ["", "a", "aa", "a\0", "a\0b", 'a"', "a#", "a\\", "a]", "a\n", "é", "z", "\U00010000", "\uffff"]
    values.append(dict.fromkeys(keys, 0))
    lines = [
        (json.dumps(value, ensure_ascii=bool(at % 2)), ENCODER.encode(value).decode())
        for at, value in enumerate(values)
    ]
    texts = ["-0", "1E5", "1e5", "1.0e0", "0.00001", "1e-5", "1e-6", "0.000001", "1e16", "1.50", "1e+2"]
    texts += ["10000000000000000.0", r'"\/"', r'"\u0041"', r'"\u00e9"', r'"\ud83d\ude00"', r'"\u000A"', r'"\u001F"']
    texts += ["[ 1 , 2 ]", '{"b":1,"a":2}', " {} "]
    return lines + [(text, ENCODER.encode(msgspec.json.decode(text)).decode()) for text in texts]


def rows(rng: random.Random) -> list[bytes]:
    """Returns a chain of payloads."""
    extras: list[dict[str, object]] = [
        {},
        {"kind": "fact"},
        {"to": "memories/facts/b.md"},
        {"score": 0.278, "tiny": 1e-5, "big": 2**64 - 1, "low": -(2**63), "huge": 1e300, "none": None, "yes": True},
        {"note": 'quote " backslash \\ tab \t nul \0 del \x7f é \u2028 \U0001f600', "k\ney": [1, [2.5, {"deep": {}}]]},
        {"affected_paths": ["memories/a.md", "", 7, 'memories/é "x".md', "memories/a.md"]},
    ]
    prev, payloads = bytes(32), []
    for at in range(24):
        row = {
            "actor": rng.choice(["coding-agent", "Zoë", 'odd "actor","chain":"' + "0" * 64]),
            "chain": "",
            "content_sha256": rng.choice(["", rng.randbytes(32).hex()]),
            "extra": extras[at % len(extras)],
            "op": ["put", "put", "move", "memory.importance_scored", "str_replace", "dream.proposal_applied"][at % 6],
            "path": rng.choice(["", "memories/facts/a.md", "memories/übung/“x”.md"]),
            "prev_chain": prev.hex(),
            "ts_ns": rng.randrange(2**64),
        }
        chain = hashlib.sha256(ENCODER.encode(row) + prev).digest()
        payloads.append(ENCODER.encode(row | {"chain": chain.hex()}))
        prev = chain
    return payloads


def main() -> None:
    """Writes both files."""
    lines = canonical_lines(random.Random(1))
    (HERE / "canonical.tsv").write_bytes("".join(f"{text}\t{spelled}\n" for text, spelled in lines).encode())
    (HERE / "rows.jsonl").write_bytes(b"".join(payload + b"\n" for payload in rows(random.Random(2))))


if __name__ == "__main__":
    main()
