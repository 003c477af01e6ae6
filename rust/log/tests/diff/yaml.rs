use std::fmt::Write as _;

use cyberos_log::diff::yaml::{MAX_BYTES, parse_scalar, parse_yaml};
use cyberos_log::json::Value;
use proptest::prelude::*;

use crate::cases;

fn why(yaml: &str) -> String {
    parse_yaml(yaml.as_bytes()).expect_err(yaml).to_string()
}

fn json(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

#[test]
fn scalars_follow_the_core_schema() {
    let cases = [
        ("", "null"),
        ("~", "null"),
        ("NULL", "null"),
        ("nULL", "\"nULL\""),
        ("True", "true"),
        ("yes", "\"yes\""),
        ("0", "0"),
        ("-0", "0"),
        ("+12", "12"),
        ("007", "7"),
        ("0o17", "15"),
        ("0xfF", "255"),
        ("-0x1", "\"-0x1\""),
        ("0x", "\"0x\""),
        ("1_000", "\"1_000\""),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "18446744073709551616"),
        ("0xffffffffffffffffff", "4722366482869645213695"),
        ("-00099999999999999999999999999999999999999999999", "-99999999999999999999999999999999999999999999"),
        ("1.", "1.0"),
        (".5", "0.5"),
        ("-1.5e-3", "-0.0015"),
        ("1e3", "1000.0"),
        (".", "\".\""),
        ("e3", "\"e3\""),
        ("1e", "\"1e\""),
        ("1e999", "\"1e999\""),
        (".inf", "\".inf\""),
        ("NaN", "\"NaN\""),
        ("infinity", "\"infinity\""),
        ("2026-11-30", "\"2026-11-30\""),
        ("2026-11-30T10:00:00.250Z", "\"2026-11-30T10:00:00.250Z\""),
        ("12:30:45", "\"12:30:45\""),
        ("'5'", "\"5\""),
        ("\"a\\tb\"", "\"a\\tb\""),
    ];
    for (yaml, expected) in cases {
        assert_eq!(parse_yaml(yaml.as_bytes()), Ok(json(expected)), "{yaml:?}");
        assert_eq!(parse_scalar(yaml), json(expected), "{yaml:?}");
    }
}

#[test]
fn a_value_of_a_command_line_is_never_cut() {
    for text in [
        "fix #12",
        "a: b",
        "- x",
        "[a, b]",
        "{a: b}",
        "*x",
        "!t x",
        "\"open",
        "\"a\" and \"b\"",
        "'a' #'",
        " 5 ",
        "a\nb",
        "|",
        "---",
    ] {
        assert_eq!(parse_scalar(text), Value::from(text), "{text:?}");
    }
}

#[test]
fn a_store_file_is_read() {
    let yaml = "store_id: locked\ndefault_mode: read\nacl:\n  - {actor: stephen, mode: read-write}\n  - {actor: 'scheduled-*', mode: deny}\n";
    let expected = r#"{"store_id":"locked","default_mode":"read","acl":[{"actor":"stephen","mode":"read-write"},{"actor":"scheduled-*","mode":"deny"}]}"#;
    assert_eq!(parse_yaml(yaml.as_bytes()), Ok(json(expected)));
}

#[test]
fn keys_are_their_text() {
    assert_eq!(
        parse_yaml(b"1: a\ntrue: b\n1.50: c\n~: d\n'q r': e\n"),
        Ok(json(r#"{"1":"a","true":"b","1.50":"c","~":"d","q r":"e"}"#))
    );
    assert_eq!(parse_yaml(b"base: &b {x: 1}\n<<: *b\n"), Ok(json(r#"{"base":{"x":1},"<<":{"x":1}}"#)));
    assert_eq!(parse_yaml(b"&k a: b\nc: {*k : d}\n"), Ok(json(r#"{"a":"b","c":{"a":"d"}}"#)));
    assert_eq!(why("? [a]\n: b\n"), "a key that is a collection at line 1");
    assert_eq!(why("a: &x 1\nb: {*x : c}\n"), "a key that is an alias of something else than text at line 2");
    assert_eq!(why("a: b\n\"a\": c\n"), "the repeated key \"a\" at line 2");
}

#[test]
fn tags_of_the_core_schema_are_obeyed_and_others_refused() {
    assert_eq!(
        parse_yaml(b"[!!str 1, ! 2, !!int '3', !!float 4, !!null '', !!bool true, !!seq [], !!map {}]"),
        Ok(json(r#"["1","2",3,4.0,null,true,[],{}]"#))
    );
    assert_eq!(why("a: !!int x\n"), "\"x\" that is no int at line 1");
    assert_eq!(why("a: !secret x\n"), "the unknown tag !secret at line 1");
    assert_eq!(why("a: !!binary eA==\n"), "the unknown tag !!binary at line 1");
    assert_eq!(why("a: !!set {x}\n"), "the unknown tag !!set at line 1");
}

#[test]
fn aliases_are_followed_within_bounds() {
    assert_eq!(parse_yaml(b"a: &a [1, 2]\nb: *a\n"), Ok(json(r#"{"a":[1,2],"b":[1,2]}"#)));
    assert_eq!(why("&a [*a]"), "an alias inside the collection that it names at line 1");

    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        writeln!(bomb, "a{level}: &a{level} [{below}]").unwrap();
    }
    assert!(why(&bomb).starts_with("more content than 16 MiB of memory hold"));

    let text = "x".repeat(500_000);
    assert!(why(&format!("a: &a {text}\nb: [{}]\n", "*a, ".repeat(40))).starts_with("more content"));

    // Each anchor keeps a copy of all that lies within it.
    let nested = (0..60).map(|level| format!("&a{level} [")).collect::<Vec<_>>().concat();
    assert!(why(&format!("{nested}{text}{}", "]".repeat(60))).starts_with("more content"));

    // Each level aliases the one before: the text nests little, the value deeply.
    let mut chain = "a0: &a0 x\n".to_owned();
    for level in 1..130 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert!(why(&chain).starts_with("nesting beyond 128 levels"));
}

#[test]
fn large_and_deep_documents_are_refused() {
    assert_eq!(why(&" ".repeat(MAX_BYTES + 1)), "more than 1 MiB of YAML at line 1");
    assert!(parse_yaml(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes()).is_ok());
    assert!(why(&format!("{}{}", "[".repeat(129), "]".repeat(129))).starts_with("nesting beyond 128 levels"));
    assert!(why(&"- ".repeat(200)).starts_with("nesting beyond 128 levels"));
    for open in ["[", "{", "- ", "? ", "{a: ", "&a [", "!t [", "\"", "'x"] {
        assert!(parse_yaml(open.repeat(MAX_BYTES / open.len()).as_bytes()).is_err(), "{open}");
    }
    assert!(parse_yaml("a,".repeat(MAX_BYTES / 2).as_bytes()).is_ok());
    assert!(why(&format!("[{}]", "a,".repeat(MAX_BYTES / 2 - 1))).starts_with("more content"));
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn any_bytes_are_answered(bytes: Vec<u8>, text: String, yaml in "([-?:,\\[\\]{}#&*!|>'\"%@`a1 \n\t]|: |- |\\? |\n  |&a |\\*a|!!str |---\n|\\.\\.\\.\n){0,40}") {
        let _ = parse_yaml(&bytes);
        let _ = parse_scalar(&text);
        let _ = parse_scalar(&yaml);
        if let Ok(value) = parse_yaml(yaml.as_bytes()) {
            prop_assert!(value.to_canonical().is_ok());
        }
    }
}
