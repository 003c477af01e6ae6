//! Verifying a log, surveying its store and opening a writer on it say the same of the same bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    Files, Sample, audit, check, commit, draft, empty, files, install, open_reader, open_with, open_writer, put_file,
    shared, sign,
};
use cyberos_log::LogError;
use cyberos_log::format::tip::{SLOT, Tip};
use cyberos_log::history::Chain;
use cyberos_log::log::verify::{Finding, Report};
use cyberos_log::log::{Agreement, SegmentPolicy, check_head, check_peaks, plan_loss};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Open, SharedMedium};
use cyberos_log::survey::survey;

const ROWS: usize = 6;

/// Where a torn tail is, and how long.
fn tail(report: &Report) -> Option<(String, u64, u64)> {
    report.torn_tail.as_ref().map(|tail| (tail.file.clone(), tail.offset, tail.end - tail.offset))
}

/// Asks everybody; returns whether the log is whole and whether it has a torn tail.
#[track_caller]
fn agreed(fake: &Fake, case: &str) -> (bool, bool) {
    let medium: SharedMedium = shared(fake);
    let before = files(fake);
    let report = check(&open_reader(fake).unwrap());
    let surveyed = survey(&medium, Path::new("/store"), &|_| true).unwrap().report;
    assert_eq!(surveyed, report, "{case}");
    let gone = Chain::open(&medium, Path::new("/store")).is_err();
    let planned = plan_loss(&medium, &audit()).unwrap();
    assert_eq!(files(fake), before, "{case}: looking changes nothing");
    let whole = report.findings.is_empty();
    assert!(whole || !gone || report.findings[0].check == "missing", "{case}");
    // What is wrong with the tip alone is mended without giving rows up.
    let only_the_tip = report.findings.iter().all(|finding| finding.what.contains("at the end unseen"));
    assert_eq!(planned.is_some(), !whole && !only_the_tip, "{case}: {:?}, {planned:?}", report.findings);
    let tip = open_reader(fake).unwrap().tip().map_or(0, |tip| tip.seq);
    // A writer looks no further back than the last acknowledged row.
    let is_seen = |finding: &Finding| finding.seq >= tip || finding.check == "tip";
    match open_writer(fake) {
        Ok(_) if !whole => {
            assert!(!report.findings.iter().any(is_seen), "{case}: a writer opened what has {:?}", report.findings);
        }
        Ok((writer, recovery)) => {
            assert!(whole, "{case}: a writer opened what has {:?}", report.findings);
            let set_aside = recovery.tail.map(|tail| (tail.file, tail.offset, tail.bytes));
            assert_eq!(set_aside, tail(&report), "{case}");
            assert_eq!(writer.last_seq(), report.last.map_or(0, |(seq, _)| seq), "{case}");
        }
        Err(error) => {
            assert!(matches!(error, LogError::Corrupt { .. }), "{case}: {error}");
            assert!(!whole, "{case}: a writer was refused ({error}) what nothing is found in");
            assert_eq!(files(fake), before, "{case}: refusing changes nothing");
        }
    }
    (whole, report.torn_tail.is_some())
}

/// The tip as a system writes it that does not say when it was started.
fn without_boot(tip: &[u8]) -> Vec<u8> {
    let slot = |slot| Tip::decode(slot).map_or([0; SLOT], |tip| Tip { boot: 0, ..tip }.encode());
    tip.chunks(SLOT).flat_map(slot).collect()
}

/// What the files behind the tip may be: the name of the case, and the segment.
fn ends(sample: &Sample, k: usize) -> Vec<(String, Vec<u8>)> {
    let start = sample.ends[k];
    let mut all = Vec::new();
    let mut add = |name: String, log: Vec<u8>| all.push((name, log));
    for bytes in (start.saturating_sub(40)..=sample.log.len()).step_by(13).chain([start, sample.log.len()]) {
        add(format!("the first {bytes} bytes"), sample.log[..bytes].to_vec());
    }
    for row in 0..ROWS {
        let (from, to) = (sample.ends[row], sample.ends[row + 1]);
        for (what, piece) in [("header", from..from + 24), ("middle", from + 60..to - 60), ("row", from..to)] {
            let mut log = sample.log.clone();
            log[piece.clone()].fill(0);
            add(format!("row {} with zeros for its {what}", row + 1), log.clone());
            log[piece].fill(b'x');
            add(format!("row {} with letters for its {what}", row + 1), log);
        }
        let mut log = sample.log.clone();
        log[from + 100] ^= 1;
        add(format!("row {} with a flipped bit", row + 1), log);
        let mut log = sample.log.clone();
        log.drain(from..to);
        add(format!("no row {}", row + 1), log);
        let mut log = sample.log.clone();
        log.extend_from_slice(&sample.log[from..to]);
        add(format!("row {} again", row + 1), log);
    }
    for more in [vec![0; 700], b"torn".to_vec(), vec![0xff; 30]] {
        add(format!("{} bytes of {} more", more.len(), more[0]), [sample.log.clone(), more].concat());
    }
    add("nothing".into(), Vec::new());
    all
}

fn write_head(fake: &Fake, seq: u64) {
    let file = fake.open(Path::new("/store/HEAD"), Open::Create).unwrap();
    file.write_all_at(&seq.to_le_bytes(), 0).unwrap();
    file.sync().unwrap();
    fake.sync_dir(Path::new("/store")).unwrap();
}

#[test]
fn everybody_says_the_same_of_what_lies_behind_the_tip() {
    let sample = Sample::new(ROWS as u64);
    let (mut whole, mut broken, mut torn) = (0, 0, 0);
    for k in [0, 3, ROWS] {
        for (end, log) in ends(&sample, k) {
            for boot in ["the same", "another", "unknown"] {
                for head in [None, Some(0), Some(k), Some(ROWS), Some(ROWS + 1)] {
                    let mut tip = sample.tips[k].clone();
                    if boot == "unknown" {
                        tip = without_boot(&tip);
                    }
                    let fake = install(&Files::from([("current.binlog".into(), log.clone()), ("tip".into(), tip)]));
                    if let Some(head) = head {
                        write_head(&fake, head as u64);
                    }
                    let fake = if boot == "the same" { same_boot(&fake, &sample.tips[k]) } else { fake.crash_image() };
                    let case = format!("tip {k}, {end}, boot {boot}, HEAD {head:?}");
                    let (is_whole, has_tail) = agreed(&fake, &case);
                    *if is_whole { &mut whole } else { &mut broken } += 1;
                    torn += u32::from(is_whole && has_tail);
                }
            }
        }
    }
    assert!(whole > 300 && broken > 300 && torn > 100, "{whole} whole, {broken} broken, {torn} torn");
}

/// Gives the tip the boot of the medium it lies on.
fn same_boot(fake: &Fake, tip: &[u8]) -> Fake {
    let boot = fake.boot();
    let slot = |slot| Tip::decode(slot).map_or([0; SLOT], |tip| Tip { boot, ..tip }.encode());
    put_file(fake, "tip", &tip.chunks(SLOT).flat_map(slot).collect::<Vec<_>>());
    fake.clone()
}

/// HEAD and the peaks are read after the rows, and may know more of them by then.
#[test]
fn what_is_appended_while_the_log_is_verified_is_not_missing() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes: 1 }).unwrap();
    commit(&mut writer, &[draft(1)]).unwrap();
    let log = open_reader(&fake).unwrap();
    // Into a segment of its own, which the reader has not seen.
    commit(&mut writer, &[draft(2)]).unwrap();
    let all = check(&open_reader(&fake).unwrap());
    all.peaks.as_ref().unwrap().write(&fake, &audit()).unwrap();
    write_head(&fake, 2);
    let report = check(&log);
    assert_eq!((report.rows, report.findings), (1, vec![]));
    assert_eq!(check_head(&log).unwrap(), Agreement::Current);
    assert_eq!(check_peaks(&log, report.peaks.as_ref().unwrap()).unwrap(), Agreement::Current);
    write_head(&fake, 3);
    assert_eq!(check(&log).findings[0].check, "missing");
    assert_eq!(check_head(&log).unwrap(), Agreement::Ahead(3));
}

#[test]
fn everybody_says_the_same_of_a_log_without_a_tip() {
    let sample = Sample::new(ROWS as u64);
    for (end, log) in ends(&sample, 0) {
        for ours in [false, true] {
            for head in [None, Some(2), Some(ROWS), Some(ROWS + 1)] {
                for tip in [None, Some(vec![0; 1024])] {
                    let mut files = Files::from([("current.binlog".into(), log.clone())]);
                    files.extend(tip.map(|tip| ("tip".to_owned(), tip)));
                    let fake = install(&files);
                    if ours {
                        sign(&fake);
                    }
                    if let Some(head) = head {
                        write_head(&fake, head as u64);
                    }
                    agreed(&fake, &format!("{end}, ours {ours}, HEAD {head:?}, tip {:?}", files.contains_key("tip")));
                }
            }
        }
    }
}

#[test]
fn everybody_says_the_same_where_there_is_no_segment() {
    let sample = Sample::new(ROWS as u64);
    for ours in [false, true] {
        for head in [None, Some(0), Some(3)] {
            for tip in [None, Some(vec![]), Some(sample.tips[0].clone()), Some(sample.tips[3].clone())] {
                let case = format!("ours {ours}, HEAD {head:?}, tip {:?}", tip.as_ref().map(Vec::len));
                let fake = install(&tip.into_iter().map(|tip| ("tip".to_owned(), tip)).collect());
                if ours {
                    sign(&fake);
                }
                if let Some(head) = head {
                    write_head(&fake, head);
                }
                agreed(&fake, &case);
            }
        }
    }
}
