"""`cyberos put --meta`: fields beside, over and against the frontmatter that a text brings along."""

import pytest

from cyberos.errors import BodyRefused

A = "memories/facts/a.md"
TEXT = "---\n# ours\nkind: fact\nn:   0x10  # sixteen\n---\nbody\n"


@pytest.fixture
def put(cli, writer, tmp_path):
    def put(content, *meta):
        (tmp_path / "text").write_text(content)
        options = [part for pair in meta for part in ("--meta", pair)]
        return cli("--store", writer.store_path, "put", A, tmp_path / "text", *options)

    return put


def test_given_fields_win_and_the_others_stay_as_they_are(put, writer):
    assert put(TEXT, "kind=rule", "importance=0.5").code == 0
    assert (writer.store_path / A).read_text() == (
        "---\n# ours\nkind: rule\nn:   0x10  # sixteen\nimportance: 0.5\n---\nbody\n"
    )


def test_fields_that_say_the_same_change_nothing(put, writer):
    assert put(TEXT, "kind=fact", "n=16").code == 0
    assert (writer.store_path / A).read_text() == TEXT


def test_the_row_has_the_kind_that_was_given(put, writer):
    put(TEXT, "kind=rule")
    assert writer.read_audit_row(1)["extra"]["kind"] == "rule"


def test_a_text_without_frontmatter_gets_some(put, writer):
    put("body\n", "b=1", "a=x: y")
    assert (writer.store_path / A).read_text() == '---\na: "x: y"\nb: 1\n---\nbody\n'


def test_frontmatter_that_cannot_be_read_is_left_alone_and_said_so(put, writer):
    broken = "---\nkind: [\n---\nbody\n"
    done = put(broken, "a=1")
    assert (done.code, done.out, writer.head_seq()) == (4, "", 0)
    assert done.err.startswith(f"error[body_refused]: cannot add fields to the frontmatter of {A}")
    assert "line 1" in done.err
    assert put(broken).code == 0  # without fields it is stored as it is
    with pytest.raises(BodyRefused, match="cannot be read") as caught:
        writer.put(A, broken, {"a": 1})
    assert caught.value.path == A


def test_a_field_that_is_given_twice_is_a_mistake(put, writer):
    done = put("body\n", "a=1", " a =2")
    assert (done.code, writer.head_seq()) == (2, 0)
    assert done.err.startswith("error[bad_argument]: --meta gives 'a' more than once")


def test_an_integer_of_any_length_is_kept(put, writer):
    digits = "123456789012345678901234567890"
    assert put("body\n", f"a={digits}", f"b=-{digits}").code == 0
    assert (writer.store_path / A).read_text() == f"---\na: {digits}\nb: -{digits}\n---\nbody\n"
    put("more\n", f"a={digits}1", f"b={'9' * 5000}")
    history = writer.reader().native.history(A)[0]
    assert len(history) == 2
