"""Single texts, and what must become of them: `{}` stands where the tag does."""

import pytest

from cyberos.redaction import redact_text

PEM = "RSA PRIVATE " + "KEY-----"
KEY = "AK" + "IAQ3EGZ7R2W5T8Y1U4"
AWS = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKy9"

FOUND = [
    # Passwords, and whatever else a name says is secret.
    ("Password: {}", "hunter2", "PASSWORD"),
    ("user: ann\npassword: {}\n", "letmein", "PASSWORD"),
    ("my password is {}", "hunter2!", "PASSWORD"),
    ("PASSWORD={}", "correcthorsebatterystaple", "PASSWORD"),
    ('{{"password":"{}"}}', "letmein", "PASSWORD"),
    ('"{{\\"password\\":\\"{}\\"}}"', "let,me in1", "PASSWORD"),
    ('password = """{}"""', 'a"b\nc1', "PASSWORD"),
    ("DB_PASSWORD={}", "p(a)s,s1x", "PASSWORD"),
    ("password={} and more", "a1" * 2_000, "PASSWORD"),
    ("jdbc:postgresql://h/db?user=a&password={}", "s3cret", "PASSWORD"),
    ("aws_secret_access_key = {}", AWS, "AWS_KEY"),
    ("AWS_SECRET_ACCESS_KEY={}", AWS, "AWS_KEY"),
    ("SECRET_KEY={}", "onlysmallletters", "SECRET"),
    # Keys in several lines, quoted, cut off, short.
    ("{}", f"-----BEGIN {PEM}\nMIIEow\n-----END {PEM}", "PRIVATE_KEY"),
    ('key = "{}\\n"', f"-----BEGIN {PEM}\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\nabc=\\n-----END {PEM}", "PRIVATE_KEY"),
    (
        "> {}\n\nthe rest is cut",
        f"-----BEGIN {PEM}\n> MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n> MIIEvQIBADANBgkqh",
        "PRIVATE_KEY",
    ),
    ("{}", "redis://:" + "secret@localhost:6379/0", "CONNECTION_STRING"),
    ("{}/db", "mongodb://u:" + "p/w@h", "CONNECTION_STRING"),
    ("curl -u {} http://x", "user:pass", "AUTHORIZATION"),
    ("é{}é", KEY, "AWS_KEY"),
    ("_{}_", KEY, "AWS_KEY"),
    # Numbers, however they are written.
    ("{}", "４１１１　１１１１　１１１１　１１１１", "CARD"),
    ("{}", "4111\u200b1111\u200b1111\u200b1111", "CARD"),
    ("{}", "4111\u00a01111\u00a01111\u00a01111", "CARD"),
    ("{}", "4111‑1111‑1111‑1111", "CARD"),
    ("{}", "4111.1111.1111.1111", "CARD"),
    ("{}", "٤١١١ ١١١١ ١١١١ ١١١١", "CARD"),
    ("{} 12/27 123", "4111-1111-1111-1111", "CARD"),
    ("{} 123", "4111 1111 1111 1111", "CARD"),
    ("卡号{}。", "4111111111111111", "CARD"),
    ("{} and", "DE89 3704 0044 0532 0130 00", "IBAN"),
    ("{}", "gb29nwbk60161331926819", "IBAN"),
    ("SSN {}", "123456789", "SSN"),
    ("{}", "078-05-1120", "SSN"),
    ("{}", "079203001234", "CCCD"),
    ("Số CCCD của tôi là {}", "001 099 012 345", "CCCD"),
    ("can cuoc: {}", "123456789012", "CCCD"),
    ("CMND {}", "012345678", "NATIONAL_ID"),
    ("MST {}", "0100109106-001", "MST"),
    ("hộ chiếu: {}", "C1234567", "PASSPORT"),
    ("{}", "P<VNMNGUYEN<<VAN<AN<<<<<<<<<<<<<<<<<<<<<<<<<\nB1234567<8VNM9001011M3001012<<<<<<<<<<<<<<06", "PASSPORT"),
    ("NHS number {}", "943 476 5919", "NATIONAL_ID"),
    ("DNI {}", "54362315K", "NATIONAL_ID"),
    ("({}", "+84) 912-345-678", "PHONE"),
    ("{}", "+84 (0) 912 345 678", "PHONE"),
    ("{}", "+1 555 123 4567", "PHONE"),
    ("{}, 2025-01-02 03:04", "+84 912 345 678", "PHONE"),
    ("call me at {}", "555-1234", "PHONE"),
    ("phone: {}", "0171 1234567", "PHONE"),
    ("London office: {}", "020 7946 0958", "PHONE"),
    ("{}", "(028) 3822 1234", "PHONE"),
    ("gọi {} nhé", "0912.345.678", "PHONE"),
    # Addresses.
    ("{}.", "ann@example.com", "EMAIL"),
    ("邮箱是{}请联系", "ann@example.com", "EMAIL"),
    ("{}", '"ann lee"@example.com', "EMAIL"),
    ("?to={}", "user%40example.com", "EMAIL"),
    ("{}", "ann [at] example [dot] com", "EMAIL"),
    ("{}", "ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "EMAIL"),
    ("{}", "ann@exa\u00admple.com", "EMAIL"),
    ("[{}]:443", "2001:db8::1", "IP"),
    ("{} up", "fe80::1%eth0", "IP"),
    ("{}:8080", "10.0.0.1", "IP"),
    ("{}/24", "192.168.0.1", "IP"),
]

LEFT = [
    *(
        "os.environ['DB_PASSWORD']",
        'password = os.environ["DB_PASSWORD"]',
        "password=getpass.getpass()",
        "password != confirm",
    ),
    *("def f(password: str, token: str = None):", 'token = request.headers["X-Token"]', "password: ${DB_PASSWORD}"),
    *(
        "password: {{ vault_pw }}",
        'password = "<your password>"',
        "password: ********",
        "if token == nil {",
        "api_key=None",
    ),
    *(
        '"token_type": "bearer"',
        '"max_tokens": 4096',
        "next_page_token: CAUQAA1",
        'tokenizer="gpt2-large"',
        "Bearer abc",
    ),
    *("const token = await getToken();", "token := newToken(ctx, 15)", "sk-loading-indicator-with-long-name"),
    *("password: string", "the password: it must be long", "password?.length", "a file begins with -----BEGIN " + PEM),
    *(
        "0x4111111111111111",
        "a4111111111111111b",
        "4111 1111 1111 1112",
        "4111-1111-1111-1111-1111",
        "0.4111111111111111",
    ),
    *(
        "000-12-3456",
        "123456789",
        "passport 123",
        "12:34:56",
        "aa:bb:cc:dd:ee:ff",
        "a::b",
        "std::net::x",
        "1700000000000",
    ),
    *(
        "v1.2.3.4",
        "version 1.2.3.4",
        "RFC 9162, 2.1.3.2",
        "## 1.2.3.4 Title",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "255.255.255.0",
    ),
    *(
        "Chrome/120.0.0.0",
        "pkg==1.2.3.4",
        "1.3.6.1.4.1.311",
        "git@github.com:org/repo.git",
        "lodash@4.17.21",
        "a @ b.T",
    ),
    *(
        "x@w.sum()",
        "actions/checkout@v4",
        "550e8400-e29b-41d4-a716-446655440000",
        "01234567-4111-1111-1111-111111111111",
    ),
]

# What docs/redaction.md says is not found; a test that fails here has good news for that page.
LIMITS = [
    *(
        "p\u0430ssword=hunter2",
        AWS,
        "aHVudGVyMg== YW5uQGV4YW1wbGUuY29t",
        "84912345678",
        "ann@localhost",
        "password hunter2",
    ),
]


@pytest.mark.parametrize(("template", "value", "tag"), FOUND)
def test_it_is_found_whole_and_nothing_else_is(template, value, tag):
    text = template.format(value)
    assert redact_text(text) == (template.format(f"<{tag}>"), {tag: 1}, 0)


@pytest.mark.parametrize("text", [*LEFT, *LIMITS])
def test_it_stays(text):
    assert redact_text(text) == (text, {}, 0)


def test_every_tag_has_a_line_on_the_page():
    import re
    from pathlib import Path

    from cyberos import _native

    page = (Path(__file__).parents[2] / "docs" / "redaction.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| `")]
    named = [tag for line in table for tag in re.findall("`([A-Z_]+)`", line.split("|")[1])]
    assert named == _native.redaction_tags(), "name all tags in docs/redaction.md, the most severe first"
