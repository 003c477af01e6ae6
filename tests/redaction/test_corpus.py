"""How much is found of what should be, and how much of what should not."""

from collections import Counter

import pytest
from detect_secrets.core import scan
from detect_secrets.settings import default_settings

from cyberos.redaction import redact_text
from tests.redaction import negatives
from tests.redaction.positives import Positive, positives

RECALL = 0.995
FALSE = 0.01
# What is left of a value may not be this long.
REST = 8

CORPUS = list(positives())


@pytest.fixture(scope="module")
def redacted():
    return {positive: redact_text(positive.text) for positive in CORPUS}


def is_left(positive: Positive, text: str) -> bool:
    return positive.value in text or positive.value[-REST:] in text


def test_what_should_be_found_is(redacted):
    missed = [positive for positive, done in redacted.items() if is_left(positive, done.text)]
    assert 1 - len(missed) / len(CORPUS) >= RECALL, missed[:10]
    found = Counter(positive.tag for positive in CORPUS)
    for tag, count in Counter(positive.tag for positive in missed).items():
        assert 1 - count / found[tag] >= RECALL, f"{tag}: {[p.text for p in missed if p.tag == tag][:5]}"


def test_it_is_called_what_it_is(redacted):
    # Which of two names wins is decided by how severe they are, so a token after `key =` may be called by the other.
    wrong = [positive for positive, done in redacted.items() if positive.tag not in done.counts]
    assert len(wrong) / len(CORPUS) <= 1 - RECALL, wrong[:10]


def test_doing_it_again_changes_nothing(redacted):
    for done in redacted.values():
        assert redact_text(done.text) == (done.text, {}, 0)


@pytest.mark.parametrize(
    "kind", [negatives.prose, negatives.code, negatives.machine_made], ids=lambda kind: kind.__name__
)
def test_what_is_nobodys_stays(kind):
    lines = list(kind())
    wrong = [line for line in lines if redact_text(line).total]
    assert len(lines) > 1_000
    assert len(wrong) / len(lines) <= FALSE, wrong[:10]


def test_whatever_another_scanner_finds_is_found(redacted, tmp_path):
    lines = [(line, positive) for positive in redacted for line in positive.text.splitlines()]
    (tmp_path / "corpus.txt").write_text("\n".join(line for line, _ in lines), encoding="utf-8")
    with default_settings():
        secrets = list(scan.scan_file(str(tmp_path / "corpus.txt")))
    assert len({secret.type for secret in secrets}) >= 15, "the oracle sees nothing"
    left = []
    for secret in secrets:
        _, positive = lines[secret.line_number - 1]
        if secret.secret_value is not None and secret.secret_value in redacted[positive].text:
            left.append((secret.type, positive))
    assert not left
