"""Checks a file that `cyberos prove` made, with nothing but Python: python verify_proof.py FILE NAME+ID+KEY

NAME+ID+KEY is the public key of the log NAME, from somebody you trust and not from the proof. What is proved: the row
is the index-th leaf of a tree (RFC 9162, 2.1) whose root is in a head that this key has signed (Ed25519, RFC 8032).
"""

import hashlib
import json
import sys
from base64 import b64decode, b64encode

P = 2**255 - 19  # Ed25519: the points of -x² + y² = 1 + d·x²·y², modulo P
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def need(condition, otherwise):
    if not condition:
        raise ValueError(otherwise)


def add(a, b):
    product = D * a[0] * b[0] * a[1] * b[1] % P
    x = (a[0] * b[1] + a[1] * b[0]) * pow(1 + product, -1, P) % P
    return x, (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P) % P


def times(scalar, point):
    total = (0, 1)
    for bit in f"{scalar:b}":
        total = add(add(total, total), point if bit == "1" else (0, 1))
    return total


def point(data):
    y, odd = int.from_bytes(data, "little") % 2**255, data[31] >> 7  # the highest bit says whether x is odd
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    need(y < P and x * x % P == square and not (odd and x == 0), "a key or signature is no point of the curve")
    return (x if x % 2 == odd else P - x), y


def check_signature(public, message, signature):
    need(len(signature) == 64, "the log's key has not signed the head")
    scalar = int.from_bytes(signature[32:], "little")
    hashed = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    right = add(point(signature[:32]), times(hashed, point(public)))
    need(scalar < ORDER and times(scalar, base) == right, "the signature is wrong")


def verify(proof, key):
    (name, key_id, public), (head, text, signed) = key.split("+", 2), proof.decode().split("\n\n")
    (heading, extra, index, *path), (origin, size, root, *_) = head.split("\n"), text.split("\n")
    need(heading == "c2sp.org/tlog-proof@v1" and signed.endswith("\n"), "this is no proof, or is cut off")
    need(origin == name, f"the proof is of the log {origin}")
    signatures = [b64decode(line.split(" ")[2]) for line in signed.splitlines() if line.startswith(f"— {name} ")]
    ours = {signature[:4].hex(): signature[4:] for signature in signatures}.get(key_id, b"")
    check_signature(b64decode(public)[1:], f"{text}\n".encode(), ours)
    said = json.loads(b64decode(extra.removeprefix("extra "), validate=True))
    row, hashed = json.loads(said["payload"]), hashlib.sha256(b"\x00" + said["payload"].encode()).digest()
    at, last = int(index.removeprefix("index ")), int(size) - 1
    need(0 <= at <= last, "the row is behind the signed head")
    for sibling in [b64decode(line, validate=True) for line in path]:  # from the leaf up to the root
        need(last > 0, "the path is too long")
        left = at & 1 or at == last  # whether that is where the sibling is
        hashed = hashlib.sha256(b"\x01" + (sibling + hashed if left else hashed + sibling)).digest()
        while left and not at & 1 and at:
            at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    need(last == 0 and b64encode(hashed).decode() == root, "the row is not under the signed head")
    body = b64decode(said["body"], validate=True) if "body" in said else None
    need(body is None or hashlib.sha256(body).hexdigest() == row["content_sha256"], "the content is not the row's")
    return row


if __name__ == "__main__":
    print(json.dumps(verify(open(sys.argv[1], "rb").read(), sys.argv[2]), indent=2, ensure_ascii=False))
