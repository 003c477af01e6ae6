//! Rows that are whole frames and no canonical rows, or not the next ones: refused by `verify` and by a writer's recovery.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use common::{
    Files, START_NS, Sample, append_as_peer, check, clean_rows, draft, files, install, open_reader, open_writer,
};
use cyberos_log::format::frame;
use cyberos_log::row::RowDraft;
use cyberos_log::{Digest, LogError};

/// Number of rows before the foreign one.
const BEFORE: usize = 3;

/// Puts the right `chain` into a payload in which it stands as `@`.
fn seal(text: &[u8], prev: &Digest) -> Vec<u8> {
    let at = text.iter().position(|&byte| byte == b'@').unwrap();
    let (before, after) = (&text[..at], &text[at + 1..]);
    let chain = Digest::of(&[before, after, &prev.0]);
    [before, &chain.to_hex_bytes(), after].concat()
}

/// A canonical payload with `@` for its chain.
fn canonical(prev: &Digest) -> String {
    let ts_ns = START_NS + 4;
    format!(
        r#"{{"actor":"a","chain":"@","content_sha256":"","extra":{{"n":4,"x":1.5}},"op":"put","path":"memories/é.md","prev_chain":"{prev}","ts_ns":{ts_ns}}}"#
    )
}

/// Three rows and a fourth one with this payload, with the tip behind row 3, and behind row 4.
fn logs_with(payload: &[u8]) -> [Files; 2] {
    let sample = Sample::new(BEFORE as u64);
    let mut beyond = sample.cut(sample.log.len(), BEFORE);
    frame::encode(beyond.get_mut("current.binlog").unwrap(), 4, START_NS + 4, payload);
    let mut within = beyond.clone();
    let tip = cyberos_log::format::tip::Tip::decode(&beyond["tip"][..512])
        .into_iter()
        .chain(cyberos_log::format::tip::Tip::decode(&beyond["tip"][512..]))
        .max_by_key(|tip| tip.generation)
        .unwrap();
    let offset = within["current.binlog"].len() as u64;
    // What a reader that searches for the chain would take it for.
    let found = payload.windows(9).position(|window| window == br#""chain":""#).map(|at| &payload[at + 9..]);
    let chain = found.and_then(|rest| Digest::from_hex(rest.get(..64)?)).unwrap_or_default();
    let tip = cyberos_log::format::tip::Tip { seq: 4, offset, chain, generation: 100, ..tip };
    within.get_mut("tip").unwrap()[..512].copy_from_slice(&tip.encode());
    [beyond, within]
}

#[track_caller]
fn check_refused(payload: &[u8], check_name: &str) {
    let shown = String::from_utf8_lossy(payload);
    let [beyond, within] = logs_with(payload);
    // What the last acknowledged row continues is not looked at again when a writer opens.
    let logs = if check_name == "link" { vec![beyond] } else { vec![beyond, within] };
    for before in logs {
        let fake = install(&before);
        let findings = check(&open_reader(&fake).unwrap()).findings;
        assert!(
            findings.iter().any(|finding| finding.check == check_name && finding.seq == 4),
            "{shown}: {findings:?}"
        );
        let error = open_writer(&fake).expect_err(&shown);
        assert!(matches!(error, LogError::Corrupt { seq: Some(4), .. }), "{error}");
        assert_eq!(files(&fake), before);
    }
}

fn prev() -> Digest {
    let sample = Sample::new(BEFORE as u64);
    cyberos_log::row::Row::parse(&sample.rows[BEFORE - 1].payload).unwrap().chain()
}

#[test]
fn the_template_itself_is_accepted() {
    let payload = seal(canonical(&prev()).as_bytes(), &prev());
    let [beyond, within] = logs_with(&payload);
    for (log, accepted) in [(beyond, 1), (within, 0)] {
        let fake = install(&log);
        assert_eq!(open_writer(&fake).unwrap().1.accepted, accepted);
        assert_eq!(clean_rows(&fake).len(), 4);
    }
}

#[test]
fn json_that_is_not_canonical() {
    let prev = prev();
    let right = canonical(&prev);
    let edits: &[(&str, &str)] = &[
        // Repeated keys, other keys, another order.
        (r#""op":"put","#, r#""op":"put","op":"put","#),
        (r#""n":4,"#, r#""n":4,"n":4,"#),
        (r#""n":4,"x":1.5"#, r#""x":1.5,"n":4"#),
        (r#""op":"put","path":"memories/é.md""#, r#""path":"memories/é.md","op":"put""#),
        (r#""op":"put","#, ""),
        (r#""op":"put","#, r#""op":"put","p":1,"#),
        (r#""content_sha256":"","#, ""),
        // White space.
        (r#"{"actor""#, r#" {"actor""#),
        (r#"{"actor""#, r#"{ "actor""#),
        (r#""op":"#, r#""op": "#),
        (r#","op""#, r#", "op""#),
        (r#""n":4"#, "\"n\":\t4"),
        ("5},", "5 },"),
        // Other spellings of the same text.
        ("é", r"\u00e9"),
        ("memories/", r"memories\/"),
        ("put", r"p\u0075t"),
        ("put", r"put\u001F"),
        ("put", r"put\u000a"),
        ("put", r"put\ud800"),
        ("put", "put\n"),
        ("put", "put\u{1}"),
        // Other spellings of the same number.
        ("1.5", "1.50"),
        ("1.5", "15e-1"),
        ("1.5", "1e+16"),
        ("1.5", "+1.5"),
        ("1.5", "01"),
        ("1.5", "-0"),
        ("1.5", "1."),
        ("1.5", "NaN"),
        // Values of the wrong kind.
        (r#""op":"put""#, r#""op":null"#),
        (r#""extra":{"n":4,"x":1.5}"#, r#""extra":[]"#),
        (r#""actor":"a""#, r#""actor":["a"]"#),
        (r#""ts_ns":1"#, r#""ts_ns":-1"#),
        (r#""ts_ns":1"#, r#""ts_ns":0.1"#),
        (r#""ts_ns":1"#, r#""ts_ns":99999991"#),
    ];
    for (from, to) in edits {
        let text = right.replacen(from, to, 1);
        assert_ne!(text, right, "{from}");
        check_refused(&seal(text.as_bytes(), &prev), "canonical");
    }
    let text = right.trim_end_matches('}');
    check_refused(&seal(text.as_bytes(), &prev), "canonical");
    for behind in ["\n", " ", "}", "{}"] {
        check_refused(&seal(format!("{right}{behind}").as_bytes(), &prev), "canonical");
    }
    let mut latin1 = right.into_bytes();
    let at = latin1.iter().position(|&byte| byte >= 0x80).unwrap();
    latin1.splice(at..at + 2, [0xe9]);
    check_refused(&seal(&latin1, &prev), "canonical");
}

#[test]
fn a_chain_that_is_not_where_it_must_be() {
    let prev = prev();
    let right = canonical(&prev);
    let text = right.replace(r#""actor":"a","chain":"@","#, r#""actor":{"chain":"@"},"#);
    check_refused(&seal(text.as_bytes(), &prev), "canonical");
    let text = right.replace(r#""actor":"a","chain":"@","#, r#""actor":{"chain":"@"},"chain":"","#);
    check_refused(&seal(text.as_bytes(), &prev), "canonical");
    let text = right.replace(r#""chain":"@","#, "").replace(r#""n":4,"#, r#""chain":"@","n":4,"#);
    check_refused(&seal(text.as_bytes(), &prev), "canonical");
    check_refused(right.replace(r#""chain":"@","#, "").as_bytes(), "canonical");
    let sealed = String::from_utf8(seal(right.as_bytes(), &prev)).unwrap();
    let chain = &sealed[22..86];
    assert!(chain.bytes().all(|digit| digit.is_ascii_hexdigit()));
    check_refused(sealed.replace(chain, &chain.to_uppercase()).as_bytes(), "canonical");
    check_refused(sealed.replace(chain, &chain[..63]).as_bytes(), "canonical");
    check_refused(sealed.replace(chain, "").as_bytes(), "canonical");
}

/// Text that looks like the chain to a reader that searches for it, in a canonical row.
#[test]
fn a_chain_inside_a_string_is_only_text() {
    let decoy = format!(r#"x","chain":"{}","content_sha256":"#, "0".repeat(64));
    let sample = Sample::new(BEFORE as u64);
    let fake = install(&sample.cut(sample.log.len(), BEFORE));
    let (mut writer, _) = open_writer(&fake).unwrap();
    let row = RowDraft { actor: decoy.clone(), path: decoy.clone(), op: decoy.clone(), ..draft(4) };
    common::commit(&mut writer, &[row]).unwrap();
    let rows = clean_rows(&fake);
    assert_eq!(cyberos_log::row::Row::parse(&rows[3].payload).unwrap().actor(), decoy);
}

#[test]
fn rows_that_do_not_continue_the_chain() {
    let prev = prev();
    let right = canonical(&prev);
    let other = Digest::of(&[b"another chain"]);
    // The link is wrong, and the hash is right for it.
    check_refused(&seal(canonical(&other).as_bytes(), &other), "link");
    check_refused(&seal(canonical(&Digest::ZERO).as_bytes(), &Digest::ZERO), "link");
    // The link is right, and the hash was made with another one.
    check_refused(&seal(right.as_bytes(), &other), "chain");
    // The text was changed and the hash was not.
    let sealed = String::from_utf8(seal(right.as_bytes(), &prev)).unwrap();
    check_refused(sealed.replace("put", "pvt").as_bytes(), "chain");
    // The time is not that of the header.
    let text = right.replace(&(START_NS + 4).to_string(), &(START_NS + 5).to_string());
    check_refused(&seal(text.as_bytes(), &prev), "time");
}

#[test]
fn a_foreign_row_in_the_middle_is_found_by_verify() {
    let prev = prev();
    let text = canonical(&prev).replace(r#""op":"#, r#""op": "#);
    let payload = seal(text.as_bytes(), &prev);
    let sample = Sample::new(BEFORE as u64);
    let fake = install(&sample.cut(sample.log.len(), BEFORE));
    let mut frames = Vec::new();
    frame::encode(&mut frames, 4, START_NS + 4, &payload);
    let chain = Digest::from_hex(&payload[22..86]).unwrap();
    for (seq, (ts_ns, payload)) in (5..).zip(common::sealed(&[draft(5), draft(6)], chain)) {
        frame::encode(&mut frames, seq, ts_ns, &payload);
    }
    append_as_peer(&fake, &frames, 6);
    let report = check(&open_reader(&fake).unwrap());
    assert_eq!(
        report.findings.iter().map(|finding| (finding.check, finding.seq)).collect::<Vec<_>>(),
        [("canonical", 4)]
    );
    assert_eq!(report.rows, 6);
    assert!(matches!(open_writer(&fake), Err(LogError::Corrupt { seq: Some(4), .. })));
}
