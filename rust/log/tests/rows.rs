//! Rows survive sealing and reading; a payload that is anything else than canonical is refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod strategies;

use cyberos_log::Digest;
use cyberos_log::json::Value;
use cyberos_log::row::{Row, RowDraft, Touch};
use proptest::prelude::*;

fn draft(op: &str, path: &str, extra: &str) -> RowDraft {
    RowDraft {
        op: op.to_owned(),
        path: path.to_owned(),
        actor: "coding-agent".to_owned(),
        content_sha256: "ab".repeat(32),
        extra: Value::parse(extra.as_bytes()).unwrap().as_object().unwrap().clone(),
        ts_ns: 1_796_052_528_421_854_288,
    }
}

fn redraft(row: &Row<'_>) -> RowDraft {
    RowDraft {
        op: row.op().into_owned(),
        path: row.path().into_owned(),
        actor: row.actor().into_owned(),
        content_sha256: row.content_sha256().into_owned(),
        extra: Value::parse(row.extra()).unwrap().as_object().unwrap().clone(),
        ts_ns: row.ts_ns(),
    }
}

fn touches(draft: &RowDraft) -> Vec<(String, Touch)> {
    let payload = draft.seal(&Digest::ZERO).unwrap().0;
    Row::parse(&payload).unwrap().touches().map(|(path, touch)| (path.into_owned(), touch)).collect()
}

/// What a row is, told through the tree: the eight keys, their types, the canonical form.
fn is_row_by_tree(payload: &[u8]) -> bool {
    let Ok(value) = Value::parse(payload) else { return false };
    let Some(fields) = value.as_object() else { return false };
    let keys = ["actor", "chain", "content_sha256", "extra", "op", "path", "prev_chain", "ts_ns"];
    let text = |key: &str| fields[key].as_str();
    let digest = |key: &str| text(key).is_some_and(|hex| Digest::from_hex(hex.as_bytes()).is_some());
    fields.keys().eq(keys)
        && value.to_canonical().is_ok_and(|canonical| canonical == payload)
        && ["actor", "content_sha256", "op", "path"].into_iter().all(|key| text(key).is_some())
        && digest("chain")
        && digest("prev_chain")
        && fields["extra"].as_object().is_some()
        && fields["ts_ns"].as_int().is_some_and(|number| number >= 0)
}

#[test]
fn the_rows_that_msgspec_made_read_and_seal_to_the_same_bytes() {
    let mut prev = Digest::ZERO;
    for payload in include_str!("vectors/rows.jsonl").lines() {
        let row = Row::parse(payload.as_bytes()).unwrap();
        assert!(row.chain_is_right());
        assert_eq!(row.prev_chain(), prev);
        assert_eq!(redraft(&row).seal(&prev).unwrap(), (payload.as_bytes().to_vec(), row.chain()));
        prev = row.chain();
    }
}

#[test]
fn every_flipped_bit_is_refused_or_breaks_the_hash() {
    let extra = r#"{"deep":{"a":[1,{"b":null}]},"f":0.1,"n":-1,"s":"\"\u0000é","to":"memories/b.md"}"#;
    let (payload, _) = draft("move", "memories/a.md", extra).seal(&Digest::of(&[b"x"])).unwrap();
    assert!(Row::parse(&payload).unwrap().chain_is_right());
    let mut still_rows = 0;
    for at in 0..payload.len() {
        for bit in 0..8 {
            let mut flipped = payload.clone();
            flipped[at] ^= 1 << bit;
            let row = Row::parse(&flipped);
            assert_eq!(row.is_ok(), is_row_by_tree(&flipped), "bit {bit} of byte {at}");
            if let Ok(row) = row {
                still_rows += 1;
                assert!(!row.chain_is_right(), "bit {bit} of byte {at}");
            }
        }
    }
    assert!(still_rows > 500, "only {still_rows} flips left a row, so the hash was hardly asked");
}

#[test]
fn payloads_that_only_resemble_a_row_are_refused_where_they_differ() {
    let (payload, _) = draft("put", "memories/a.md", r#"{"kind":"fact"}"#).seal(&Digest::ZERO).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    let chain = &payload[payload.find("\"chain\"").unwrap()..payload.find(",\"content").unwrap()];
    let replacements = [
        (r#"{"actor":"coding-agent","#, r#"{"actor": "coding-agent","#),
        (r#"{"actor":"coding-agent","#, r#"{"actor":"coding-agent","actor":"coding-agent","#),
        (r#"{"actor":"coding-agent","#, "{"),
        (r#"{"actor":"coding-agent","#, r#"{"a":1,"actor":"coding-agent","#),
        (r#"{"actor":"coding-agent","#, r#"{"actor":null,"#),
        (r#"{"actor":"coding-agent","#, r#"{"actor":"coding\u002dagent","#),
        (&format!("{chain},"), &format!("{chain},{chain},")),
        (&format!(r#""actor":"coding-agent",{chain}"#), &format!(r#"{chain},"actor":"coding-agent""#)),
        (&format!(r#""coding-agent",{chain},"#), &format!(r#""coding-agent\",{chain}","#)),
        (&chain[9..], &chain[9..].to_uppercase()),
        (&chain[9..], "\""),
        (r#""extra":{"kind":"fact"}"#, r#""extra":[]"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":null"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":{"kind":"fact","kind":"fact"}"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":{"kind":"fact","a":1}"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":{"kind":{"a":1,"a":1}}"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":{"kind":1E5}"#),
        (r#""extra":{"kind":"fact"}"#, r#""extra":{"kind":-0}"#),
        (r#""extra":{"kind":"fact"}"#, &format!(r#""extra":{{"kind":{}{}}}"#, "[".repeat(200), "]".repeat(200))),
        (r#""op":"put","#, ""),
        (r#""op":"put","#, r#""op":7,"#),
        (r#""op":"put","#, r#""op":"put","other":1,"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":-1"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":-0"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":01"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":1.0"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":18446744073709551616"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":99999999999999999999"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":"1""#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":"#),
        (r#""ts_ns":1796052528421854288"#, r#""ts_ns":1,"z":1"#),
        ("288}", "288}}"),
        ("288}", "288} "),
        ("288}", "288"),
    ];
    for (from, to) in replacements {
        let changed = payload.replacen(from, to, 1);
        assert_ne!(changed, payload, "{from}");
        let error = Row::parse(changed.as_bytes()).unwrap_err();
        let same = payload.bytes().zip(changed.bytes()).take_while(|(left, right)| left == right).count();
        assert!(error.offset <= changed.len() && error.offset + 80 > same, "{to}: {error}");
        assert!(!is_row_by_tree(changed.as_bytes()), "{to}");
    }
}

/// The op, the path, `extra`, and what is touched.
type Case<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, Touch)]);

#[test]
fn a_path_is_named_once_and_in_the_strongest_way() {
    use Touch::{Annotation, Delete, MoveFrom, MoveTo, Write};
    let cases: [Case; 15] = [
        ("put", "a", r#"{"path":"a","target_path":"b"}"#, &[("a", Write), ("b", Annotation)]),
        ("delete", "a", "{}", &[("a", Delete)]),
        ("move", "a", r#"{"to":"b"}"#, &[("a", MoveFrom), ("b", MoveTo)]),
        ("rename", "a", r#"{"to":"b"}"#, &[("a", MoveFrom), ("b", MoveTo)]),
        ("move", "a", r#"{"dst":"b"}"#, &[("a", MoveFrom), ("b", MoveTo)]),
        ("move", "b", r#"{"dst":"b","src":"a"}"#, &[("a", MoveFrom), ("b", MoveTo)]),
        ("move", "", r#"{"dst":"b","src":"a"}"#, &[("a", MoveFrom), ("b", MoveTo)]),
        ("move", "c", r#"{"dst":"b","src":"a"}"#, &[("a", MoveFrom), ("b", MoveTo), ("c", Annotation)]),
        (
            "move",
            "a",
            r#"{"dst":"y","src":"x","to":"b"}"#,
            &[("a", MoveFrom), ("b", MoveTo), ("x", Annotation), ("y", Annotation)],
        ),
        ("move", "a", "{}", &[("a", Annotation)]),
        ("move", "a", r#"{"to":"a"}"#, &[("a", Annotation)]),
        ("move", "a", r#"{"to":7}"#, &[("a", Annotation)]),
        ("put", "a", r#"{"to":"b"}"#, &[("a", Write), ("b", Annotation)]),
        (
            "dream.complete",
            "",
            r#"{"affected_paths":["a",7,"","b","a"],"path":null,"to":["c"]}"#,
            &[("a", Annotation), ("b", Annotation)],
        ),
        ("session.start", "", r#"{"affected_paths":"a"}"#, &[]),
    ];
    for (op, path, extra, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(path, touch)| ((*path).to_owned(), *touch)).collect();
        assert_eq!(touches(&draft(op, path, extra)), expected, "{op} {path} {extra}");
    }
}

#[test]
fn touches_of_a_huge_list_take_linear_time() {
    let paths = (0..200_000).map(|at| Value::Str(format!("memories/{}.md", at / 2))).collect();
    let mut draft = draft("dream.complete", "", "{}");
    draft.extra.insert("affected_paths".to_owned(), Value::Array(paths));
    assert_eq!(touches(&draft).len(), 100_000);
}

#[test]
fn codes_of_touches_never_change() {
    let codes = [Touch::Write, Touch::MoveFrom, Touch::MoveTo, Touch::Delete, Touch::Annotation].map(Touch::code);
    assert_eq!(codes, [0, 1, 2, 3, 4]);
    for code in 0..=u8::MAX {
        assert_eq!(Touch::from_code(code).map(Touch::code), codes.contains(&code).then_some(code));
    }
}

#[test]
fn what_upstream_may_spell_differently_is_not_sealed() {
    let with = |value: Value| {
        let mut draft = draft("put", "memories/a.md", "{}");
        draft.extra.insert("x".to_owned(), Value::Array(vec![value]));
        draft.seal(&Digest::ZERO)
    };
    assert!(with(Value::Int(u64::MAX.into())).is_ok());
    assert!(with(Value::Int(i128::from(u64::MAX) + 1)).is_err());
    assert!(with(Value::BigInt("18446744073709551616".to_owned())).is_err());
    assert!(with(Value::Float(f64::NAN)).is_err());
    assert!(with(Value::Str("x".repeat(1 << 24))).is_err());
    let room = (1 << 24) - 1 - with(Value::Str(String::new())).unwrap().0.len();
    assert!(with(Value::Str("x".repeat(room))).is_ok());
    assert!(with(Value::Str("x".repeat(room + 1))).is_err());
}

proptest! {
    #![proptest_config(strategies::config(1_000))]

    #[test]
    fn a_draft_survives_sealing(draft in strategies::draft(), prev: [u8; 32]) {
        let prev = Digest(prev);
        let (payload, chain) = draft.seal(&prev).unwrap();
        let row = Row::parse(&payload).unwrap();
        prop_assert!(is_row_by_tree(&payload));
        prop_assert!(row.chain_is_right());
        prop_assert_eq!((row.chain(), row.prev_chain()), (chain, prev));
        prop_assert_eq!(redraft(&row), draft);
    }

    #[test]
    fn a_changed_byte_is_accepted_only_where_the_payload_stays_a_row(
        draft in strategies::draft(), at: prop::sample::Index, byte in strategies::byte_of_json(),
    ) {
        let (mut payload, _) = draft.seal(&Digest::ZERO).unwrap();
        let at = at.index(payload.len());
        payload[at] = byte;
        prop_assert_eq!(Row::parse(&payload).is_ok(), is_row_by_tree(&payload), "{}", String::from_utf8_lossy(&payload));
    }

    #[test]
    fn touches_are_those_of_the_tree(draft in strategies::draft()) {
        let text = |key: &str| draft.extra.get(key).and_then(Value::as_str).filter(|path| !path.is_empty());
        let mut expected: Vec<(&str, Touch)> = Vec::new();
        let moves = ["move", "rename"].contains(&draft.op.as_str());
        let ends = match (text("to"), text("dst")) {
            (Some(to), _) => Some((draft.path.as_str(), to)),
            (None, Some(dst)) => Some((text("src").unwrap_or(&draft.path), dst)),
            _ => None,
        };
        let ends = ends.filter(|(source, destination)| moves && !source.is_empty() && source != destination);
        if let Some((source, destination)) = ends {
            expected.extend([(source, Touch::MoveFrom), (destination, Touch::MoveTo)]);
        }
        let own = match draft.op.as_str() {
            "put" | "create" | "str_replace" | "insert" => Touch::Write,
            "delete" => Touch::Delete,
            _ => Touch::Annotation,
        };
        expected.push((&draft.path, own));
        let others = ["path", "target_path", "to", "src", "dst"].into_iter().filter_map(text);
        let affected = draft.extra.get("affected_paths").and_then(Value::as_array).unwrap_or_default();
        let others = others.chain(affected.iter().filter_map(Value::as_str));
        expected.extend(others.map(|path| (path, Touch::Annotation)));
        let mut seen = std::collections::BTreeSet::new();
        expected.retain(|(path, _)| !path.is_empty() && seen.insert(*path));
        let expected: Vec<_> = expected.into_iter().map(|(path, touch)| (path.to_owned(), touch)).collect();
        prop_assert_eq!(touches(&draft), expected);
        let payload = draft.seal(&Digest::ZERO).unwrap().0;
        let found = Row::parse(&payload).unwrap().move_ends();
        prop_assert_eq!(found, ends.map(|(source, destination)| (source.into(), destination.into())));
    }
}
