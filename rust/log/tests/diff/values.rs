//! Values of every kind, with texts that invite misreading.

use cyberos_log::diff::frontmatter::Fields;
use cyberos_log::json::Value;
use proptest::prelude::*;

const NASTY: &[&str] = &[
    "",
    " ",
    "~",
    "null",
    "Null",
    "yes",
    "No",
    "on",
    "y",
    "true",
    "FALSE",
    "1",
    "-0",
    "+1",
    "007",
    "0o7",
    "0x1F",
    "1_000",
    "1.0",
    ".5",
    "5.",
    "1e3",
    "1E+3",
    ".nan",
    "-.inf",
    "nan",
    "Infinity",
    "12:30:45",
    "2026-11-30",
    "2026-11-30T10:00:00Z",
    "=",
    "<<",
    "---",
    "...",
    "- x",
    "-",
    "? x",
    "?",
    ": x",
    ":",
    "a: b",
    "a:",
    "#x",
    "a #b",
    "a# b",
    " a",
    "a ",
    "{",
    "}",
    "[a]",
    ",",
    "&a",
    "*a",
    "!t",
    "!!str 1",
    "|",
    ">",
    "%x",
    "@x",
    "`x",
    "'",
    "\"",
    "it's",
    "\\",
    "\\n",
    "\t",
    "\ta",
    "a\tb",
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\nb\n\n",
    "\na",
    "a\n\nb\n",
    " a\nb",
    "a\n b",
    "a\nb ",
    "a\n \n",
    "a\n\tb",
    "a\r\nb",
    "a\rb",
    "---\na\n---\n",
    "a\n---\nb",
    "\0",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}a",
    "\u{fffe}",
    "\u{ffff}",
    "é",
    "東京",
    "🙂",
    "đường dài",
    "x\u{300}",
    "\u{202e}x",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(NASTY).prop_map(str::to_owned),
        2 => prop::collection::vec(prop::sample::select(NASTY), 2..5).prop_map(|parts| parts.concat()),
        2 => any::<String>(),
        1 => (900..1200usize).prop_map(|len| "k".repeat(len)),
    ]
}

fn big_integer() -> impl Strategy<Value = Value> {
    "-?[1-9][0-9]{20,60}".prop_map(Value::BigInt)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Int(number.into())),
        any::<u64>().prop_map(Value::from),
        (-3i128..12).prop_map(Value::Int),
        big_integer(),
        any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite()).prop_map(Value::Float),
        (-40i8..40).prop_map(|number| Value::Float(f64::from(number) / 4.0)),
        text().prop_map(Value::Str),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(Value::Object),
        ]
    })
}

pub fn fields() -> impl Strategy<Value = Fields> {
    prop::collection::btree_map(text(), value(), 0..6)
}
