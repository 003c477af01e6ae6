import json

TEXT = "Ann <ann@example.com> paid with 4111 1111 1111 1111.\n"


def test_a_file_or_standard_input_is_printed_without_what_was_found(cli, program, tmp_path):
    file = tmp_path / "note.txt"
    file.write_text(TEXT, encoding="utf-8")
    assert cli("redact", file) == (0, "Ann <<EMAIL>> paid with <CARD>.\n", "")
    done = program("redact", stdin=TEXT.encode())
    assert (done.code, done.out, done.err) == (0, "Ann <<EMAIL>> paid with <CARD>.\n", "")
    assert program("redact", "-", stdin=b"") == (0, "", "")


def test_json_tells_what_was_put_in_and_never_what_was_found(cli, tmp_path):
    file = tmp_path / "note.txt"
    file.write_text(TEXT, encoding="utf-8")
    done = cli("redact", file, "--json")
    assert json.loads(done.out) == {
        "text": "Ann <<EMAIL>> paid with <CARD>.\n",
        "counts": {"CARD": 1, "EMAIL": 1},
        "allowed": 0,
    }


def test_what_the_store_or_the_command_line_allows_stays(cli, store, tmp_path):
    file = tmp_path / "note.txt"
    file.write_text(TEXT, encoding="utf-8")
    assert "ann@example.com" in cli("redact", file, "--allow", "ann@example.com").out
    assert "ann@example.com" in cli("redact", file, "--allow-pattern", r"[a-z]+@example\.com").out
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["redaction"] = {"allow": ["4111 1111 1111 1111"]}
    (store / "manifest.json").write_text(json.dumps(manifest))
    done = cli("--store", store, "redact", file, "--allow", "ann@example.com", "--json")
    assert json.loads(done.out) == {"text": TEXT, "counts": {}, "allowed": 2}


def test_bad_input_is_told(cli, tmp_path, store):
    (tmp_path / "binary").write_bytes(b"abc\xff")
    for args, code, message in (
        ((tmp_path / "binary",), 2, "not UTF-8: byte 3"),
        ((tmp_path / "nowhere",), 2, "cannot read"),
        ((__file__, "--allow-pattern", "("), 2, "no regular expression"),
        ((__file__, "--allow-pattern", ".*"), 2, "would allow everything"),
        ((__file__, "--allow", ""), 2, "empty"),
    ):
        done = cli("redact", *args)
        assert (done.code, done.out) == (code, "")
        assert message in done.err
        assert "Traceback" not in done.err
    (store / "manifest.json").write_text('{"redaction": {"allow": "x"}}')
    done = cli("--store", store, "redact", __file__)
    assert (done.code, done.out) == (9, "")
    assert "redaction.allow must be a list of texts" in done.err
