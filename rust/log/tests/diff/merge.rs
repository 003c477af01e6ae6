use cyberos_log::diff::frontmatter::{Fields, split, with_meta};
use cyberos_log::diff::merge::merge;
use cyberos_log::json::Value;
use proptest::prelude::*;

use crate::cases;
use crate::values::fields;

fn meta(pairs: &[(&str, Value)]) -> Fields {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

#[track_caller]
fn merged(pairs: &[(&str, Value)], file: &str) -> String {
    let merged = merge(&meta(pairs), file.as_bytes()).unwrap();
    let (old, new) = (split(file.as_bytes()), split(&merged));
    let mut expected = old.frontmatter.map_or_else(Fields::new, |block| block.fields.unwrap());
    expected.extend(meta(pairs));
    assert_eq!(new.frontmatter.unwrap().fields.unwrap(), expected);
    assert_eq!(new.body, old.body);
    String::from_utf8(merged).unwrap()
}

#[test]
fn other_fields_keep_their_text_and_order() {
    let file = "---\n# ours\nz:   'one'  # why\nkind: fact\n\n# list\nlist:\n- 1\n- {a: 2}\n# end\n---\n---\nbody\n";
    assert_eq!(
        merged(&[("kind", "rule".into()), ("a", Value::Int(1))], file),
        "---\n# ours\nz:   'one'  # why\nkind: rule\n\n# list\nlist:\n- 1\n- {a: 2}\n# end\na: 1\n---\n---\nbody\n"
    );
    assert_eq!(
        merged(&[("list", Value::Null), ("z", "two".into())], file),
        "---\n# ours\nz: two\nkind: fact\n\n# list\nlist: null\n# end\n---\n---\nbody\n"
    );
}

#[test]
fn a_field_of_several_lines_goes_whole() {
    let file = "---\ntext: |\n  # not a comment\n\n  more\nquoted: \"a\n  b: c\"\n? key\n: [1,\n  2]\nlast: x\n---\n";
    let out = merged(&[("text", "t".into()), ("quoted", "q".into()), ("key", "k".into())], file);
    assert_eq!(out, "---\ntext: t\nquoted: q\nkey: k\nlast: x\n---\n");
}

#[test]
fn fields_that_are_there_already_change_no_byte() {
    let file = "---\nb: '1'\na: 0.50\n---\nbody";
    assert_eq!(merged(&[("a", Value::Float(0.5)), ("b", "1".into())], file), file);
    assert_eq!(merge(&Fields::new(), file.as_bytes()).unwrap(), file.as_bytes());
}

#[test]
fn the_line_ends_and_the_fences_stay() {
    let out = merged(&[("b", "x\ny\n".into())], "\u{feff}--- \r\na: 1\r\n---\r\nbody\r\n");
    assert_eq!(out, "\u{feff}--- \r\na: 1\r\nb: |\r\n  x\r\n  y\r\n---\r\nbody\r\n");
}

#[test]
fn a_file_without_frontmatter_gets_some() {
    let fields = meta(&[("a", Value::Int(1))]);
    for file in ["body\n", "", "---\nno end\n"] {
        assert_eq!(merge(&fields, file.as_bytes()).unwrap(), with_meta(&fields, file.as_bytes()));
    }
    assert_eq!(merged(&[("a", Value::Int(1))], "---\n---\nbody\n"), "---\na: 1\n---\nbody\n");
    assert_eq!(merged(&[("a", Value::Int(1))], "---\n# none\n---\n"), "---\n# none\na: 1\n---\n");
}

#[test]
fn json_stays_json() {
    let file = "---\n{\"kind\": \"fact\", \"n\": [1, 2.50]}\n---\nbody\n";
    assert_eq!(
        merged(&[("kind", "rule".into()), ("a", true.into())], file),
        "---\n{\"a\":true,\"kind\":\"rule\",\"n\":[1,2.5]}\n---\nbody\n"
    );
    let long = Value::BigInt("1".repeat(30));
    let out = merged(&[("long", long)], file);
    assert!(out.starts_with("---\n"), "{out}");
}

#[test]
fn what_cannot_be_edited_is_written_anew() {
    assert_eq!(merged(&[("a", "x".into())], "---\n{b: 1, a: y}\n---\n"), "---\na: x\nb: 1\n---\n");
    let anchors = "---\nb: &it [1]\nc: *it\n---\n";
    assert_eq!(merged(&[("b", Value::Null)], anchors), "---\nb: null\nc:\n  - 1\n---\n");
    assert_eq!(merged(&[("d", Value::Null)], anchors), "---\nb: &it [1]\nc: *it\nd: null\n---\n");
    assert_eq!(merged(&[("b", "x".into())], "---\na: 1\n...\n---\n"), "---\na: 1\nb: x\n---\n");
}

#[test]
fn frontmatter_that_cannot_be_read_is_not_touched() {
    let fields = meta(&[("a", Value::Int(1))]);
    for block in ["a: [", "- list", "text", "a: 1\na: 2", "\u{0}"] {
        let file = format!("---\n{block}\n---\nbody\n");
        assert!(!merge(&fields, file.as_bytes()).unwrap_err().is_empty(), "{block:?}");
    }
    assert!(merge(&fields, b"---\n\xff: 1\n---\n").is_err());
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_given_fields_win_and_the_others_stay(old in fields(), new in fields(), body in ".*", bare in any::<bool>()) {
        let bytes = if bare { body.clone().into_bytes() } else { with_meta(&old, body.as_bytes()) };
        let before = split(&bytes);
        let mut expected = match &before.frontmatter {
            None => Fields::new(),
            Some(block) => match &block.fields {
                Ok(fields) => fields.clone(),
                Err(_) => return Ok(()),
            },
        };
        let merged = merge(&new, &bytes).unwrap();
        let after = split(&merged);
        // What the fields read back as, since some numbers become text.
        expected.extend(split(&with_meta(&new, b"")).frontmatter.map_or_else(Fields::new, |block| block.fields.unwrap()));
        prop_assert_eq!(after.frontmatter.map_or_else(Fields::new, |block| block.fields.unwrap()), expected);
        prop_assert_eq!(after.body, before.body);
    }
}
