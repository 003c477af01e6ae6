//! A writer that opens a log cut off anywhere keeps every acknowledged row and every byte; a reader changes nothing.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use common::{
    Files, Sample, append_as_peer, clean_rows, commit, draft, files, install, open_reader, open_with, open_writer,
    scan, sign,
};
use cyberos_log::LogError;
use cyberos_log::log::{LogWriter, Recovery, SegmentPolicy};
use cyberos_log::medium::fake::Fake;

/// The reader's view of a log of which the first `whole` rows are there.
fn check_reader(fake: &Fake, sample: &Sample, whole: usize, short: bool) {
    fake.reset_counts();
    let log = open_reader(fake).unwrap();
    assert_eq!(log.short().is_some(), short);
    assert_eq!(log.last_seq(), whole as u64);
    let (rows, damages) = scan(&log).unwrap();
    assert_eq!(rows, sample.rows[..whole]);
    assert!(damages.len() <= 1);
    let opens = fake.counts().opens;
    assert_eq!(fake.changes(), opens, "a reader opens and reads, nothing else");
}

/// What a writer does to `files` where rows are missing: nothing.
fn check_refused(fake: &Fake, before: &Files) {
    let error = open_writer(fake).unwrap_err();
    assert!(matches!(error, LogError::Corrupt { .. }), "{error}");
    assert_eq!(&files(fake), before);
}

/// What a writer makes of a log whose first `whole` rows are there and are followed by `torn`.
fn check_recovered(
    fake: &Fake,
    opened: (LogWriter, Recovery),
    accepted: usize,
    whole: usize,
    segment: (&str, &[u8]),
    torn: &[u8],
) {
    let (mut writer, recovery) = opened;
    assert_eq!(recovery.accepted, accepted as u64);
    assert_eq!(writer.last_seq(), whole as u64);
    let after = files(fake);
    assert_eq!(after.get(segment.0).map_or(&[][..], Vec::as_slice), segment.1);
    match recovery.tail {
        Some(tail) => {
            assert_eq!(after[&tail.kept_as], torn, "the torn bytes are kept");
            assert_eq!(tail.bytes, torn.len() as u64);
        }
        None => assert!(torn.is_empty()),
    }
    commit(&mut writer, &[draft(100)]).unwrap();
    drop(writer);
    let (writer, recovery) = open_writer(fake).unwrap();
    assert_eq!(recovery, Recovery::default());
    assert_eq!(writer.last_seq(), whole as u64 + 1);
    assert_eq!(clean_rows(fake).len(), whole + 1);
}

#[test]
fn every_prefix_with_the_tip_at_every_row() {
    let sample = Sample::new(5);
    for k in 0..=5 {
        for bytes in 0..=sample.log.len() {
            let before = sample.cut(bytes, k);
            let fake = install(&before);
            let whole = sample.whole(bytes);
            check_reader(&fake, &sample, whole, bytes < sample.ends[k]);
            if bytes < sample.ends[k] {
                check_refused(&fake, &before);
                continue;
            }
            let torn = &sample.log[sample.ends[whole]..bytes];
            let segment = ("current.binlog", &sample.log[..sample.ends[whole]]);
            check_recovered(&fake, open_writer(&fake).unwrap(), whole - k, whole, segment, torn);
        }
    }
}

#[test]
fn every_prefix_of_a_log_without_a_tip() {
    let sample = Sample::new(3);
    for bytes in 0..=sample.log.len() {
        let mut before = sample.cut(bytes, 0);
        before.remove("tip");
        let fake = install(&before);
        let whole = sample.whole(bytes);
        check_reader(&fake, &sample, whole, false);
        if bytes > 0 {
            let ours = install(&before);
            sign(&ours);
            check_refused(&ours, &before);
        }
        let torn = &sample.log[sample.ends[whole]..bytes];
        let segment = ("current.binlog", &sample.log[..sample.ends[whole]]);
        let opened = open_with(&fake, SegmentPolicy::default()).unwrap();
        assert!(opened.1.adopted);
        check_recovered(&fake, opened, whole, whole, segment, torn);
    }
}

#[test]
fn every_prefix_of_a_new_segment() {
    let sample = Sample::new(5);
    let sealed = sample.ends[3];
    for k in 3..=4 {
        for bytes in sealed..=sample.log.len() {
            let mut before = sample.cut(bytes, k);
            before.insert("2026-06_01.binlog".into(), sample.log[..sealed].to_vec());
            before.insert("current.binlog".into(), sample.log[sealed..bytes].to_vec());
            before.insert("tip".into(), tip_in_new_segment(&sample, k, sealed));
            let fake = install(&before);
            let whole = sample.whole(bytes);
            let log = open_reader(&fake).unwrap();
            let (rows, _) = scan(&log).unwrap();
            assert_eq!(rows.len(), whole);
            assert_eq!(log.short().is_some(), bytes < sample.ends[k]);
            for row in rows {
                assert_eq!(log.frame_at(row.seq, row.offset, &mut Vec::new()).unwrap().payload, row.payload);
            }
            if bytes < sample.ends[k] {
                check_refused(&fake, &before);
                continue;
            }
            let torn = &sample.log[sample.ends[whole]..bytes];
            let segment = ("current.binlog", &sample.log[sealed..sample.ends[whole]]);
            check_recovered(&fake, open_writer(&fake).unwrap(), whole - k, whole, segment, torn);
        }
    }
}

/// The tip after row `k`, where row 4 began a new segment.
fn tip_in_new_segment(sample: &Sample, k: usize, sealed: usize) -> Vec<u8> {
    use cyberos_log::format::tip::{SLOT, Tip};
    let slot = k % 2 * SLOT;
    let newest = (0..2).map(|at| &sample.tips[k][at * SLOT..(at + 1) * SLOT]).filter_map(Tip::decode);
    let mut tip = newest.max_by_key(|tip| tip.generation).unwrap();
    if k > 3 {
        tip.segment = 4;
        tip.offset -= sealed as u64;
    }
    tip.generation = k as u64;
    let mut bytes = vec![0; 2 * SLOT];
    bytes[slot..slot + SLOT].copy_from_slice(&tip.encode());
    bytes
}

#[test]
fn zeros_behind_every_prefix() {
    let sample = Sample::new(3);
    for k in 0..=3 {
        for bytes in sample.ends[k]..=sample.log.len() {
            for zeros in [1, 24, 512, 4096] {
                let mut before = sample.cut(bytes, k);
                let log = before.get_mut("current.binlog").unwrap();
                log.resize(bytes + zeros, 0);
                let log = log.clone();
                let fake = install(&before);
                let whole = sample.whole(bytes);
                check_reader(&fake, &sample, whole, false);
                let end = sample.ends[whole];
                let opened = open_writer(&fake).unwrap();
                check_recovered(&fake, opened, whole - k, whole, ("current.binlog", &log[..end]), &log[end..]);
            }
        }
    }
}

#[test]
fn a_second_tail_at_the_same_place_keeps_the_first_one() {
    let sample = Sample::new(3);
    let (end, bytes) = (sample.ends[2], sample.ends[3] - 1);
    let mut fake = install(&sample.cut(bytes, 2));
    let first = open_writer(&fake).unwrap().1.tail.unwrap();
    let mut again = files(&fake);
    again.get_mut("current.binlog").unwrap().extend_from_slice(&sample.log[end..bytes - 7]);
    fake = install(&again);
    let second = open_writer(&fake).unwrap().1.tail.unwrap();
    let after = files(&fake);
    assert_eq!(after[&first.kept_as], sample.log[end..bytes]);
    assert_eq!(after[&second.kept_as], sample.log[end..bytes - 7]);
}

/// The tip as a system writes it that does not say when it was started.
fn without_boot(tip: &[u8]) -> Vec<u8> {
    use cyberos_log::format::tip::{SLOT, Tip};
    let slot = |slot| Tip::decode(slot).map_or([0; SLOT], |tip| Tip { boot: 0, ..tip }.encode());
    tip.chunks(SLOT).flat_map(slot).collect()
}

/// A crash may have written any of a group's sectors: whole rows behind an unwritten sector were never acknowledged.
#[test]
fn a_group_with_unwritten_sectors_is_torn() {
    let sample = Sample::new(12);
    let start = sample.ends[4];
    let sectors: Vec<_> = (start / 512..=(sample.log.len() - 1) / 512).collect();
    assert!(sectors.len() <= 8, "all subsets can be tried");
    for written in 0..1_u32 << sectors.len() {
        let mut log = sample.log.clone();
        let mut end = start;
        for (bit, sector) in sectors.iter().enumerate() {
            let piece = (sector * 512).max(start)..((sector + 1) * 512).min(log.len());
            if written & (1 << bit) == 0 {
                log[piece].fill(0);
            } else {
                end = piece.end;
            }
        }
        log.truncate(end);
        let mut before = sample.cut(0, 4);
        before.insert("current.binlog".into(), log.clone());
        let restarted = written % 2 == 0;
        if !restarted {
            before.insert("tip".into(), without_boot(&before["tip"]));
        }
        let fake = if restarted { install(&before).crash_image() } else { install(&before) };
        let equal = log.iter().zip(&sample.log).take_while(|(a, b)| a == b).count();
        let whole = sample.whole(equal);
        let kept = sample.ends[whole];
        let log_reader = open_reader(&fake).unwrap();
        assert_eq!(scan(&log_reader).unwrap().0, sample.rows[..whole]);
        let opened = open_writer(&fake).unwrap_or_else(|error| panic!("sectors {written:b}: {error}"));
        check_recovered(&fake, opened, whole - 4, whole, ("current.binlog", &log[..kept]), &log[kept..]);
    }
}

#[test]
fn a_whole_row_behind_a_broken_one_is_corruption_unless_the_system_went_down() {
    let sample = Sample::new(6);
    let mut before = sample.cut(sample.log.len(), 4);
    let flipped = sample.ends[4] + 100;
    before.get_mut("current.binlog").unwrap()[flipped] ^= 1;
    let fake = install(&before);
    let error = open_writer(&fake).unwrap_err();
    assert!(matches!(error, LogError::Corrupt { seq: Some(5), .. }), "{error}");
    assert_eq!(files(&fake), before);
    let fake = fake.crash_image();
    append_as_peer(&fake, &[], 6);
    assert!(open_writer(&fake).is_err(), "HEAD says that somebody acknowledged row 6");
    append_as_peer(&fake, &[], 4);
    let torn = &sample.log[sample.ends[4]..];
    let tail = open_writer(&fake).unwrap().1.tail.unwrap();
    assert_eq!(files(&fake)[&tail.kept_as].len(), torn.len());
}
