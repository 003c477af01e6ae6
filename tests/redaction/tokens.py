"""Keys and tokens, put together from parts, so that no file holds what another scanner would take for one."""

import base64
import json
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE64 = ALNUM + "+/"
BASE32 = string.ascii_uppercase + "234567"


Make = Callable[[random.Random], str]


def drawn(random_: random.Random, letters: str, count: int) -> str:
    return "".join(random_.choices(letters, k=count))


def number(random_: random.Random, count: int) -> str:
    return drawn(random_, string.digits, count)


def token(prefix: str, letters: str, count: int, suffix: str = "") -> Make:
    return lambda random_: prefix + drawn(random_, letters, count) + suffix


def jwt(random_: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return ".".join(
        (part({"alg": "HS256", "typ": "JWT"}), part({"sub": drawn(random_, ALNUM, 9)}), drawn(random_, URLSAFE, 43))
    )


def pem(kind: str, joint: str) -> Make:
    def make(random_: random.Random) -> str:
        lines = [drawn(random_, BASE64, 64) for _ in range(random_.randrange(3, 26))]
        return joint.join(
            (f"-----BEGIN {kind}-----", *lines, drawn(random_, BASE64, 22) + "==", f"-----END {kind}-----")
        )

    return make


def cut_pem(random_: random.Random) -> str:
    return "\n".join(("-----BEGIN RSA " + "PRIVATE KEY-----", *(drawn(random_, BASE64, 64) for _ in range(5))))


TOKENS: dict[str, list[Make]] = {
    "PRIVATE_KEY": [
        *(
            pem(f"{kind}PRIVATE KEY", joint)
            for kind in ("", "RSA ", "EC ", "ENCRYPTED ", "OPENSSH ")
            for joint in ("\n", "\\n")
        ),
        pem("PGP PRIVATE KEY BLOCK", "\n"),
        pem("PRIVATE KEY", "\r\n    "),
        cut_pem,
        token("AGE-SECRET-" + "KEY-1", UPPER, 58),
    ],
    "AWS_KEY": [token("AK" + "IA", BASE32, 16), token("AS" + "IA", UPPER, 15, "7")],
    "GCP_KEY": [
        token("AI" + "za", URLSAFE, 34, "x"),
        token("GOC" + "SPX-", URLSAFE, 27, "a"),
        token("ya29" + ".", URLSAFE, 60, "q"),
    ],
    "AZURE_KEY": [
        token("DefaultEndpointsProtocol=https;AccountName=store;AccountKey=", BASE64, 86, "=="),
        token("Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=", BASE64, 43, "="),
        lambda random_: drawn(random_, ALNUM, 3) + "8" + "Q~" + drawn(random_, ALNUM, 34),
        lambda random_: f"?sv=2024-11-04&sig={drawn(random_, ALNUM, 43)}%3D",
    ],
    "GITHUB_TOKEN": [
        *(token(f"gh{kind}_", ALNUM, 36) for kind in "pousr"),
        lambda random_: "github" + "_pat_" + drawn(random_, ALNUM, 22) + "_" + drawn(random_, ALNUM, 59),
    ],
    "GITLAB_TOKEN": [
        token("gl" + "pat-", ALNUM, 20),
        token("gl" + "rt-", ALNUM, 20),
        token("gl" + "dt-", URLSAFE, 25, "z"),
    ],
    "SLACK_TOKEN": [
        lambda random_: f"xo{'xb'}-{number(random_, 12)}-{number(random_, 12)}-{drawn(random_, ALNUM, 24)}",
        lambda random_: f"xo{'xp'}-{number(random_, 11)}-{drawn(random_, HEX, 32)}",
        lambda random_: (
            "https://hooks.slack.com/services/T"
            + "/".join((drawn(random_, UPPER, 8), "B" + drawn(random_, UPPER, 8), drawn(random_, ALNUM, 24)))
        ),
    ],
    "STRIPE_KEY": [token(f"{kind}_{mode}_", ALNUM, 24) for kind in ("sk", "rk") for mode in ("live", "test")]
    + [token("whs" + "ec_", ALNUM, 32)],
    "ANTHROPIC_KEY": [token("sk-" + "ant-api03-", URLSAFE, 93, "AA"), token("sk-" + "ant-admin01-", URLSAFE, 80, "AA")],
    "OPENAI_KEY": [
        lambda random_: "sk-" + drawn(random_, ALNUM, 20) + "T3Blbk" + "FJ" + drawn(random_, ALNUM, 20) + "123",
        token("sk-" + "proj-", URLSAFE, 120, "0a1b2"),
        token("sk-" + "svcacct-", URLSAFE, 74, "0a1b2"),
    ],
    "NPM_TOKEN": [
        token("npm" + "_", ALNUM, 36),
        lambda random_: "//registry.example/:_authToken=" + drawn(random_, HEX, 31) + "f7",
    ],
    "PYPI_TOKEN": [token("pypi-" + "AgEIcHlwaS5vcmc", URLSAFE, 120, "w")],
    "JWT": [jwt],
    "API_TOKEN": [
        token("hf" + "_", string.ascii_letters, 34),
        token("dckr" + "_pat_", URLSAFE, 27, "x"),
        token("dop" + "_v1_", HEX, 64),
        lambda random_: "S" + "G." + drawn(random_, ALNUM, 22) + "." + drawn(random_, ALNUM, 43),
        token("S" + "K", HEX, 32),
        token("key" + "-", HEX, 32),
        token("", HEX, 32, "-us12"),
        token("shp" + "at_", HEX, 32),
        token("lin" + "_api_", ALNUM, 40),
        token("dapi", HEX, 32),
        lambda random_: f"glsa_{drawn(random_, ALNUM, 32)}_{drawn(random_, HEX, 8)}",
        token("hv" + "s.", ALNUM, 95),
        token("sbp" + "_", HEX, 40),
        token("r8" + "_", ALNUM, 37),
        token("gsk" + "_", ALNUM, 52),
        lambda random_: drawn(random_, "123456789", 10) + ":AA" + drawn(random_, URLSAFE, 32) + "x",
        lambda random_: (
            f"https://discord.com/api/webhooks/{drawn(random_, '123456789', 18)}/{drawn(random_, URLSAFE, 67)}a"
        ),
    ],
}
