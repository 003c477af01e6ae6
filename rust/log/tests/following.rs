//! Following the rows of a log in pieces: every one once and in order, wherever the pieces end, and never those of another log.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;
mod strategies;

use std::path::Path;

use common::{Seen, commit, draft, empty, files, install, open_reader, open_with, scan, shared};
use cyberos_log::history::{Chain, Cursor, Filter, Limits, Rows, Selection, Stretch};
use cyberos_log::json::Value;
use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::SharedMedium;
use cyberos_log::medium::fake::Fake;
use cyberos_log::row::{Row, RowDraft};
use cyberos_log::{Digest, LogError, Result};
use proptest::prelude::*;
use strategies::config;

const NONE: Cursor = Cursor { seq: 0, chain: Digest::ZERO };
const ALL: Limits = Limits { rows: usize::MAX, bytes: usize::MAX, last: u64::MAX };

fn log(kinds: &[String], max_bytes: u64) -> Fake {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes }).unwrap();
    let rows: Vec<RowDraft> = (1..)
        .zip(kinds)
        .map(|(n, kind)| RowDraft { op: kind.clone(), actor: format!("{}", n % 3), ..draft(n) })
        .collect();
    for group in rows.chunks(4) {
        commit(&mut writer, group).unwrap();
    }
    fake
}

fn open(fake: &Fake) -> Chain {
    let medium: SharedMedium = shared(fake);
    Chain::open(&medium, Path::new("/store")).unwrap()
}

fn follow(chain: &Chain, cursor: Cursor, selection: &Selection, limits: Limits) -> Result<Stretch> {
    chain.follow(cursor, chain.position_of(cursor.seq.max(1)).unwrap(), selection, &limits, |_, _| ())
}

fn seqs(rows: &Rows) -> Vec<u64> {
    (0..rows.len()).map(|place| rows.get(place).unwrap().seq).collect()
}

/// Follows to the end with a fresh cursor each time; returns the numbers of the rows that were kept.
fn to_the_end(chain: &Chain, mut cursor: Cursor, selection: &Selection, limits: Limits) -> (Vec<u64>, Cursor) {
    let mut all = Vec::new();
    loop {
        let stretch = follow(chain, cursor, selection, limits).unwrap();
        assert!(stretch.rows.len() <= limits.rows);
        assert!(stretch.over || stretch.cursor.seq > cursor.seq, "no progress");
        all.extend(seqs(&stretch.rows));
        cursor = stretch.cursor;
        if stretch.over {
            return (all, cursor);
        }
    }
}

fn chain_of(row: &Seen) -> Digest {
    Row::parse(&row.payload).unwrap().chain()
}

/// Every part of a row, as the row itself says it.
fn check_parts(kept: &Rows, rows: &[Seen]) {
    for place in 0..kept.len() {
        let kept = kept.get(place).unwrap();
        let seen = rows.iter().find(|row| row.seq == kept.seq).unwrap();
        let row = Row::parse(&seen.payload).unwrap();
        assert_eq!(kept.ts_ns, row.ts_ns());
        assert_eq!(kept.row.actor(), row.actor());
        assert_eq!(kept.row.op(), row.op());
        assert_eq!(kept.row.path(), row.path());
        assert_eq!(kept.row.content_sha256(), row.content_sha256());
        assert_eq!(kept.row.extra(), row.extra());
        assert_eq!(kept.row.chain(), row.chain().to_hex());
        assert_eq!(kept.row.prev_chain(), row.prev_chain().to_hex());
        assert_eq!(kept.row.touches(), row.touches().collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn every_row_comes_once_wherever_the_pieces_end(
        kinds in prop::collection::vec(prop::sample::select(vec!["put", "note", "a \"quoted\" kind", ""]), 0..40),
        wanted in prop::collection::vec(prop::sample::select(vec!["put", "a \"quoted\" kind", "never"]), 0..3),
        actor in prop::option::of(0..3_u64),
        (rows, bytes, max_bytes, indexed) in (1..12_usize, 1..2_000_usize, 300..3_000_u64, any::<bool>()),
        start in 0..40_usize,
    ) {
        let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
        let fake = log(&kinds, max_bytes);
        let mut chain = open(&fake);
        if indexed {
            chain.catch_up().unwrap();
        }
        let (seen, _) = scan(chain.log()).unwrap();
        let filters = actor.iter().map(|actor| Filter::Actor(actor.to_string())).collect();
        let selection = Selection { kinds: wanted.iter().map(|&kind| kind.to_owned()).collect(), filters };
        let start = seen.get(start).map_or(NONE, |row| Cursor { seq: row.seq, chain: chain_of(row) });
        let (found, end) = to_the_end(&chain, start, &selection, Limits { rows, bytes, ..ALL });
        let expected: Vec<u64> = (1..)
            .zip(&kinds)
            .filter(|(seq, kind)| *seq > start.seq && (wanted.is_empty() || wanted.contains(&kind.as_str())))
            .filter(|(seq, _)| actor.is_none_or(|actor| seq % 3 == actor))
            .map(|(seq, _)| seq)
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(end, seen.last().map_or(NONE, |row| Cursor { seq: row.seq, chain: chain_of(row) }));
        check_parts(&follow(&chain, start, &selection, ALL).unwrap().rows, &seen);
    }
}

#[test]
fn all_rows_of_a_name_are_found_whatever_memory_had_it() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
    let row = |op: &str, path: &str, to: &str| RowDraft {
        op: op.into(),
        path: path.into(),
        extra: [("to".to_owned(), Value::Str(to.into()))].into(),
        ..draft(0)
    };
    let (x, y) = ("memories/x.md", "memories/y.md");
    let rows = [
        row("put", x, ""),
        row("put", y, ""),
        row("delete", x, ""),
        row("move", y, x),
        row("put", y, ""),
        row("note", "", x),
        row("move", x, "memories/z.md"),
        row("move", y, x),
    ];
    commit(&mut writer, &rows).unwrap();
    let mut chain = open(&fake);
    for _ in 0..2 {
        assert_eq!(seqs(&chain.touching(x).unwrap().0), [8, 7, 6, 4, 3, 1]);
        assert_eq!(seqs(&chain.touching(y).unwrap().0), [8, 5, 4, 2]);
        assert!(chain.touching("memories/never.md").unwrap().0.is_empty());
        chain.catch_up().unwrap();
    }
}

#[test]
fn nothing_behind_the_last_row_wanted_is_looked_at() {
    let fake = log(&vec!["put".to_owned(); 20], 900);
    let chain = open(&fake);
    for last in 1..=20 {
        let stretch = follow(&chain, NONE, &Selection::default(), Limits { last, ..ALL }).unwrap();
        assert_eq!(seqs(&stretch.rows), (1..=last).collect::<Vec<_>>());
        assert!(stretch.over);
        assert_eq!(stretch.cursor.seq, last);
    }
}

#[test]
fn a_cursor_of_another_log_is_refused() {
    let (one, other) = (log(&vec!["put".to_owned(); 8], 900), log(&vec!["note".to_owned(); 6], 900));
    let (rows, _) = scan(&open_reader(&one).unwrap()).unwrap();
    for row in &rows {
        let cursor = Cursor { seq: row.seq, chain: chain_of(row) };
        assert!(follow(&open(&one), cursor, &Selection::default(), ALL).is_ok());
        let error = follow(&open(&other), cursor, &Selection::default(), ALL).unwrap_err();
        assert!(matches!(error, LogError::Diverged { seq, last_seq: 6, .. } if seq == row.seq), "{error}");
    }
}

#[test]
fn damage_is_said_and_passed_over_unless_it_hides_where_the_reader_was() {
    let fake = log(&vec!["put".to_owned(); 12], 1 << 20);
    let (rows, _) = scan(&open_reader(&fake).unwrap()).unwrap();
    let mut damaged = files(&fake);
    for row in &rows[4..6] {
        let at = usize::try_from(row.offset).unwrap() + 60;
        damaged.get_mut("current.binlog").unwrap()[at] ^= 1; // rows 5 and 6
    }
    let chain = open(&install(&damaged));
    let behind = |seq: usize| {
        let cursor = seq.checked_sub(1).map_or(NONE, |at| Cursor { seq: rows[at].seq, chain: chain_of(&rows[at]) });
        follow(&chain, cursor, &Selection::default(), ALL)
    };
    let stretch = behind(0).unwrap();
    assert_eq!(seqs(&stretch.rows), [1, 2, 3, 4, 7, 8, 9, 10, 11, 12]);
    assert_eq!(stretch.damages.first().map(|damage| damage.expected_seq), Some(5));
    assert_eq!(stretch.cursor.seq, 12);
    // The row behind says what the chain of row 6 was; of row 5 nothing is left.
    assert_eq!(seqs(&behind(6).unwrap().rows), (7..=12).collect::<Vec<_>>());
    assert!(matches!(behind(5), Err(LogError::Corrupt { .. })));
    assert_eq!(seqs(&behind(4).unwrap().rows), (7..=12).collect::<Vec<_>>());
    assert!(behind(8).unwrap().damages.is_empty());
}
