"""What a word is, what a query asks for, and what is shown of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyberos.core.search import words
from cyberos.core.search.snippets import snippet
from cyberos.core.search.words import Term, fold, parse, tokens
from cyberos.errors import BadArgument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploys need two.", ["deploys", "need", "two"]),
        ("foo_bar e-mail x86_64", ["foo", "bar", "e", "mail", "x86", "64"]),
        ("CAFÉ cafe\u0301 Ångström", ["cafe", "cafe", "angstrom"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σισυφοσ", "σισυφοσ"]),
        ("Ёлка Й", ["елка", "и"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("किताब", ["किताब"]),
        ("記憶する カタカナ", ["記", "憶", "す", "る", "カ", "タ", "カ", "ナ"]),
        ("が か\u3099 か", ["が", "が", "か"]),
        ("ｶﾞ Ｆｕｌｌ", ["ガ", "full"]),
        ("ภาษาไทย", list("ภาษาไทย")),
        ("한국어 \u1112\u1161\u11ab", ["한국어", "한"]),
        ("version2版", ["version2", "版"]),
        ("done 👍 ™ ½", ["done", "👍", "tm", "1", "2"]),
        ("𝐁𝐨𝐥𝐝 𐐀", ["bold", "𐐨"]),
        ("a\0b \ue000 \ud800", ["a", "b"]),
        ("", []),
    ],
)
def test_a_text_has_these_tokens(text, expected):
    assert tokens(text) == expected


@given(st.text())
def test_folding_twice_is_folding_once(text):
    assert tokens(fold(text)) == tokens(text)
    assert tokens(text.upper()) == tokens(text.upper().lower())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("two words", [Term(("two",)), Term(("words",))]),
        ("two two TWO", [Term(("two",))]),
        ('"a phrase" word', [Term(("a", "phrase")), Term(("word",))]),
        ('"not closed', [Term(("not", "closed"))]),
        ('wo"rd', [Term(("wo",)), Term(("rd",))]),
        ("dep* foo-ba* *", [Term(("dep",), prefix=True), Term(("foo", "ba"), prefix=True)]),
        ('"dep*" de*p', [Term(("dep",)), Term(("de", "p"))]),
        ("記憶", [Term(("記", "憶"))]),
        ("a AND NOT (b) OR c:d ^e {f} + -g", [Term((t,)) for t in ("a", "and", "not", "b", "or")] + [Term(("c", "d"))]
         + [Term((t,)) for t in "efg"]),
    ],
)  # fmt: skip
def test_a_query_asks_for_these_terms(query, expected):
    assert list(parse(query)) == expected


@pytest.mark.parametrize("query", ["", " ", '""', "***", '"', "- !", "\0"])
def test_a_query_without_a_word_is_refused(query):
    with pytest.raises(BadArgument, match="there is no word in the query"):
        parse(query)


def marked(text: str, query: str) -> str:
    shown, done = "", 0
    found = snippet(text, parse(query))
    for begin, end in found.highlights:
        shown += found.text[done:begin] + "[" + found.text[begin:end] + "]"
        done = end
    return shown + found.text[done:]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Deploys need two approvals.\n", "APPROVALS dep*", "[Deploys] need two [approvals]."),
        ("one\n\ntwo one\nthree one two\n", "one two", "…[two] [one] three [one] [two]"),
        ("about 東京、and 東京都 and 京\n", "東京", "about [東京]、and [東京]都 and 京"),
        ("Ein Café, cafe\u0301s\n", "cafe", "Ein [Café], cafe\u0301s"),
        ("nothing of it here\n", "title", "nothing of it here"),
        ("", "title", ""),
        ("first\nline\n", '"first line"', "[first] [line]"),
        ("big x-ray, ray\n", "x-ray", "big [x]-[ray], ray"),
        ("x " * 100 + "needle " + "y " * 200, "needle", "…" + "x " * 20 + "[needle] " + "y " * 56 + "y…"),
        ("tab\tand   spaces \x1b[0m\n", "spaces", "tab and [spaces] \x1b[0m"),
    ],
)
def test_a_snippet_shows_where_most_of_the_words_stand(text, query, expected):
    assert marked(text, query) == expected


@given(st.text(max_size=300), st.lists(st.sampled_from(["a", "京", "e-mail", '"a b"', "0*"]), min_size=1))
def test_a_snippet_is_short_and_its_highlights_lie_in_order(text, query):
    found = snippet(text, parse(" ".join(query)))
    assert len(found.text) <= 162
    assert found.text.isprintable() or not text.isprintable()
    places = [place for span in found.highlights for place in span]
    assert places == sorted(places)
    assert all(0 <= begin < end <= len(found.text) for begin, end in found.highlights)


def test_no_folded_text_has_the_sign_that_ends_phrases():
    assert tokens(f"a{words.BREAK}b") == ["a", "b"]
