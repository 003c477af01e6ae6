import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.core import protocol
from cyberos.core.protocol import AMENDMENTS, BASE_TEXT, amended, amendment_for, require, sections
from cyberos.errors import BadArgument, IoFailure, ProtocolNotApproved

PHRASE = "APPROVE protocol change P22 §18"


def test_the_base_text_has_access_lists_but_not_sessions():
    assert protocol.ACL in sections(BASE_TEXT)
    assert protocol.SESSIONS not in sections(BASE_TEXT)


def test_upstreams_headings_are_read():
    upstream = "## §3.1 put_if\n## §7.7 Dreaming\n## §14.4 Store-level ACL\n## §18  Session transcript ledger\n"
    assert sections(upstream) == ("§3.1", "§7.7", "§14.4", "§18")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "§18",
        "see ## §18",
        "### §18 deeper",
        "##§18",
        "## 18",
        "## §18x",
        "## §180",
        "```\n## §18 quoted\n```\n",
        "  ## §18",
    ],
)
def test_only_a_heading_counts(text):
    assert protocol.SESSIONS not in sections(text)


@pytest.mark.parametrize(
    "text", ["## §18", "## §18\tx", "##  §18. Sessions", "x\r\n## §18 y\r\n", "```\nx\n```\n## §18"]
)
def test_a_heading_counts_however_it_is_spaced(text):
    assert protocol.SESSIONS in sections(text)


@given(st.text(max_size=200))
def test_an_amendment_adds_its_section_keeps_the_text_and_does_nothing_twice(text):
    before = sections(text)
    after = amended(text, AMENDMENTS[0])
    assert after.startswith(text.rstrip())
    assert sections(after)[: len(before)] == before
    assert protocol.SESSIONS in sections(after)
    assert amended(after, AMENDMENTS[0]) == after


@pytest.mark.parametrize("text", [BASE_TEXT, "", "```\nnever closed"])
def test_approving_puts_the_section_in_force(text):
    with pytest.raises(ProtocolNotApproved, match=PHRASE) as caught:
        require(text, protocol.SESSIONS)
    assert caught.value.section == "§18"
    require(amended(text, amendment_for(PHRASE)), protocol.SESSIONS)


def test_a_section_that_nobody_can_approve_has_no_phrase():
    with pytest.raises(ProtocolNotApproved, match=r"no §99$") as caught:
        require(BASE_TEXT, "§99")
    assert caught.value.hints == ()


@pytest.mark.parametrize("phrase", [PHRASE, f"  {PHRASE}\n", PHRASE.replace(" ", "  ")])
def test_a_phrase_may_be_spaced_differently(phrase):
    assert amendment_for(phrase).section == protocol.SESSIONS


@pytest.mark.parametrize("phrase", ["", "yes", PHRASE.lower(), PHRASE + " please", "APPROVE protocol change P23 §19"])
def test_any_other_phrase_approves_nothing(phrase):
    with pytest.raises(BadArgument, match="approves nothing") as caught:
        amendment_for(phrase)
    assert PHRASE in caught.value.hints[0]


def test_every_amendment_has_the_heading_and_the_phrase_it_promises():
    for amendment in AMENDMENTS:
        assert sections(amendment.text) == (amendment.section,)
        assert amendment.phrase in amendment.text


def test_loading(tmp_path):
    assert protocol.load(tmp_path) == ""
    (tmp_path / "AGENTS.md").write_bytes(b"## \xc2\xa718 ok\n\xff\n")
    assert sections(protocol.load(tmp_path)) == ("§18",)
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(IoFailure, match="cannot read"):
        protocol.load(tmp_path)
