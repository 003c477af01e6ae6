//! What the property tests are fed with.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;

use cyberos_log::json::Value;
use cyberos_log::row::RowDraft;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};

/// A fixed seed, so that a failure is everyone's failure.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Strings with many characters that are escaped or nearly are.
pub fn string() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => any::<char>(),
        4 => prop::char::range('\0', '\u{7f}'),
        2 => prop::sample::select(vec!['"', '\\', '/', '\n', '\u{1f}', 'u', '0', '!', '#', '[', ']']),
    ];
    prop_oneof![prop::collection::vec(character, 0..20).prop_map(String::from_iter), "[a-z0-9/.-]{0,70}"]
}

/// Bytes that matter in JSON, and any other.
pub fn byte_of_json() -> impl Strategy<Value = u8> {
    prop_oneof![prop::sample::select(b"{}[],:\"\\ntfu0123459-+.eE abcdef \n".to_vec()), any::<u8>()]
}

/// Values that have a canonical form.
pub fn value() -> impl Strategy<Value = Value> {
    let float =
        prop::num::f64::POSITIVE | prop::num::f64::NEGATIVE | prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Int(number.into())),
        any::<u64>().prop_map(|number| Value::Int(number.into())),
        (-200..200_i128).prop_map(Value::Int),
        (float | prop::num::f64::ZERO).prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        (-100_000..100_000_i32, -30..30)
            .prop_map(|(digits, power)| Value::Float(f64::from(digits) * 10_f64.powi(power))),
        string().prop_map(Value::Str),
        "-?[1-9][0-9]{20,40}".prop_map(Value::BigInt),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(string(), inner, 0..6).prop_map(Value::Object),
        ]
    })
}

/// Rows of every kind, whose `extra` names other paths in every way.
pub fn draft() -> impl Strategy<Value = RowDraft> {
    let ops = ["put", "create", "str_replace", "insert", "move", "rename", "delete", "memory.acl_denied", "x\"y"];
    let path = || prop_oneof![Just(String::new()), "[ab]{1}".prop_map(|name| format!("memories/{name}.md")), string()];
    let keys = ["path", "target_path", "to", "src", "dst"];
    let paths = prop::collection::btree_map(prop::sample::select(keys.to_vec()), path().prop_map(Value::Str), 0..5);
    let others = prop::collection::btree_map(string(), value(), 0..3);
    let item = prop_oneof![3 => path().prop_map(Value::Str), 1 => value()];
    let affected = prop::option::of(prop_oneof![prop::collection::vec(item, 0..6).prop_map(Value::Array), value()]);
    let extra = (paths, others, affected).prop_map(|(paths, others, affected)| {
        let mut extra: BTreeMap<String, Value> = others;
        extra.extend(paths.into_iter().map(|(key, path)| (key.to_owned(), path)));
        extra.extend(affected.map(|affected| ("affected_paths".to_owned(), affected)));
        extra
    });
    let extra = extra.prop_filter("writable", |extra| !format!("{extra:?}").contains("BigInt"));
    let op = prop::sample::select(ops.to_vec()).prop_map(str::to_owned);
    let hash = prop_oneof![Just(String::new()), "[0-9a-f]{64}"];
    (op, path(), string(), hash, extra, any::<u64>()).prop_map(|(op, path, actor, content_sha256, extra, ts_ns)| {
        RowDraft { op, path, actor, content_sha256, extra, ts_ns }
    })
}
