//! Whatever a text is, what is found lies in it.

use cyberos_redact::{Tag, candidates};
use proptest::prelude::*;

/// What the rules look for, so that they find something in texts that are drawn.
const PIECES: [&str; 34] = [
    "4111 1111 1111 1111",
    "ann@example.com",
    "%40",
    "@",
    "+84 912 345 678",
    "password",
    "token",
    " = ",
    ": ",
    "\"",
    "\\\"",
    "'''",
    "hộ chiếu ",
    "căn cước ",
    "phone ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END ",
    "MIIEvQIBADANBgkqh",
    "\\n",
    "DE89",
    "fe80::1",
    "1.2.3.4",
    "postgres://u:p@h/x",
    "\u{200b}",
    "\u{a0}",
    "４",
    "e\u{301}",
    "𝟏",
    "日本",
    "<EMAIL>",
    "<",
    ">",
    "--",
    "0",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(&PIECES[..]).prop_map(str::to_owned), "\\PC{0,3}", any::<String>()];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn candidates_lie_in_the_text_in_order(text in texts()) {
        let mut last = 0;
        for found in candidates(&text) {
            prop_assert!(last <= found.start && found.start < found.end);
            last = found.start;
            let there = text.get(found.start..found.end);
            prop_assert!(there.is_some(), "{found:?} is not on the boundary of a character");
            prop_assert!(!Tag::is_tag(&found.value));
            if text.is_ascii() {
                prop_assert_eq!(there, Some(found.value.as_str()));
            }
        }
    }
}

#[test]
fn tags_are_told_from_what_looks_like_them() {
    assert!(Tag::is_tag("<EMAIL>") && Tag::is_tag("<EMAIL><CARD>") && Tag::is_tag(""));
    assert!(!Tag::is_tag("<MAIL>") && !Tag::is_tag("<EMAIL") && !Tag::is_tag("<EMAIL>x"));
}

#[test]
fn a_text_that_repeats_what_is_looked_for_takes_linear_time() {
    for piece in [
        "password=",
        "-----BEGIN PRIVATE KEY-----",
        "a://b:",
        "1 ",
        "DE89 ",
        "@",
        "token:\"",
        "phone ",
        "+1 ",
        "fe80:",
        "a.b@",
    ] {
        let text = piece.repeat(40_000 / piece.len());
        candidates(&text);
    }
}
