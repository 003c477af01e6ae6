"""Texts with a secret or personal data in each, made from one seed. None is anybody's."""

import random
import string
from collections.abc import Iterator
from typing import NamedTuple

import stdnum.br.cpf
import stdnum.cn.ric
import stdnum.luhn
from stdnum.iso7064 import mod_97_10

from tests.redaction.tokens import ALNUM, BASE64, HEX, TOKENS, URLSAFE, Make, drawn, number

SEED = 20_261_130
EACH = 25


class Positive(NamedTuple):
    """A text, what in it must not be left, and what it should be called."""

    text: str
    value: str
    tag: str


def grouped(digits: str, sizes: tuple[int, ...], joint: str) -> str:
    parts, at = [], 0
    for size in sizes:
        parts.append(digits[at : at + size])
        at += size
    return joint.join(parts)


def card(random_: random.Random) -> str:
    prefix, length, sizes = random_.choice(
        [
            *(("4", 16, (4, 4, 4, 4)), ("52", 16, (4, 4, 4, 4)), ("2400", 16, (4, 4, 4, 4)), ("37", 15, (4, 6, 5))),
            *(
                ("6011", 16, (4, 4, 4, 4)),
                ("3530", 16, (4, 4, 4, 4)),
                ("36", 14, (4, 6, 4)),
                ("6221", 19, (4, 4, 4, 4, 3)),
            ),
        ]
    )
    body = prefix + number(random_, length - len(prefix) - 1)
    digits = body + stdnum.luhn.calc_check_digit(body)
    return random_.choice([digits, grouped(digits, sizes, " "), grouped(digits, sizes, "-")])


IBANS = {
    "DE": "18n",
    "GB": "4a14n",
    "FR": "23n",
    "ES": "20n",
    "NL": "4a10n",
    "IT": "1a22n",
    "PL": "24n",
    "CH": "17n",
    "BE": "12n",
    "SE": "20n",
}


def iban(random_: random.Random) -> str:
    country, shape = random_.choice(sorted(IBANS.items()))
    letters = int(shape.partition("a")[0]) if "a" in shape else 0
    digits = int(shape.rpartition("a")[2].rstrip("n"))
    account = drawn(random_, string.ascii_uppercase, letters) + number(random_, digits)
    text = country + mod_97_10.calc_check_digits(account + country) + account
    return random_.choice([text, " ".join(text[at : at + 4] for at in range(0, len(text), 4)), text.lower()])


def ssn(random_: random.Random) -> str:
    area = random_.choice([*range(1, 666), *range(667, 900)])
    return f"{area:03}-{random_.randrange(1, 100):02}-{random_.randrange(1, 10_000):04}"


PROVINCES = (1, 8, 15, 22, 25, 31, 36, 38, 40, 48, 56, 64, 70, 75, 79, 80, 92, 96)


def cccd(random_: random.Random) -> str:
    century, years = random_.choice([("0", (50, 99)), ("1", (50, 99)), ("2", (0, 25)), ("3", (0, 25))])
    digits = f"{random_.choice(PROVINCES):03}{century}{random_.randint(*years):02}{random_.randrange(1, 1_000_000):06}"
    return random_.choice([digits, grouped(digits, (3, 3, 6), " "), grouped(digits, (4, 4, 4), " ")])


def mst(random_: random.Random) -> str:
    while True:
        body = "0" + number(random_, 8)
        check = (
            10
            - sum(weight * int(digit) for weight, digit in zip((31, 29, 23, 19, 17, 13, 7, 5, 3), body, strict=True))
            % 11
        )
        if 0 <= check <= 9:
            return f"{body}{check}"


def passport(random_: random.Random) -> str:
    return random_.choice(
        [
            drawn(random_, "BCNPK", 1) + number(random_, 7),
            number(random_, 9),
            drawn(random_, string.ascii_uppercase, 2) + number(random_, 7),
        ]
    )


def ric(random_: random.Random) -> str:
    born = f"{random_.randrange(1950, 2005)}{random_.randrange(1, 13):02}{random_.randrange(1, 29):02}"
    body = f"110101{born}{number(random_, 3)}"
    return body + stdnum.cn.ric.calc_check_digit(body + "0")


def cpf(random_: random.Random) -> str:
    body = number(random_, 9)
    return (
        grouped(body + stdnum.br.cpf._calc_check_digits(body), (3, 3, 3), ".")
        + "-"
        + stdnum.br.cpf._calc_check_digits(body)
    )


def phone(random_: random.Random) -> str:
    mobile = "9" + random_.choice("01234678") + number(random_, 7)
    area, exchange = random_.choice(["212", "415", "312", "617", "202", "713"]), random_.randrange(220, 990)
    line = number(random_, 4)
    american = f"{area}-{exchange}-{line}"
    return random_.choice(
        [
            *(
                f"+84{mobile}",
                f"+84 {mobile[:2]} {mobile[2:5]} {mobile[5:]}",
                f"0{mobile}",
                f"0{mobile[:3]} {mobile[3:6]} {mobile[6:]}",
            ),
            *(
                f"0{mobile[:2]}.{mobile[2:5]}.{mobile[5:]}",
                f"+1 {american}",
                f"({area}) {exchange}-{line}",
                american,
                american.replace("-", "."),
            ),
            *(
                f"+44 20 7946 0{number(random_, 3)}",
                f"+49 30 {random_.randrange(200000, 999999)}",
                f"+33 6 {random_.randrange(10, 99)} 34 56 78",
            ),
            *(
                f"+81 90-{random_.randrange(1000, 9999)}-{number(random_, 4)}",
                f"+61 4{number(random_, 2)} 123 {number(random_, 3)}",
            ),
            f"00 84 {mobile[:2]} {mobile[2:5]} {mobile[5:]}",
        ]
    )


NAMES = ("ann", "bob.miller", "nguyen-van-a", "x_y+tag", "j.o'neil", "nguyễn.an", "用户", "müller", "пётр")
HOSTS = (
    "example.com",
    "mail.example.org",
    "công-ty.example",
    "例え.テスト",
    "xn--e1afmkfd.xn--p1ai",
    "почта.рф",
    "corp.internal",
)


def email(random_: random.Random) -> str:
    return f"{random_.choice(NAMES)}{random_.randrange(1000)}@{random_.choice(HOSTS)}"


def ip(random_: random.Random) -> str:
    four = ".".join(str(random_.randrange(1, 255)) for _ in range(4))
    six = ":".join(f"{random_.randrange(0x10000):x}" for _ in range(6))
    if four.startswith(("127.", "0.", "255.")):
        four = "10.1.2.3"
    return random_.choice(
        [
            four,
            f"2001:db8:{six}",
            f"2a00:1450:{random_.randrange(0x1000, 0x10000):x}::{random_.randrange(1, 0x10000):x}",
            f"fe80::{random_.randrange(1, 0x10000):x}",
        ]
    )


def url(random_: random.Random) -> str:
    scheme = random_.choice(["postgres", "postgresql+psycopg", "mysql", "mongodb+srv", "redis", "amqp", "https", "ftp"])
    user = (
        random_.choice(["app", "root", "", "svc_user"])
        if scheme == "redis"
        else random_.choice(["app", "root", "svc_user"])
    )
    secret = drawn(random_, ALNUM + "%!$*+-_.~", 12)
    host = random_.choice(["db.example", "10.0.0.7", "localhost"])
    return f"{scheme}://{user}:{secret}@{host}:{random_.randrange(1024, 65535)}/main"


PERSONAL: dict[str, tuple[Make, tuple[str, ...]]] = {
    "CARD": (card, ("Card: {}", "paid with {} on Monday", '{{"pan": "{}"}}', "thẻ {} hết hạn", "{}")),
    "IBAN": (iban, ("IBAN {}", "please wire it to {}, thanks", '{{"iban": "{}"}}', "{}")),
    "SSN": (ssn, ("SSN: {}", "my social is {}.", "{}", "ssn={}")),
    "CCCD": (cccd, ("CCCD {}", "số căn cước công dân: {}", "{}", "CCCD số: {}, cấp ngày 1/2/2021")),
    "MST": (mst, ("MST: {}", "mã số thuế {}", "Mã số thuế của công ty là {}", "tax code: {}", "{}-001")),
    "PASSPORT": (
        passport,
        ("passport {}", "Passport No.: {}", "hộ chiếu số {}", "My passport number is {}.", "Reisepass: {}"),
    ),
    "NATIONAL_ID": (lambda random_: random_.choice([ric, cpf])(random_), ("id {}", "{}", '{{"id": "{}"}}')),
    "PHONE": (
        phone,
        ("call {} today", "{}", "Tel: {}", "SĐT: {}", '{{"phone": "{}"}}', "my number is {}, ask for Ann"),
    ),
    "EMAIL": (email, ("write to {}", "<{}>", "mailto:{}?subject=x", "{}, thanks", "email={}", '{{"to": "{}"}}')),
    "IP": (ip, ("from {} at noon", "http://[{}]/", "host {}", "{} - - GET /", '{{"ip": "{}"}}')),
    "CONNECTION_STRING": (url, ("DATABASE_URL={}", "connect to {}", '"{}"', "{}")),
}
SURROUNDED = (
    "{}",
    "key: {}",
    'key = "{}"',
    "use {} for now",
    "curl -H 'X: {}'",
    "`{}`",
    "({})",
    "export K={}\nnext",
    "đây là {} nhé",
    "{},",
)
ASSIGNED = (
    *(
        'password = "{}"',
        "password: {}",
        "DB_PASSWORD={}",
        'export PGPASSWORD="{}"',
        '{{"password": "{}"}}',
        "pwd='{}'",
        "--password {}",
    ),
    *(
        "--password={}",
        "Server=db;User Id=sa;Password={};",
        "the password is {}",
        "mật khẩu là {}",
        "mật khẩu: {}",
        "<password>{}</password>",
    ),
    *(
        '{{\\"password\\": \\"{}\\"}}',
        'userPassword => "{}"',
        "passphrase: '{}'",
        "machine h login ann password {}",
        'password := "{}"',
    ),
)
SECRETS = (
    *(
        'secret = "{}"',
        "API_KEY={}",
        'api_key: "{}"',
        "client_secret={}&x=1",
        '{{"access_token": "{}"}}',
        "auth_token: {}",
        "SECRET_KEY='{}'",
    ),
    *(
        "?token={}&page=2",
        "--api-key {}",
        "accessKey: '{}'",
        "private_key = {}",
        'ENCRYPTION_KEY="{}"',
        "signing-key: {}",
    ),
)
HEADERS = (
    "Authorization: Bearer {}",
    '"Authorization": "Basic {}"',
    "authorization: token {}",
    "curl -u ann:{} https://example.com",
    "X-API-Key: {}",
)


def password(random_: random.Random) -> str:
    while True:
        text = random_.choice(["hunter", "Sommer", "Tr0ub4dor", "letmein", "Qwerty", "saigon"]) + drawn(
            random_, ALNUM + "!#%*+_~^", 5
        )
        if any(char in string.digits + "!#%*+~^" for char in text):
            return text


def random_secret(random_: random.Random) -> str:
    return random_.choice(
        [
            drawn(random_, HEX, 32) + "a1",
            drawn(random_, ALNUM, 24) + "x9",
            drawn(random_, BASE64, 40) + "7k",
            drawn(random_, URLSAFE, 32) + "5t",
        ]
    )


def positives() -> Iterator[Positive]:
    """Yields the corpus."""
    random_ = random.Random(SEED)

    def placed(tag: str, make: Make, templates: tuple[str, ...], count: int) -> Iterator[Positive]:
        for index in range(count):
            value = make(random_)
            yield Positive(templates[index % len(templates)].format(value), value, tag)

    for tag, makes in TOKENS.items():
        for make in makes:
            yield from placed(tag, make, SURROUNDED, EACH)
    for tag, (make, templates) in PERSONAL.items():
        yield from placed(tag, make, templates, EACH * 8)
    yield from placed("PASSWORD", password, ASSIGNED, EACH * 16)
    yield from placed("SECRET", random_secret, SECRETS, EACH * 12)
    yield from placed("AUTHORIZATION", lambda random_: drawn(random_, ALNUM, 30) + "123", HEADERS, EACH * 4)
