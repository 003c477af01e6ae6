use cyberos_log::diff::body::BodyDiff;
use cyberos_log::diff::fields::{FrontmatterDiff, field_diff, frontmatter_diff};
use cyberos_log::diff::frontmatter::{Fields, Frontmatter};
use cyberos_log::json::Value;
use proptest::prelude::*;

use crate::cases;
use crate::values::fields;

fn block(text: &str) -> Frontmatter<'_> {
    Frontmatter::parse(text.as_bytes())
}

fn json_diff(old: &str, new: &str) -> String {
    let diff = field_diff(&block(old).fields.unwrap(), &block(new).fields.unwrap());
    String::from_utf8(diff.into_value().to_canonical().unwrap()).unwrap()
}

#[test]
fn fields_are_added_removed_and_changed() {
    assert_eq!(
        json_diff(r#"{"a":1,"b":{"x":[1]},"c":"same"}"#, r#"{"b":{"x":[2]},"c":"same","d":null}"#),
        r#"{"added":{"d":null},"changed":{"b":{"new":{"x":[2]},"old":{"x":[1]}}},"removed":{"a":1}}"#
    );
}

#[test]
fn numbers_are_compared_by_worth_and_kinds_are_not_mixed() {
    let none = r#"{"added":{},"changed":{},"removed":{}}"#;
    for (old, new) in [("1", "1.0"), ("-0.0", "0"), ("[1,{\"x\":2.0}]", "[1.0,{\"x\":2}]"), ("1e3", "1000")] {
        assert_eq!(json_diff(&format!("{{\"a\":{old}}}"), &format!("{{\"a\":{new}}}")), none, "{old} {new}");
    }
    for (old, new) in [
        ("1", "\"1\""),
        ("1", "true"),
        ("null", "\"\""),
        ("[]", "{}"),
        ("1", "1.5"),
        ("9007199254740993", "9007199254740992.0"),
        ("18446744073709551615", "18446744073709551616.0"),
        ("[1]", "[1,2]"),
        ("{\"x\":1}", "{\"y\":1}"),
    ] {
        assert_ne!(json_diff(&format!("{{\"a\":{old}}}"), &format!("{{\"a\":{new}}}")), none, "{old} {new}");
    }
}

#[test]
fn unreadable_blocks_are_compared_as_text() {
    let (good, bad) = (block("a: x\n"), block("a: x\na: y\n"));
    let FrontmatterDiff::Text { why, diff: BodyDiff::Text(diff) } = frontmatter_diff(Some(&good), Some(&bad)) else {
        panic!("a text diff was expected")
    };
    assert_eq!(why, "new frontmatter: the repeated key \"a\" at line 2");
    assert_eq!(diff.by_kind().added, ["a: y"]);
    let same = frontmatter_diff(Some(&bad), Some(&bad));
    assert!(matches!(same, FrontmatterDiff::Text { diff: BodyDiff::Same, .. }), "{same:?}");
    let gone = frontmatter_diff(Some(&bad), None);
    assert!(matches!(gone, FrontmatterDiff::Text { diff: BodyDiff::Text(_), .. }), "{gone:?}");
}

#[test]
fn a_version_without_frontmatter_has_no_fields() {
    let FrontmatterDiff::Fields(diff) = frontmatter_diff(None, Some(&block("a: x\n"))) else {
        panic!("a field diff was expected")
    };
    assert_eq!(diff.added, Fields::from([("a".to_owned(), Value::from("x"))]));
    assert!(matches!(frontmatter_diff(None, None), FrontmatterDiff::Fields(diff) if diff.is_empty()));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_diff_turns_old_into_new(old in fields(), new in fields(), kept in fields()) {
        let with = |mut fields: Fields| {
            fields.extend(kept.clone());
            fields
        };
        let (old, new) = (with(old), with(new));
        let diff = field_diff(&old, &new);
        let mut result = old.clone();
        for (field, value) in &diff.removed {
            prop_assert_eq!(result.remove(field), Some(value.clone()));
        }
        for (field, (before, after)) in &diff.changed {
            prop_assert_eq!(result.insert(field.clone(), after.clone()), Some(before.clone()));
        }
        for (field, value) in &diff.added {
            prop_assert_eq!(result.insert(field.clone(), value.clone()), None);
        }
        // What is left are numbers of equal worth.
        prop_assert!(field_diff(&result, &new).is_empty());
        prop_assert_eq!(result.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    }
}
