use std::fs;
use std::path::Path;

use cyberos_log::diff::frontmatter::{Fields, Frontmatter, split, with_meta};
use cyberos_log::json::Value;
use proptest::prelude::*;

use crate::cases;
use crate::values::fields;

fn fields_of(file: &[u8]) -> Result<Fields, String> {
    split(file).frontmatter.expect("frontmatter").fields
}

fn one(key: &str, value: impl Into<Value>) -> Fields {
    Fields::from([(key.to_owned(), value.into())])
}

#[test]
fn json_and_yaml_blocks_give_the_same_fields() {
    let json = b"---\n{\"kind\":\"fact\",\"n\":{\"a\":[1,0.27]},\"ts_ns\":1770000000000000003}\n---\nbody\n";
    let yaml = b"---\nkind: fact\nn:\n  a: [1, 0.27]\nts_ns: 1770000000000000003\n---\nbody\n";
    let fields = fields_of(json).unwrap();
    assert_eq!(fields["ts_ns"], Value::Int(1_770_000_000_000_000_003));
    assert_eq!(fields, fields_of(yaml).unwrap());
    assert_eq!(split(json).body, b"body\n");
}

#[test]
fn memories_that_upstream_wrote_have_fields_and_a_body() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/peer-store/memories/facts");
    let (mut folders, mut count) = (vec![root], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let file = fs::read(entry.path()).unwrap();
            let document = split(&file);
            let fields = document.frontmatter.unwrap().fields.unwrap();
            assert_eq!(fields["kind"], Value::from("fact"));
            assert!(fields["ts_ns"].as_int() > Some(1_770_000_000_000_000_000));
            assert!(!document.body.is_empty() && !document.body.starts_with(b"-"), "{:?}", entry.path());
            count += 1;
        }
    }
    assert!(count > 10, "{count} memories");
}

#[test]
fn fences_may_carry_blanks_carriage_returns_and_a_mark() {
    for file in ["---\na: x\n---\nbody", "\u{feff}---\r\na: x\r\n---\r\nbody", "--- \t\na: x\n---  \nbody"] {
        assert_eq!(fields_of(file.as_bytes()), Ok(one("a", "x")), "{file:?}");
        assert_eq!(split(file.as_bytes()).body, b"body", "{file:?}");
    }
}

#[test]
fn a_file_without_two_fences_is_all_body() {
    for file in [
        "",
        "---",
        "---\n",
        "---\na: x\n",
        "a\n---\nb\n---\n",
        " ---\na: x\n---\n",
        "----\na: x\n---\n",
        "---\na\n ---\n---x\n",
    ] {
        let document = split(file.as_bytes());
        assert_eq!((document.frontmatter, document.body), (None, file.as_bytes()), "{file:?}");
    }
}

#[test]
fn blocks_without_content_have_no_fields() {
    for file in ["---\n---\nbody", "---\n\n---\nbody", "---\n# only a comment\n---\nbody", "---\n{}\n---\nbody"] {
        assert_eq!(fields_of(file.as_bytes()), Ok(Fields::new()), "{file:?}");
    }
    let document = split(b"---\na: x\n---");
    assert_eq!((document.frontmatter.unwrap().text, document.body), (&b"a: x\n"[..], &b""[..]));
}

#[test]
fn blocks_that_are_no_mapping_say_why_and_keep_their_text() {
    let cases: [(&[u8], &str); 8] = [
        (b"- a\n", "not a mapping"),
        (b"text\n", "not a mapping"),
        (b"[1]\n", "not a mapping"),
        (b"a: x\na: y\n", "the repeated key \"a\" at line 2"),
        (b"{\"a\":1,\"a\":2}\n", "the repeated key \"a\" at line 1"),
        (b"a: \xff\n", "bytes that are not UTF-8 at line 1"),
        (b"a: x\n...\nb: y\n", "a second document at line 3"),
        (b"a: 'x\n", "at line"),
    ];
    for (block, why) in cases {
        let file = [b"---\n", block, b"---\nbody"].concat();
        let document = split(&file);
        assert_eq!(document.body, b"body");
        let frontmatter = document.frontmatter.unwrap();
        assert_eq!(frontmatter.text, block);
        let error = frontmatter.fields.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_sidecar_is_read_like_a_block() {
    assert_eq!(Frontmatter::parse(b"{\n  \"a\": \"x\"\n}\n").fields, Ok(one("a", "x")));
}

#[test]
fn meta_is_written_with_ascending_keys_and_readable_texts() {
    let meta = Frontmatter::parse(
        br#"{"tags":["ui","a: b"],"id":"FACT-1","at":"2026-11-30","list":[{"b":1,"a":null},[],{}],"x":1e16,"text":"two\nlines\n","v":"1.0"}"#,
    );
    let file = with_meta(&meta.fields.unwrap(), b"body\n");
    let expected = r#"---
at: "2026-11-30"
id: FACT-1
list:
  - a: null
    b: 1
  - []
  - {}
tags:
  - ui
  - "a: b"
text: |
  two
  lines
v: "1.0"
x: 1.0e+16
---
body
"#;
    assert_eq!(String::from_utf8(file).unwrap(), expected);
}

#[test]
fn numbers_that_json_cannot_express_come_back_as_text() {
    let meta =
        Fields::from([("a".to_owned(), Value::Float(f64::NAN)), ("b".to_owned(), Value::Float(f64::NEG_INFINITY))]);
    let expected = Fields::from([("a".to_owned(), ".nan".into()), ("b".to_owned(), "-.inf".into())]);
    assert_eq!(fields_of(&with_meta(&meta, b"")), Ok(expected));
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    const TRICKY: &[&str] = &["", "---\n", "---\na: b\n---\nc", "\n---\n", "\u{feff}---\n", "...\n", "text\n"];
    prop_oneof![prop::sample::select(TRICKY).prop_map(|text| text.as_bytes().to_vec()), any::<Vec<u8>>()]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn meta_and_body_come_back(meta in fields(), body in body()) {
        let file = with_meta(&meta, &body);
        if meta.is_empty() {
            prop_assert_eq!(file, body);
        } else {
            let document = split(&file);
            prop_assert_eq!(document.frontmatter.unwrap().fields, Ok(meta), "{}", String::from_utf8_lossy(&file));
            prop_assert_eq!(document.body, body);
        }
    }

    #[test]
    fn any_file_is_taken_apart_without_loss(block: Vec<u8>, body: Vec<u8>, opening in "(\u{feff})?---[ \t]{0,2}\r?\n", closing in "\n---\r?\n") {
        let file = [opening.as_bytes(), &block, closing.as_bytes(), &body].concat();
        let document = split(&file);
        let text = document.frontmatter.unwrap().text;
        prop_assert!(file.ends_with(document.body));
        prop_assert_eq!(&file[opening.len()..][..text.len()], text);
    }
}
