//! Logs whose parts are whole and do not fit together: rows, segments and tips that are missing, moved, repeated or edited.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use common::{
    Files, Sample, Seen, check, clean_rows, commit, draft, empty, files, install, open_reader, open_with, open_writer,
    reverse, scan,
};
use cyberos_log::LogError;
use cyberos_log::format::tip::{SLOT, Tip};
use cyberos_log::log::{SegmentPolicy, TipState};
use cyberos_log::medium::fake::Fake;

/// A tip file with this tip in it.
fn tip_file(tip: Tip) -> Vec<u8> {
    let mut bytes = vec![0; 2 * SLOT];
    let at = usize::from(tip.generation % 2 == 1) * SLOT;
    bytes[at..at + SLOT].copy_from_slice(&tip.encode());
    bytes
}

fn newest(file: &[u8]) -> Tip {
    file.chunks(SLOT).filter_map(Tip::decode).max_by_key(|tip| tip.generation).unwrap()
}

/// The names of the checks that fail.
fn findings(fake: &Fake) -> Vec<&'static str> {
    let mut checks: Vec<_> = check(&open_reader(fake).unwrap()).findings.iter().map(|finding| finding.check).collect();
    checks.dedup();
    checks
}

/// The writer refuses, readers read these rows, and nothing is changed.
#[track_caller]
fn check_refused(fake: &Fake, before: &Files, readable: &[Seen]) {
    assert_eq!(scan(&open_reader(fake).unwrap()).unwrap().0, readable);
    let error = open_writer(fake).unwrap_err();
    assert!(matches!(error, LogError::Corrupt { .. }), "{error}");
    assert_eq!(&files(fake), before);
}

#[test]
fn a_tip_that_does_not_fit_the_log() {
    let sample = Sample::new(6);
    let right = newest(&sample.tips[4]);
    let mut wrong = vec![
        Tip { offset: right.offset + 1, ..right },
        Tip { offset: right.offset - 1, ..right },
        Tip { offset: sample.ends[3] as u64, ..right },
        Tip { offset: sample.ends[5] as u64, ..right },
        Tip { offset: sample.log.len() as u64 + 1, ..right },
        Tip { offset: 0, ..right },
        Tip { offset: u64::MAX, ..right },
        Tip { seq: 3, ..right },
        Tip { seq: 5, ..right },
        Tip { seq: 1 << 40, ..right },
        Tip { segment: 2, ..right },
        Tip { segment: 0, ..right },
    ];
    let mut chain = right.chain;
    chain.0[31] ^= 1;
    wrong.push(Tip { chain, ..right });
    for tip in wrong {
        let before = Files::from([("current.binlog".into(), sample.log.clone()), ("tip".into(), tip_file(tip))]);
        let fake = install(&before);
        check_refused(&fake, &before, &sample.rows);
        assert_eq!(findings(&fake), ["tip"], "{tip:?}");
    }
}

#[test]
fn numbers_in_a_tip_that_cannot_be_counted_on_from() {
    let sample = Sample::new(1);
    let right = newest(&sample.tips[1]);
    for tip in [Tip { generation: u64::MAX, ..right }, Tip { seq: u64::MAX, ..right }, Tip { seq: 1 << 56, ..right }] {
        let fake = install(&Files::from([("tip".into(), tip_file(tip))]));
        assert_eq!(open_reader(&fake).unwrap().tip_state(), TipState::Damaged);
    }
}

#[test]
fn no_whole_slot_in_the_tip() {
    let sample = Sample::new(6);
    let slots = sample.tips[6].chunks(SLOT).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let swapped = [slots[1].clone(), slots[0].clone()].concat();
    for tip in [vec![], vec![0; 1024], b"CYBTIP1\n".to_vec(), sample.tips[6][..511].to_vec(), swapped] {
        let mut before = sample.cut(sample.log.len(), 6);
        before.insert("tip".into(), tip);
        let fake = install(&before);
        assert_eq!(open_reader(&fake).unwrap().tip_state(), TipState::Damaged);
        check_refused(&fake, &before, &sample.rows);
        assert_eq!(findings(&fake), ["tip"]);
    }
}

#[test]
fn a_tip_that_grew_is_read_by_its_slots() {
    let sample = Sample::new(3);
    let mut before = sample.cut(sample.log.len(), 3);
    before.get_mut("tip").unwrap().resize(1 << 20, b'x');
    assert_eq!(open_writer(&install(&before)).unwrap().0.last_seq(), 3);
}

#[test]
fn edited_headers() {
    let sample = Sample::new(6);
    for row in 1..=6 {
        let at = sample.ends[row - 1];
        for seq in [0, row as u64 - 1, row as u64 + 1, 7, 1 << 55, 1 << 56, u64::MAX] {
            let mut before = sample.cut(sample.log.len(), 6);
            before.get_mut("current.binlog").unwrap()[at + 8..at + 16].copy_from_slice(&seq.to_be_bytes());
            let fake = install(&before);
            let log = open_reader(&fake).unwrap();
            assert!(!check(&log).findings.is_empty(), "row {row} with number {seq}");
            let others: Vec<_> = sample.rows.iter().filter(|other| other.seq != row as u64).cloned().collect();
            let (found, damages) = scan(&log).unwrap();
            assert!(others.iter().all(|other| found.contains(other)), "row {row} with number {seq}");
            assert!(!damages.is_empty());
            reverse(&log);
            assert_eq!(open_writer(&fake).is_err(), row == 6, "row {row} with number {seq}");
        }
        for ts_ns in [0, u64::MAX, draft(row as u64).ts_ns + 1] {
            let mut before = sample.cut(sample.log.len(), 6);
            before.get_mut("current.binlog").unwrap()[at + 16..at + 24].copy_from_slice(&ts_ns.to_be_bytes());
            let fake = install(&before);
            assert_eq!(findings(&fake), if row == 6 { vec!["time", "tip"] } else { vec!["time"] });
            assert_eq!(open_writer(&fake).is_err(), row == 6);
            before.insert("tip".into(), sample.tips[5].clone());
            assert_eq!(open_writer(&install(&before)).is_err(), row >= 5, "a row beyond the tip is checked");
        }
    }
}

#[test]
fn rows_taken_out_put_in_twice_and_exchanged() {
    let sample = Sample::new(6);
    let row = |n: usize| &sample.log[sample.ends[n - 1]..sample.ends[n]];
    for order in [
        &[1, 2, 4, 5, 6][..],
        &[2, 3, 4, 5, 6],
        &[1, 2, 3, 3, 4, 5, 6],
        &[1, 1, 2, 3, 4, 5, 6],
        &[1, 3, 2, 4, 5, 6],
        &[2, 1, 3, 4, 5, 6],
        &[6, 5, 4, 3, 2, 1],
        &[1, 2, 3, 4, 6, 5],
        &[1, 2, 3, 4, 5, 6, 6],
        &[1, 2, 3, 4, 5, 6, 1],
    ] {
        let log: Vec<u8> = order.iter().flat_map(|&n| row(n)).copied().collect();
        let mut before = sample.cut(0, 6);
        before.insert("current.binlog".into(), log);
        let fake = install(&before);
        assert!(!check(&open_reader(&fake).unwrap()).findings.is_empty(), "{order:?}");
        // What lies before the acknowledged end is not looked at again when a writer opens.
        let opens = order.len() == 6 && order[0] == 1 && order[5] == 6;
        assert_eq!(open_writer(&fake).is_ok(), opens, "{order:?}");
        assert_eq!(files(&fake), before);
    }
}

/// A whole number of rows in each of four segments.
fn segmented() -> (Files, Vec<Seen>) {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes: 2_000 }).unwrap();
    for n in 1..=28 {
        commit(&mut writer, &[draft(n)]).unwrap();
    }
    let rows = clean_rows(&fake);
    let mut names: Vec<_> = rows.iter().map(|row| row.file.clone()).collect();
    names.dedup();
    assert_eq!(names, ["2026-06_01.binlog", "2026-06_02.binlog", "2026-06_03.binlog", "current.binlog"]);
    (files(&fake), rows)
}

#[test]
fn a_missing_segment() {
    let (whole, rows) = segmented();
    for missing in ["2026-06_01.binlog", "2026-06_02.binlog", "2026-06_03.binlog", "current.binlog"] {
        let mut before = whole.clone();
        before.remove(missing);
        let fake = install(&before);
        let log = open_reader(&fake).unwrap();
        let readable: Vec<_> = rows.iter().filter(|row| row.file != missing).cloned().collect();
        let (found, _) = scan(&log).unwrap();
        assert_eq!(found, readable);
        assert!(findings(&fake).contains(if missing == "current.binlog" { &"tip" } else { &"order" }));
        let (newest_first, broken) = reverse(&log);
        assert!(broken || missing == "2026-06_01.binlog" || missing == "current.binlog");
        assert!(newest_first.iter().rev().eq(&readable[readable.len() - newest_first.len()..]));
        if missing == "current.binlog" {
            assert_eq!(log.short(), Some("audit/tip"));
            check_refused(&fake, &before, &readable);
        }
    }
}

#[test]
fn a_repeated_segment_is_read_once() {
    let (whole, rows) = segmented();
    for repeated in ["2026-06_01.binlog", "2026-06_02.binlog", "2026-06_03.binlog"] {
        let mut before = whole.clone();
        before.insert("2026-07_01.binlog".into(), whole[repeated].clone());
        let fake = install(&before);
        let log = open_reader(&fake).unwrap();
        let (found, damages) = scan(&log).unwrap();
        let numbers = |rows: &[Seen]| rows.iter().map(|row| (row.seq, row.payload.clone())).collect::<Vec<_>>();
        assert_eq!(numbers(&found), numbers(&rows));
        assert!(!damages.is_empty());
        assert!(findings(&fake).contains(&"order"));
        let (newest_first, broken) = reverse(&log);
        assert!(broken);
        assert_eq!(
            numbers(&newest_first),
            numbers(&rows).into_iter().rev().take(newest_first.len()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_segment_and_its_compacted_form_are_one() {
    let (mut whole, rows) = segmented();
    whole.insert("2026-06_02.binlog.zst".into(), b"an interrupted compaction".to_vec());
    assert_eq!(clean_rows(&install(&whole)), rows);
}

#[test]
fn names_do_not_order_segments() {
    let (whole, rows) = segmented();
    let mut renamed = whole.clone();
    for (from, to) in [("2026-06_01", "2026-06_03"), ("2026-06_02", "2026-06_01"), ("2026-06_03", "2026-06_02")] {
        renamed.insert(format!("{to}.binlog"), whole[&format!("{from}.binlog")].clone());
    }
    let fake = install(&renamed);
    let numbers = |rows: &[Seen]| rows.iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!(numbers(&clean_rows(&fake)), numbers(&rows));
    assert_eq!(open_writer(&fake).unwrap().0.last_seq(), 28);
}

#[test]
fn bytes_between_two_segments() {
    let (whole, rows) = segmented();
    for junk in [&b"\0"[..], b"junk", &[0; 600]] {
        let mut before = whole.clone();
        before.get_mut("2026-06_02.binlog").unwrap().extend_from_slice(junk);
        let fake = install(&before);
        let log = open_reader(&fake).unwrap();
        assert_eq!(scan(&log).unwrap().0, rows);
        assert_eq!(findings(&fake), ["frame"], "a torn tail can only be the log's end");
        assert!(reverse(&log).1);
        let (mut writer, _) = open_writer(&fake).unwrap();
        commit(&mut writer, &[draft(99)]).unwrap();
        assert_eq!(files(&fake)["2026-06_02.binlog"], before["2026-06_02.binlog"]);
    }
}

#[test]
fn a_sealed_segment_without_any_row() {
    let (whole, rows) = segmented();
    for (name, bytes) in [("2026-06_02.binlog", vec![7; 900]), ("2026-06_02.binlog.zst", vec![7; 900])] {
        let mut before = whole.clone();
        before.remove("2026-06_02.binlog");
        before.insert(name.into(), bytes);
        let fake = install(&before);
        let log = open_reader(&fake).unwrap();
        assert_eq!(log.segments().unreadable()[0].file, format!("audit/{name}"));
        let readable: Vec<_> = rows.iter().filter(|row| row.file != "2026-06_02.binlog").cloned().collect();
        check_refused(&fake, &before, &readable);
        assert!(findings(&fake).contains(&"segment"));
    }
}

#[test]
fn a_torn_tail_behind_a_compacted_end_is_corruption() {
    let sample = Sample::new(4);
    let mut before = sample.cut(0, 4);
    before.remove("current.binlog");
    let torn = [&sample.log[..], b"\0\0torn"].concat();
    before.insert("2026-06_01.binlog.zst".into(), zstd::encode_all(torn.as_slice(), 1).unwrap());
    let fake = install(&before);
    let mut rows = sample.rows;
    for row in &mut rows {
        row.file = "2026-06_01.binlog.zst".into();
    }
    assert_eq!(findings(&fake), ["frame"]);
    check_refused(&fake, &before, &rows);
}

#[test]
fn a_frame_that_claims_to_be_huge() {
    let sample = Sample::new(3);
    for length in [0_u32, 1, 0x00ff_ffff, 0x0100_0000, u32::MAX] {
        let mut before = sample.cut(sample.log.len(), 3);
        let at = sample.ends[1];
        before.get_mut("current.binlog").unwrap()[at..at + 4].copy_from_slice(&length.to_be_bytes());
        let fake = install(&before);
        let (found, _) = scan(&open_reader(&fake).unwrap()).unwrap();
        assert_eq!(found, [sample.rows[0].clone(), sample.rows[2].clone()]);
        assert_eq!(findings(&fake), ["frame"]);
    }
}
