//! Every single flipped bit is found by `verify`, or changes nothing; and no acknowledged row is lost over it.
//!
//! For a bit in a log that means: `verify` reports it, or (only in compacted bytes) the log's rows and their positions are
//! the same as before. Readers still read every row but the one that was hit. A writer refuses, or goes on behind the
//! acknowledged rows without changing a byte of them. For a bit in the tip or in the peaks: the file is refused or its other
//! slot counts, and the log's rows are the same.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use common::{
    Files, Random, Sample, Seen, audit, check, clean_rows, commit, draft, empty, files, install, open_reader,
    open_with, open_writer, reverse, scan,
};
use cyberos_log::LogError;
use cyberos_log::log::peaks::Peaks;
use cyberos_log::log::{SegmentPolicy, TipState};
use cyberos_log::medium::fake::Fake;

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// Checks what is made of a log in which a bit of one file was flipped. Returns whether `verify` reported it.
#[track_caller]
fn check_flipped(damaged: &Files, rows: &[Seen], file: &str, hit: impl Fn(&Seen) -> bool) -> bool {
    let fake = install(damaged);
    let log = open_reader(&fake).unwrap();
    let report = check(&log);
    let (found, _) = scan(&log).unwrap();
    let detected = !report.findings.is_empty();
    if !detected {
        assert_eq!(found, rows, "what verify does not find is not there");
    }
    for row in rows.iter().filter(|&row| !hit(row)) {
        assert!(found.contains(row), "row {} is whole and can be read", row.seq);
    }
    assert_eq!(report.torn_tail, None, "all rows are acknowledged");
    let (newest_first, broken) = reverse(&log);
    assert!(broken || !newest_first.is_empty());
    for (row, expected) in newest_first.iter().zip(rows.iter().rev()) {
        assert!(
            hit(expected) || (row.seq, row.offset, &row.payload) == (expected.seq, expected.offset, &expected.payload)
        );
    }
    if !broken {
        assert_eq!(newest_first.len(), rows.len());
    }
    match open_writer(&fake) {
        Ok((mut writer, recovery)) => {
            assert_eq!(recovery.tail, None);
            assert_eq!(writer.last_seq(), rows.len() as u64);
            commit(&mut writer, &[draft(1000)]).unwrap();
            check_untouched(&fake, &damaged[file]);
        }
        Err(error) => {
            assert!(matches!(error, LogError::Corrupt { .. }), "{error}");
            assert_eq!(&files(&fake), damaged);
        }
    }
    detected
}

/// No acknowledged byte has changed, though the file may have been sealed meanwhile.
#[track_caller]
fn check_untouched(fake: &Fake, bytes: &[u8]) {
    assert!(files(fake).values().any(|file| file.starts_with(bytes)));
}

#[test]
fn every_bit_of_a_log_of_twenty_rows() {
    let sample = Sample::new(20);
    let whole = sample.cut(sample.log.len(), 20);
    for bit in 0..sample.log.len() * 8 {
        let mut damaged = whole.clone();
        flip(damaged.get_mut("current.binlog").unwrap(), bit);
        let hit = sample.whole(bit / 8) as u64 + 1;
        let detected = check_flipped(&damaged, &sample.rows, "current.binlog", |row| row.seq == hit);
        assert!(detected, "bit {bit}");
    }
}

#[test]
fn every_bit_of_a_log_of_one_row_and_of_two() {
    for rows in [1, 2] {
        let sample = Sample::new(rows);
        let whole = sample.cut(sample.log.len(), sample.rows.len());
        for bit in 0..sample.log.len() * 8 {
            let mut damaged = whole.clone();
            flip(damaged.get_mut("current.binlog").unwrap(), bit);
            let fake = install(&damaged);
            let log = open_reader(&fake).unwrap();
            assert!(!check(&log).findings.is_empty(), "bit {bit} of {rows} rows");
            let (newest_first, broken) = reverse(&log);
            assert!(broken || newest_first.len() == sample.rows.len(), "bit {bit} of {rows} rows");
            if let Ok((mut writer, _)) = open_writer(&fake) {
                commit(&mut writer, &[draft(1000)]).unwrap();
                check_untouched(&fake, &damaged["current.binlog"]);
            }
        }
    }
}

/// A log of several segments, the second one compacted.
fn segmented() -> (Files, Vec<Seen>) {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes: 20_000 }).unwrap();
    for n in 0..90 {
        commit(&mut writer, &(n * 3..n * 3 + 3).map(draft).collect::<Vec<_>>()).unwrap();
    }
    let mut files = files(&fake);
    let plain = files.remove("2026-06_02.binlog").unwrap();
    files.insert("2026-06_02.binlog.zst".into(), zstd::encode_all(plain.as_slice(), 3).unwrap());
    let rows = clean_rows(&install(&files));
    assert_eq!(rows.len(), 270);
    (files, rows)
}

#[test]
fn a_sample_of_the_bits_of_several_segments() {
    let (whole, rows) = segmented();
    let names: Vec<_> = whole.keys().filter(|name| name.contains(".binlog")).cloned().collect();
    assert_eq!(names.len(), 4);
    let mut random = Random(11);
    let mut harmless = 0;
    for round in 0..800 {
        let name = &names[round % names.len()];
        let compacted = name == "2026-06_02.binlog.zst";
        let mut damaged = whole.clone();
        let bytes = damaged.get_mut(name).unwrap();
        let bit = usize::try_from(random.below(bytes.len() as u64 * 8)).unwrap();
        flip(bytes, bit);
        // Damage in compressed bytes may spoil every row behind it, in that segment only.
        let hit = |row: &Seen| {
            let end = row.offset + 24 + row.payload.len() as u64;
            row.file == *name && (compacted || (row.offset..end).contains(&(bit as u64 / 8)))
        };
        if !check_flipped(&damaged, &rows, name, hit) {
            assert!(compacted, "bit {bit} of {name}");
            harmless += 1;
        }
    }
    assert!(harmless < 20, "{harmless} of 200 flips in compressed bytes make no difference");
}

#[test]
fn every_bit_of_the_tip() {
    let sample = Sample::new(6);
    let whole = sample.cut(sample.log.len(), 6);
    for bit in 0..whole["tip"].len() * 8 {
        let mut damaged = whole.clone();
        flip(damaged.get_mut("tip").unwrap(), bit);
        let fake = install(&damaged);
        let log = open_reader(&fake).unwrap();
        assert!(matches!(log.tip_state(), TipState::Valid(tip) if tip.seq >= 5), "one slot is whole");
        assert_eq!(scan(&log).unwrap().0, sample.rows);
        assert_eq!(check(&log).findings, []);
        let (mut writer, recovery) = open_writer(&fake).unwrap();
        assert_eq!((writer.last_seq(), recovery.tail), (6, None));
        commit(&mut writer, &[draft(7)]).unwrap();
        drop(writer);
        assert!(files(&fake)["current.binlog"].starts_with(&sample.log));
        assert_eq!(open_writer(&fake).unwrap().0.last_seq(), 7);
    }
}

#[test]
fn every_bit_of_the_peaks() {
    let sample = Sample::new(13);
    let fake = install(&sample.cut(sample.log.len(), 13));
    let log = open_reader(&fake).unwrap();
    let right = check(&log).peaks.unwrap();
    let bytes = right.encode();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        flip(&mut damaged, bit);
        assert_ne!(Peaks::decode(&damaged), Some(right.clone()), "bit {bit}");
    }
    right.write(&fake, &audit()).unwrap();
    assert_eq!(Peaks::read(&fake, &audit()).unwrap(), Some(right));
}
