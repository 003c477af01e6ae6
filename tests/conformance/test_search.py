"""A search answers what reading every memory would: for random stores, after any change, and for any query."""

import tempfile
import unicodedata
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cyberos import _native, clock
from cyberos.core import store as stores
from cyberos.core.changes import Put
from cyberos.core.search import search
from cyberos.core.writer import Writer
from cyberos.errors import BadArgument, CyberosError
from cyberos.operations import reading

WORDS = [
    *("deploy", "Deploys", "CAFÉ", "cafe\u0301", "naïve", "straße", "STRASSE", "e-mail", "foo_bar", "x1", "the"),
    *(
        "記憶",
        "憶",
        "東京都",
        "カタカナ",
        "が",
        "か",
        "ไทย",
        "किताब",
        "कताब",
        "한국어",
        "한국",
        "👍",
        "ﬁne",
        "Ёлка",
        "שָׁלוֹם",
        "2²",
    ),
]
SIGNS = [" ", "\n", ", ", "-", "。", "/", "", " — ", '"', "*", "\0", "(", ":", "\n# "]
PATHS = ["memories/a.md", "memories/Deploy notes.md", "meta/b/c.md", "project/東京.md"]
NAMES = ["CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC"]

texts = st.lists(st.sampled_from(WORDS + SIGNS), max_size=12).map("".join)
plain = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
metas = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["fact", "Rule", "記憶"]),
        "title": plain,
        "tags": st.one_of(plain, st.lists(st.sampled_from(["ops", "Café", "x1", 3]), max_size=3)),
        "more": st.fixed_dictionaries({"deploy": plain, "list": st.lists(plain, max_size=2)}),
    },
)
puts = st.tuples(st.just("put"), st.sampled_from(PATHS), texts, metas)
binaries = st.tuples(st.just("binary"), st.sampled_from(PATHS))
moves = st.tuples(st.just("move"), st.sampled_from(PATHS), st.sampled_from(PATHS))
deletions = st.tuples(st.just("delete"), st.sampled_from(PATHS), st.sampled_from(["tombstone", "purge"]))
by_hand = st.tuples(st.just("edit"), st.sampled_from(PATHS), texts)
changes = st.one_of(puts, puts, puts, binaries, moves, deletions, by_hand)
words = st.sampled_from(
    [*WORDS, "dep*", "記*", "東京", "深い", '"', '"naive cafe"', '"記憶 deploy"', "caf*", "*", "AND", "-the"]
)
queries = st.lists(words, min_size=1, max_size=3).map(" ".join) | texts
conditions = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["FACT", "rule", "記憶", "other"]),
        "tags": st.lists(st.sampled_from(["ops", "cafe", "3", "other"]), min_size=1, max_size=2),
        "actor": st.sampled_from(["ann", "bob"]),
        "since_ns": st.integers(0, 40),
        "until_ns": st.integers(0, 40),
    },
)


def naive_tokens(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = [char for char in decomposed if not (10 <= unicodedata.combining(char) <= 36)]
    kept = [char for char in kept if not 200 <= unicodedata.combining(char) <= 240]
    found, current = [], ""
    for char in unicodedata.normalize("NFC", "".join(kept)) + " ":
        alone = unicodedata.name(char, "").split(" ")[0].split("-")[0] in NAMES or unicodedata.category(char) == "So"
        if not alone and unicodedata.category(char)[0] in "LMN":
            current += char
            continue
        found += [current] if current else []
        found += [char] if alone and (unicodedata.category(char)[0] in "LMN" or char == "👍") else []
        current = ""
    return found


def leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [leaf for item in items for leaf in leaves(item)]


def has(place: list[str], wanted: list[str], *, prefix: bool) -> bool:
    for start in range(len(place) - len(wanted) + 1):
        there = place[start : start + len(wanted)]
        if there == wanted or (prefix and there[:-1] == wanted[:-1] and there[-1].startswith(wanted[-1])):
            return True
    return False


def terms(query: str) -> list[tuple[list[str], bool]]:
    phrases = [(naive_tokens(part), False) for part in query.split('"')[1::2]]
    words = [(naive_tokens(word), word.endswith("*")) for part in query.split('"')[::2] for word in part.split()]
    return [(wanted, prefix) for wanted, prefix in phrases + words if wanted]


def naive(store: Path, query: str, conditions: dict[str, Any], written: dict[str, tuple[str, int]]) -> set[str]:
    """The paths of all memories that a search must find; `written` has who gave each content, and when."""
    reader, found = _native.Reader(store), set()
    for memory in reading.list_memories(str(store)).memories:
        body = reader.body(memory.body_hash)[0]
        assert body is not None
        try:
            body.decode()
            fields, why, rest = _native.split_memory(body)
            fields, text = (fields or {}, rest.decode()) if why is None else ({}, body.decode())
        except UnicodeDecodeError:
            fields, text = {}, ""
        places = [naive_tokens(place) for place in (memory.path, text, *leaves(fields))]
        places += [naive_tokens(line[2:]) for line in text.splitlines() if line.startswith("# ")]
        tags = fields.get("tags", [])
        tags = tags.split(",") if isinstance(tags, str) else tags
        tags = [naive_tokens(str(tag)) for tag in tags]
        actor, ts_ns = written[memory.body_hash + memory.path]
        if (
            all(any(has(place, wanted, prefix=prefix) for place in places) for wanted, prefix in terms(query))
            and conditions.get("actor", actor) == actor
            and conditions.get("since_ns", 0) <= ts_ns <= conditions.get("until_ns", 1 << 62)
            and ("kind" not in conditions or naive_tokens(fields.get("kind", "")) == naive_tokens(conditions["kind"]))
            and all(naive_tokens(tag) in tags for tag in conditions.get("tags", []))
        ):
            found.add(memory.path)
    return found


def carry_out(writer: Writer, change: tuple[Any, ...], now: int, written: dict[str, tuple[str, int]]) -> None:
    kind, path, *rest = change
    actor = "ann" if now % 2 else "bob"
    before = {name: (writer.store_path / name).read_bytes() for name in PATHS if (writer.store_path / name).exists()}
    if kind == "edit":
        if path in before:
            (writer.store_path / path).write_text(rest[0])
        return
    try:
        if kind == "put":
            writer.apply([Put(path, *rest)], actors=[actor], times=[now])
        elif kind == "binary":
            writer.put(path, b"\xff\xfe deploy", actor=actor)
        elif kind == "move":
            writer.move(path, rest[0], actor=actor)
        else:
            writer.delete(path, mode=rest[0], reason="a reason", actor=actor)
    except CyberosError:
        return
    holders: dict[str, tuple[str, int]] = {}
    for row in writer.reader().iter_rows():
        if row["kind"] == "put":
            holders[row["path"]] = (row["actor"], row["ts_ns"])
        elif row["kind"] == "move":
            holders[row["extra"]["to"]] = holders.pop(row["path"])
        elif row["kind"] == "delete":
            holders.pop(row["path"], None)
    listed = reading.list_memories(str(writer.store_path)).memories
    written.clear()
    written.update({memory.body_hash + memory.path: holders[memory.path] for memory in listed})


@settings(max_examples=30)
@given(st.lists(st.tuples(changes, st.lists(st.tuples(queries, conditions), max_size=2)), max_size=10))
def test_a_search_finds_what_reading_every_memory_finds(steps):
    with tempfile.TemporaryDirectory() as folder:
        store = stores.init(Path(folder) / "store")
        written: dict[str, tuple[str, int]] = {}
        with Writer(store) as writer:
            for now, (change, asked) in enumerate(steps, 1):
                carry_out(writer, change, now, written)
                for query, condition in [*asked, ("deploy*", {}), ("記憶", {})]:
                    if not terms(query):
                        try:
                            search(store, query)
                        except BadArgument:
                            continue
                        raise AssertionError(f"{query!r} has no word and was answered")
                    found = search(store, query, limit=100, **condition)
                    assert {hit.path for hit in found.hits} == naive(store, query, condition, written), query
                    assert len({hit.path for hit in found.hits}) == len(found.hits)
                    assert found.warnings == ()


def test_a_phrase_spans_no_two_places(store):
    with Writer(store) as writer:
        writer.put("memories/one.md", "four five\n", {"a": "one two", "b": ["three", "four"], "title": "two three"})
    assert [bool(search(store, query).hits) for query in ('"one two"', '"three four"', '"two three"')] == [
        True,
        False,
        True,
    ]
    assert not search(store, '"four four"').hits
    assert not search(store, '"md two"').hits


def test_the_clock_of_a_put_is_what_a_search_goes_by(store, mock_time):
    with Writer(store) as writer:
        writer.put("memories/a.md", "one\n")
        mock_time.set("2026-05-20")
        writer.move("memories/a.md", "memories/b.md")
        (hit,) = search(store, "one", until_ns=clock.parse_time("2026-05-19T12:00:00Z")).hits
        assert (hit.path, hit.seq, clock.iso_seconds(hit.ts_ns)) == ("memories/b.md", 1, "2026-05-19T08:00:42Z")
        assert search(store, "one", since_ns=clock.now_ns()).hits == []
