//! The canonical form is msgspec's, and exactly one text of a value is accepted as it.

mod strategies;

use cyberos_log::json::{MAX_DEPTH, Text, Value, items, members, scan};
use proptest::prelude::*;

const VECTORS: &str = include_str!("vectors/canonical.tsv");

fn is_canonical_by_tree(text: &[u8]) -> bool {
    Value::parse(text).and_then(|value| value.to_canonical()).is_ok_and(|canonical| canonical == text)
}

fn first_key(object: &[u8]) -> Text<'_> {
    members(object).next().expect("a member").0
}

#[test]
fn every_vector_is_spelled_as_msgspec_spells_it() {
    assert_eq!(VECTORS.lines().count(), 908);
    for line in VECTORS.lines() {
        let (text, spelled) = line.split_once('\t').unwrap();
        let value = Value::parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(value.to_canonical().unwrap()).unwrap(), spelled, "{text}");
        assert_eq!(scan::check(spelled.as_bytes()), Ok(()), "{spelled}");
        assert_eq!(scan::check(text.as_bytes()).is_ok(), text == spelled, "{text}");
        assert_eq!(Value::parse(spelled.as_bytes()).unwrap(), value);
    }
}

#[test]
fn texts_that_are_not_json_are_refused_by_both_readers() {
    let texts = [
        "",
        " ",
        "nul",
        "nulll",
        "tru",
        "True",
        "NaN",
        "Infinity",
        "-",
        "--1",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1.e1",
        "1e",
        "1e+",
        "0x1",
        "1 2",
        "1,",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u123g\"",
        "\"\\u+123\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800\\ue000\"",
        "\"a\nb\"",
        "\"a\u{0}b\"",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{,}",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":1}",
        "1e999",
        "-1e999",
        "[{\"x\":{\"k\":1,\"k\":2}}]",
        "\u{feff}1",
        "// 1",
        "'a'",
    ];
    for text in texts {
        assert!(Value::parse(text.as_bytes()).is_err(), "{text:?}");
        assert!(scan::check(text.as_bytes()).is_err(), "{text:?}");
    }
    for bytes in [&b"\"\xff\""[..], b"\"\xc0\x80\"", b"\"\xed\xa0\x80\"", b"\"\xf4\x90\x80\x80\"", b"\"\xc3\""] {
        assert!(Value::parse(bytes).is_err());
        assert!(scan::check(bytes).is_err());
    }
}

#[test]
fn errors_say_where() {
    let at = |text: &str| scan::check(text.as_bytes()).unwrap_err().offset;
    assert_eq!(at("{\"a\":1,\"a\":2}"), 7);
    assert_eq!(at("[1, 2]"), 3);
    assert_eq!(at("[1.50]"), 1);
    assert_eq!(at("[\"\\u0041\"]"), 2);
    assert_eq!(at("[\"é\u{1}\"]"), 4);
    assert_eq!(at("\"unfinished"), 11);
    assert_eq!(Value::parse(b"{\"a\":1, \"a\":2}").unwrap_err().offset, 8);
}

#[test]
fn nesting_is_bounded_by_both_readers_and_the_writer() {
    for (depth, good) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (1_000_000, false)] {
        let arrays = [vec![b'['; depth], vec![b']'; depth]].concat();
        let objects = ["{\"a\":".repeat(depth - 1), "{".into(), "}".repeat(depth)].concat().into_bytes();
        for text in [arrays, objects] {
            assert_eq!(Value::parse(&text).is_ok(), good);
            assert_eq!(scan::check(&text).is_ok(), good);
        }
    }
    let siblings = ["[".into(), "[[]],{},".repeat(MAX_DEPTH * 2), "0]".into()].concat().replace("{}", "{\"a\":{}}");
    assert!(Value::parse(siblings.as_bytes()).is_ok(), "depth is not the number of lists");
    assert_eq!(scan::check(siblings.as_bytes()), Ok(()));
    let nested = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    assert!(nested(MAX_DEPTH).to_canonical().is_ok());
    assert!(nested(MAX_DEPTH + 1).to_canonical().is_err());
}

#[test]
fn values_without_a_canonical_form_are_not_written() {
    let digits = |text: &str| Value::BigInt(text.to_owned());
    let beyond = [Value::Int(i128::from(u64::MAX) + 1), Value::Int(i128::from(i64::MIN) - 1)];
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Value::Float);
    let texts = ["", "-", "01", "-0", "1.0", "1\",\"", "+1"].map(digits);
    for value in beyond.into_iter().chain(floats).chain(texts) {
        assert!(value.to_canonical().is_err(), "{value:?}");
    }
}

#[test]
fn members_and_items_yield_what_lies_there() {
    let object = br#"{"a":[1,{"b":2}],"c\n":"\"","d":{}}"#;
    let found: Vec<_> = members(object).map(|(key, value)| (key.decode().into_owned(), value)).collect();
    let expected: [(&str, &[u8]); 3] = [("a", br#"[1,{"b":2}]"#), ("c\n", br#""\"""#), ("d", b"{}")];
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!(items(br#"["x",[],3]"#).collect::<Vec<_>>(), [&b"\"x\""[..], b"[]", b"3"]);
    for other in [&b"{}"[..], b"[]", b"", b"7", b"\"{\"", b"{\"a\":}", b"[,"] {
        assert_eq!(members(other).count() + items(other).count(), 0, "{other:?}");
    }
}

proptest! {
    #![proptest_config(strategies::config(2_000))]

    #[test]
    fn a_value_survives_its_canonical_form(value in strategies::value()) {
        let canonical = value.to_canonical().unwrap();
        prop_assert_eq!(scan::check(&canonical), Ok(()));
        prop_assert_eq!(Value::parse(&canonical).unwrap(), value);
    }

    #[test]
    fn a_changed_byte_is_accepted_only_where_the_text_stays_canonical(
        value in strategies::value(), at: prop::sample::Index, byte in strategies::byte_of_json(),
    ) {
        let mut text = value.to_canonical().unwrap();
        let at = at.index(text.len());
        *text.get_mut(at).unwrap() = byte;
        prop_assert_eq!(scan::check(&text).is_ok(), is_canonical_by_tree(&text), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn a_byte_put_in_or_taken_out_is_accepted_only_where_the_text_stays_canonical(
        value in strategies::value(), at: prop::sample::Index, byte in prop::option::of(strategies::byte_of_json()),
    ) {
        let mut text = value.to_canonical().unwrap();
        let at = at.index(text.len());
        match byte {
            Some(byte) => text.insert(at, byte),
            None => drop(text.remove(at)),
        }
        prop_assert_eq!(scan::check(&text).is_ok(), is_canonical_by_tree(&text), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn both_readers_agree_on_any_text(text in r#"[\[\]{}",:0-9eE+.\\ nula/-]{0,24}"#) {
        prop_assert_eq!(scan::check(text.as_bytes()).is_ok(), is_canonical_by_tree(text.as_bytes()));
    }

    #[test]
    fn both_readers_agree_on_any_number(text in "-?[0-9]{0,20}(\\.[0-9]{0,20})?(e[+-]?[0-9]{0,3})?") {
        prop_assert_eq!(scan::check(text.as_bytes()).is_ok(), is_canonical_by_tree(text.as_bytes()));
    }

    #[test]
    fn both_readers_agree_on_numbers_of_few_digits(text in "-?(0|[1-9]?[0-9]{0,15})\\.0{0,6}[0-9]{0,15}0{0,2}") {
        prop_assert_eq!(scan::check(text.as_bytes()).is_ok(), is_canonical_by_tree(text.as_bytes()), "{}", text);
    }

    #[test]
    fn strings_are_found_decoded_and_ordered_as_rust_does(left in strategies::string(), right in strategies::string()) {
        let spell = |text: &str| {
            let mut out = b"{".to_vec();
            cyberos_log::json::write_string(text, &mut out);
            out.extend_from_slice(b":null}");
            out
        };
        let (spelled_left, spelled_right) = (spell(&left), spell(&right));
        prop_assert_eq!(first_key(&spelled_left).decode(), left.as_str());
        prop_assert_eq!(first_key(&spelled_left).compare(first_key(&spelled_right)), left.cmp(&right));
        prop_assert_eq!(first_key(&spelled_left) == first_key(&spelled_right), left == right);
    }
}
