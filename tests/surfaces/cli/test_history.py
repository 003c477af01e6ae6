"""`cyberos history`: what it prints, and what it makes of its options."""

import json
import re

import pytest

from cyberos.core.history import walk

X = "memories/facts/x.md"

# What an entry always has in JSON.
FIELDS = {
    *("seq", "ts", "kind", "actor", "path", "name", "body_hash", "frontmatter_diff", "body_diff", "body_diff_reason"),
    "extra",
}


@pytest.fixture
def history(cli, writer):
    def run(*args):
        return cli("--store", writer.store_path, "history", *args)

    return run


@pytest.fixture
def entries(history):
    def run(*args):
        done = history(*args, "--json")
        assert (done.code, done.err) == (0, "")
        found = json.loads(done.out)
        assert all(set(entry) == FIELDS for entry in found)
        return found

    return run


def seqs(entries):
    return [entry["seq"] for entry in entries]


@pytest.fixture
def versions(writer):
    for number in range(1, 16):
        writer.put(X, f"line a\nv{number}\n", meta={"n": number})


def test_ac03_chronological_shows_the_oldest_first(history, entries, versions):
    assert seqs(entries(X)) == [15, 14, 13, 12, 11, 10, 9, 8, 7, 6]
    assert seqs(entries(X, "--chronological")) == [6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    numbers = re.findall(r"^\[ +(\d+)\]", history(X, "--chronological").out, re.MULTILINE)
    assert numbers == [str(seq) for seq in range(6, 16)]


def test_ac04_limit_caps(entries, versions):
    assert seqs(entries(X, "--limit", "2")) == [15, 14]
    assert len(entries(X, "--limit", "all")) == 15
    assert len(entries(X, "--limit", "9999")) == 15


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "many", "", "9" * 30])
def test_a_limit_is_a_number_of_entries(history, limit):
    done = history(X, f"--limit={limit}")
    assert (done.code, done.out) == (2, "")
    assert "give 1 or more, or all" in done.err


@pytest.mark.parametrize(
    ("since", "expected"),
    [("24h", [2]), ("3d", [2, 1]), ("2026-05-18", [2]), ("2026-05-17T00:00:00Z", [2, 1]), ("4w", [2, 1])],
)
def test_ac05_since(entries, writer, mock_time, since, expected):
    mock_time.set("2026-05-17T00:00:00Z")
    writer.put(X, "old", meta={})
    mock_time.set("2026-05-19T00:00:00Z")
    writer.put(X, "new", meta={})
    assert seqs(entries(X, "--since", since)) == expected


@pytest.mark.parametrize("since", ["yesterday", "7", "24 h", "-1d", "2026-13-01", "2026-05-18T25:00", ""])
def test_a_since_that_is_no_time_is_a_usage_error(history, since):
    done = history(X, f"--since={since}")
    assert (done.code, done.out) == (2, "")
    assert "not a time" in done.err
    assert "2026-05-19T08:00:42Z" in done.err


def test_a_since_in_the_future_is_empty_and_said(history, versions, mock_time):
    done = history(X, "--since", "2027-01-01", "--json")
    assert (done.code, json.loads(done.out)) == (0, [])
    assert done.err == "warning: nothing is newer than 2027-01-01: it lies in the future\n"


def test_ac06_show_body_has_a_unified_diff(history, writer):
    writer.put(X, "line a\nline b", meta={})
    writer.put(X, "line a\nline c", meta={})
    assert "line c" not in history(X).out
    out = history(X, "--show-body").out
    assert (
        f"         --- a/{X}\n"
        f"         +++ b/{X}\n"
        "         @@ -1,2 +1,2 @@\n"
        "          line a\n"
        "         -line b\n"
        "         \\ No newline at end of file\n"
        "         +line c\n"
        "         \\ No newline at end of file\n"
    ) in out


def test_ac07_json_has_every_field(entries, writer, mock_time):
    writer.put(X, "line a\nline b\n", meta={"importance": 0.5})
    mock_time.ns += 123_456_789
    writer.put(X, "line a\nline c\n", meta={"importance": 0.8}, session_id="s")
    newest, oldest = entries(X)
    assert newest == {
        "seq": 2,
        "ts": "2026-05-19T08:00:42.123456789Z",
        "kind": "put",
        "actor": "ann",
        "path": X,
        "name": X,
        "body_hash": walk(writer.store_path, X)[0].body_hash,
        "frontmatter_diff": {"added": {}, "removed": {}, "changed": {"importance": {"old": 0.5, "new": 0.8}}},
        "body_diff": None,
        "body_diff_reason": "not_asked",
        "extra": newest["extra"],
    }
    assert newest["extra"]["session_id"] == "s"
    assert (oldest["frontmatter_diff"], oldest["body_diff"], oldest["body_diff_reason"]) == (None, None, "first")
    newest, oldest = entries(X, "--show-body")
    assert newest["body_diff"] == {"added": ["line c"], "removed": ["line b"], "context": ["line a"]}
    assert newest["body_diff_reason"] is None
    assert oldest["body_diff_reason"] == "first"


def test_ac08_ac09_moves_are_followed_unless_not_wanted(entries, history, writer):
    writer.put("memories/facts/src.md", "v1", meta={})
    writer.move("memories/facts/src.md", "memories/facts/dst.md")
    writer.put("memories/facts/dst.md", "v2", meta={})
    assert seqs(entries("memories/facts/dst.md")) == [3, 2, 1]
    assert seqs(entries("memories/facts/dst.md", "--no-follow-moves")) == [3, 2]
    assert seqs(entries("memories/facts/src.md")) == [2, 1]
    assert "memories/facts/src.md → memories/facts/dst.md" in history("memories/facts/dst.md").out


def test_ac10_a_dream_is_told_inline(history, writer):
    writer.put(X, "v1", meta={})
    extra = {"dream_id": "01HJ8XVK3Q2M4N5P6R7S8T9V0W", "proposal_id": "P3FQ8K2X", "merged_into": "memories/facts/y.md"}
    writer.delete(X, extra=extra)
    line = history(X).out.splitlines()[0]
    assert line.endswith(" via dream 01HJ8XVK… (proposal P3FQ8K2X) merged into memories/facts/y.md")


def test_ac11_a_session_is_told_inline(history, writer):
    writer.put(X, "v1", meta={}, session_id="sre-investigation-2026-05-19")
    assert history(X).out.rstrip().endswith("… during session sre-investigation-2026-05-19")


def test_annotations_come_in_the_documented_order(history, writer):
    extra = {
        "merged_into": "m.md",
        "imported_from": "fp",
        "invocation": "consolidate",
        "session_id": "s",
        "proposal_id": "p",
        "dream_id": "d",
        "other": "not told",
    }
    writer.put(X, "v1", meta={}, extra=extra)
    told = "via dream d… (proposal p) during session s via consolidate imported from fp merged into m.md"
    assert history(X).out.rstrip("\n").endswith(f"… {told}")


def test_the_layout_is_the_documents(history, writer, mock_time):
    mock_time.set("2026-05-15T14:20:00Z")
    writer.put(X, "a\n", meta={"importance": 0.5}, actor="stephen")
    mock_time.set("2026-05-19T07:30:00Z")
    writer.emit_aux("memory.importance_scored", {"path": X}, actor="claude-code-hook")
    mock_time.set("2026-05-19T08:00:42.9Z")
    writer.put(X, "b\n", meta={"importance": 0.78, "last_verified_at": "2026-05-19T08:00:42Z"}, actor="stephen")
    hashes = [entry.body_hash[:8] if entry.body_hash else None for entry in walk(writer.store_path, X)]
    assert history(X).out == (
        f"[     3] 2026-05-19T08:00:42Z put                          stephen          body={hashes[0]}…\n"
        "         ~ importance: 0.5 → 0.78\n"
        "         + last_verified_at: '2026-05-19T08:00:42Z'\n"
        "[     2] 2026-05-19T07:30:00Z memory.importance_scored     claude-code-hook body=—\n"
        f"[     1] 2026-05-15T14:20:00Z put                          stephen          body={hashes[2]}…\n"
    )


def test_ac14_a_purge_is_told_and_its_content_is_not(history, entries, writer):
    writer.put(X, "secret one\n", meta={"password": "hunter2"})
    writer.put(X, "secret two\n", meta={"password": "hunter3"})
    writer.delete(X, mode="purge", reason="GDPR Article 17 request")
    out = history(X, "--show-body").out
    assert "GDPR Article 17 request" in out
    assert "(the content was purged)" in out
    assert [entry["body_diff_reason"] for entry in entries(X, "--show-body")] == ["purged", "purged", "first"]
    assert all(entry["body_hash"] for entry in entries(X))
    everything = out + json.dumps(entries(X, "--show-body"))
    assert "secret" not in everything
    assert "hunter" not in everything


def test_ac19_all_paths(history, entries, writer):
    for number in range(60):
        writer.put("memories/facts/a.md", f"{number}", meta={})
        writer.put("memories/facts/b.md", f"{number}", meta={})
    assert seqs(entries("--all-paths")) == list(range(120, 20, -1))
    assert seqs(entries("--all-paths", "--chronological", "--limit", "3")) == [118, 119, 120]
    assert len(entries("--all-paths", "--limit", "all")) == 120
    assert "memories/facts/b.md" in history("--all-paths", "--limit", "1").out


def test_all_paths_takes_no_path_and_one_of_them_is_needed(history):
    assert (history("--all-paths", X).code, history().code) == (2, 2)


def test_ac20_a_path_that_never_existed(history, entries):
    assert entries("memories/never.md") == []
    assert history("memories/never.md") == (0, "No history for 'memories/never.md'.\n", "")


def test_ac21_nothing_is_written(history, writer, versions):
    def files():
        return {file: file.read_bytes() for file in writer.store_path.rglob("*") if file.is_file()}

    before, head = files(), writer.head_seq()
    for args in ([X], [X, "--json", "--show-body", "--limit", "all"], ["--all-paths"], ["memories/never.md"]):
        assert history(*args).code == 0
    assert (files(), writer.head_seq()) == (before, head)


@pytest.fixture
def mixed(writer):
    """Rows by two actors, in two sessions and a dream."""
    writer.put(X, "1", meta={}, actor="ann", session_id="s1")
    writer.put(X, "2", meta={}, actor="bob", session_id="s1")
    writer.put(X, "3", meta={}, actor="ann", session_id="s2", extra={"dream_id": "d1"})
    writer.emit_aux("memory.importance_scored", {"path": X, "session_id": "s2"}, actor="ann")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["actor=ann"], [4, 3, 1]),
        (["session_id=s1"], [2, 1]),
        (["dream_id=d1"], [3]),
        (["kind=put"], [3, 2, 1]),
        (["actor=ann", "kind=put"], [3, 1]),
        (["actor=ann", "actor=bob"], []),
        (["actor=nobody"], []),
        (["session_id=s1=x"], []),
    ],
)
def test_filters_must_all_hold(entries, mixed, filters, expected):
    assert seqs(entries(X, *(f"--filter={pair}" for pair in filters))) == expected


def test_a_limit_counts_what_the_filters_keep_and_diffs_are_against_the_version_before(entries, mixed):
    (newest,) = entries(X, "--filter=actor=bob", "--limit=1", "--show-body")
    assert newest["body_diff"] == {"added": ["2"], "removed": ["1"], "context": []}


@pytest.mark.parametrize(
    ("pair", "code"), [("path=x", "unknown_filter"), ("Actor=x", "unknown_filter"), ("actor", "bad_argument")]
)
def test_a_filter_that_is_none_is_a_usage_error(history, pair, code):
    done = history(X, "--filter", pair)
    assert (done.code, done.out) == (2, "")
    assert f"error[{code}]" in done.err


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "memories/../../x.md", "memories\\x.md", "a\0b", "", "./x"])
def test_a_path_that_could_lead_out_is_refused(history, path):
    done = history(path)
    assert (done.code, done.out) == (4, "")
    assert "error[path_refused]" in done.err


def test_frontmatter_that_cannot_be_read_is_said_and_shown_as_text(history, entries, writer):
    writer.put(X, "---\na: 1\n---\nbody\n")
    writer.put(X, "---\na: [1\n---\nbody\n")
    diff = entries(X)[0]["frontmatter_diff"]
    assert set(diff) == {"unparseable", "diff"}
    assert diff["unparseable"].startswith("new frontmatter: ")
    assert "-a: 1\n+a: [1\n" in diff["diff"]
    out = history(X).out
    assert "         frontmatter cannot be read: new frontmatter: " in out
    assert "         -a: 1\n         +a: [1\n" in out


@pytest.mark.parametrize(
    ("body", "reason", "told"),
    [(b"\xff\xfe", "binary", "(the content is binary)"), (b"x\n" * 600_000, "too_large", "too large to compare")],
)
def test_a_body_without_lines_says_why_there_is_no_diff(history, entries, store, cli, body, reason, told):
    (store / "manifest.json").write_text('{"memories": {"max_body_bytes": 8388608}}')
    for content in (b"text\n", body):
        (store.parent / "body").write_bytes(content)
        assert cli("--store", store, "put", X, store.parent / "body").code == 0
    newest = entries(X, "--show-body")[0]
    assert (newest["body_diff"], newest["body_diff_reason"]) == (None, reason)
    assert told in history(X, "--show-body").out


def test_what_a_terminal_would_obey_is_written_as_escapes(history, writer):
    writer.put(X, "\x1b[31mred\u202e\n", meta={"k\x1b": "\x1b[0m"}, actor="e\x1bvil")
    writer.put(X, "plain\n", meta={"k\x1b": "\x1b[1m"}, extra={"session_id": "s\n[     9] fake"})
    out = history(X, "--show-body").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "e\\x1bvil" in out
    assert "during session s\\n[     9] fake" in out


def test_colour_is_for_those_who_ask(history, writer):
    writer.put(X, "a\n", meta={"n": 1})
    writer.put(X, "b\n", meta={})
    assert "\x1b" not in history(X, "--show-body").out
    coloured = history(X, "--show-body", "--color").out
    assert "\x1b[31m-a\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == history(X, "--show-body").out
