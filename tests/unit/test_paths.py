import os
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cyberos import layout
from cyberos.clock import At
from cyberos.core import paths
from cyberos.core.paths import OnDisk, Siblings, check_lookup, check_path, fold, split_version
from cyberos.errors import BadArgument, PathRefused

GOOD = [
    "memories/a.md",
    "memories/facts/2026/one two.md",
    "meta/settings.json",
    "company/Straße/Größe – €5 (neu).md",
    "member/日本語/メモ。.md",
    "client/नमस्ते.md",
    "project/it's [x] {y} #1 @home & 50% + more; done!.md",
    "persona/a:b?*.md",
    "memories/" + "a" * 252 + ".md",
    "memories/" + "é" * 126 + ".md",
    "memories/x.md/y.md",
]

BAD = [
    ("", "empty"),
    ("memories", "folder of memories"),
    ("memories/", "empty"),
    ("/memories/a.md", "absolute"),
    ("//memories/a.md", "absolute"),
    ("memories//a.md", "empty"),
    ("memories/../audit/x.md", "'..'"),
    ("../memories/a.md", "'..'"),
    ("memories/./a.md", "'.'"),
    ("memories\\a.md", "backslash"),
    ("memories/a\0.md", "NUL"),
    ("memories/a\n.md", "U+000A"),
    ("memories/a\x7f.md", "U+007F"),
    ("memories/a\x85.md", "U+0085"),
    ("memories/a\udcff.md", "UTF-8"),
    ("memories/ a.md", "space or a dot"),
    ("memories/a.md ", "space or a dot"),
    ("memories/b. /a.md", "space or a dot"),
    ("memories/.a.md", "space or a dot"),
    ("memories/.git/a.md", "space or a dot"),
    ("memories/a.", "space or a dot"),
    ("memories/.md", "space or a dot"),
    ("memories/a", "ends in .md or .json"),
    ("memories/a.txt", "ends in .md or .json"),
    ("memories/a.MD", "ends in .md or .json"),
    ("memories/STORE.yaml", "ends in .md or .json"),
    ("memories/a.meta.json", "frontmatter"),
    ("memories/a.META.json", "frontmatter"),
    ("memories/e\u0301.md", "NFC"),
    ("memories/a\u200b.md", "U+200B"),
    ("memories/a\u202e.md", "U+202E"),
    ("memories/a\u00a0b.md", "U+00A0"),
    ("memories/\ue000.md", "U+E000"),
    ("memories/🙂.md", "U+1F642"),
    ("memories/" + "a" * 253 + ".md", "255 bytes"),
    ("memories/" + "é" * 127 + ".md", "255 bytes"),
    ("memories/" + "a/" * 510 + "b.md", "1024 bytes"),
    ("audit/a.md", "folder of memories"),
    ("audit/current.binlog", "folder of memories"),
    ("index/a.json", "folder of memories"),
    ("sessions/a.md", "folder of memories"),
    ("AGENTS.md", "folder of memories"),
    ("manifest.json", "folder of memories"),
    ("STORE.yaml", "folder of memories"),
    ("HEAD", "folder of memories"),
    ("Memories/a.md", "folder of memories"),
    ("memories2/a.md", "folder of memories"),
]


@pytest.mark.parametrize("path", GOOD)
def test_good_paths_come_back_unchanged(path):
    assert check_path(path) == path


@pytest.mark.parametrize(("path", "why"), BAD)
def test_bad_paths_say_why_and_what_to_do(path, why):
    with pytest.raises(PathRefused) as caught:
        check_path(path)
    assert why in caught.value.message
    assert caught.value.path == path
    assert caught.value.hints


def test_the_longest_path_fits():
    path = "/".join(["memories", *["a" * 253] * 3, "b" * 249 + "b.md"])
    assert len(path) == 1_024
    assert check_path(path) == path
    with pytest.raises(PathRefused, match="1024"):
        check_path(path.replace("a/b", "aa/b"))


PIECES = st.sampled_from(
    [
        "memories",
        "meta",
        "audit",
        "a",
        "A.md",
        "b.json",
        ".",
        "..",
        "",
        " ",
        "\\",
        "\0",
        "é",
        "e\u0301",
        "\u202e",
        "ſ",
        "ß",
    ]
)


@given(
    st.lists(PIECES, max_size=5).map("/".join)
    | st.text(max_size=30)
    | st.text(max_size=30).map("memories/{}.md".format)
)
def test_what_passes_is_safe_and_what_does_not_is_refused(path):
    try:
        check_path(path)
    except PathRefused:
        return
    encoded = path.encode()
    assert len(encoded) <= 1_024
    assert os.path.normpath(path) == path
    assert path.split("/")[0] in layout.MEMORY_ROOTS
    assert unicodedata.normalize("NFC", path) == path
    assert path.isprintable()
    assert path.endswith((".md", ".json"))
    assert "\\" not in path
    assert os.path.join("/store", path).startswith("/store/")


@given(st.text(max_size=30))
def test_a_looked_up_path_stays_inside(path):
    try:
        check_lookup(path)
    except PathRefused:
        return
    assert os.path.normpath(os.path.join("/store", path)) == f"/store/{path}"


@pytest.mark.parametrize("path", ["audit/current.binlog", "memories/🙂.md", "Memories/A.MD", "memories/e\u0301.md"])
def test_looking_up_allows_names_that_writing_does_not(path):
    assert check_lookup(path) == path


@given(st.text(max_size=20))
def test_folding_ignores_case_and_form(name):
    assert fold(fold(name)) == fold(name)
    assert fold(unicodedata.normalize("NFD", name)) == fold(name)
    assert fold(unicodedata.normalize("NFC", name)) == fold(name)
    assert fold(name.casefold()) == fold(name)


@given(st.text("aAbB", min_size=1, max_size=4), st.lists(st.text("aAbB", min_size=1, max_size=4)))
def test_collisions_agree_with_comparing_lower_case(name, siblings):
    expected = [other for other in siblings if other != name and other.lower() == name.lower()]
    found = Siblings(siblings).add(name)
    assert found in expected if expected and name not in siblings else found is None


@pytest.mark.parametrize(
    ("name", "sibling"), [("a.md", "A.md"), ("é.md", "e\u0301.md"), ("É.md", "é.md"), ("straße", "STRASSE"), ("ς", "Σ")]
)
def test_names_that_a_file_system_may_confuse_collide(name, sibling):
    assert Siblings(["other", sibling]).add(name) == sibling
    assert Siblings([name, "other"]).add(name) is None


def check_on_disk(store, path):
    return OnDisk(store).check(path)


@pytest.fixture
def store(tmp_path):
    (tmp_path / "memories" / "facts").mkdir(parents=True)
    (tmp_path / "memories" / "facts" / "One.md").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    "path", ["memories/facts/One.md", "memories/facts/two.md", "memories/new/folder/x.md", "persona/x.md"]
)
def test_plain_files_in_plain_folders_are_fine(store, path):
    assert check_on_disk(store, path) == path


@pytest.mark.parametrize(
    ("path", "existing"),
    [
        ("memories/facts/one.md", "memories/facts/One.md"),
        ("memories/Facts/x.md", "memories/facts"),
        ("Memories/facts/x.md", "memories"),
    ],
)
def test_names_that_differ_only_by_case_are_refused(store, path, existing):
    with pytest.raises(PathRefused, match=f"differs from {existing} only"):
        check_on_disk(store, path)


def test_other_spellings_are_refused_where_looking_finds_them(store, monkeypatch):
    monkeypatch.setattr(paths, "_LOOKUP_IS_EXACT", False)
    assert check_on_disk(store, "memories/facts/One.md")
    # A hard link stands in for what a file system that ignores case would find.
    real = os.listdir
    os.link(store / "memories" / "facts" / "One.md", store / "memories" / "facts" / "one.md")
    monkeypatch.setattr(os, "listdir", lambda folder: [name for name in real(folder) if name != "one.md"])
    with pytest.raises(PathRefused, match=r"differs from memories/facts/One\.md only"):
        check_on_disk(store, "memories/facts/one.md")


@pytest.mark.parametrize("target", ["/", "../../outside", "facts", "missing"])
def test_symbolic_links_are_refused_wherever_they_lead(store, target):
    (store / "memories" / "link").symlink_to(target)
    (store / "memories" / "file.md").symlink_to(target)
    with pytest.raises(PathRefused, match="memories/link is a symbolic link"):
        check_on_disk(store, "memories/link/x.md")
    with pytest.raises(PathRefused, match=r"memories/file\.md is a symbolic link"):
        check_on_disk(store, "memories/file.md")


def test_a_file_is_no_folder_and_a_folder_no_file(store):
    (store / "memories" / "folder.md").mkdir()
    os.mkfifo(store / "memories" / "pipe.md")
    with pytest.raises(PathRefused, match="is not a folder"):
        check_on_disk(store, "memories/facts/One.md/x.md")
    for path in ("memories/folder.md", "memories/pipe.md"):
        with pytest.raises(PathRefused, match="is not a plain file"):
            check_on_disk(store, path)


def test_new_names_of_one_group_are_told_apart_too(store):
    on_disk = OnDisk(store)
    for path in ("memories/facts/two.md", "memories/new/a.md", "memories/new/a.md", "memories/facts/One.md"):
        assert on_disk.check(path) == path
    for path in ("memories/facts/TWO.md", "memories/new/A.md", "memories/NEW/a.md", "memories/facts/one.md"):
        with pytest.raises(PathRefused, match="only by case"):
            on_disk.check(path)


def test_a_folder_is_looked_at_once_for_many_names(store, monkeypatch):
    real, calls = os.listdir, []

    def listdir(folder):
        calls.append(folder)
        return real(folder)

    monkeypatch.setattr(os, "listdir", listdir)
    on_disk = OnDisk(store)
    for number in range(100):
        on_disk.check(f"memories/facts/{number}.md")
    assert calls == [str(store / "memories/facts")]


@given(st.sampled_from(GOOD))
def test_good_paths_are_their_own_fold_only_once(path):
    assume(path.isascii())
    assert Siblings([path.swapcase()]).add(path) == path.swapcase()


@pytest.mark.parametrize(
    ("text", "path", "at"),
    [
        ("memories/a.md", "memories/a.md", None),
        ("memories/a.md@12", "memories/a.md", At(seq=12)),
        ("memories/a.md@1970-01-01T00:00:01Z", "memories/a.md", At(ts_ns=1_000_000_000)),
        ("memories/me@home.md", "memories/me@home.md", None),
        ("memories/me@home.md@3", "memories/me@home.md", At(seq=3)),
        ("memories/a.json@3", "memories/a.json", At(seq=3)),
        ("@3", "", At(seq=3)),
    ],
)
def test_a_version_follows_the_last_at_sign(text, path, at):
    assert split_version(text) == (path, at)


@pytest.mark.parametrize("text", ["memories/a.md@", "memories/a.md@yesterday", "memories/a@b"])
def test_a_version_that_is_none_is_an_error(text):
    with pytest.raises(BadArgument):
        split_version(text)
