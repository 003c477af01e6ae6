//! Giving up damaged rows: the log is whole again, every whole row is in it, and every old byte is kept, whenever it crashes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::{
    Files, MONTH_NS, Sample, audit, clean_rows, commit, draft, empty, files, install, open_reader, open_with,
    open_writer, raw_frames, scan, sealed, shared, sign,
};
use cyberos_log::json::Value;
use cyberos_log::log::{Loss, LossPlan, SegmentPolicy, accept_loss, finish_loss, plan_loss, rebuild_tip};
use cyberos_log::medium::fake::{Fake, Fault};
use cyberos_log::row::{Row, RowDraft};
use cyberos_log::{Digest, LogError};

const ROWS: u64 = 20;
/// A log of twenty rows in one segment, or in several: one a month, the active one with six rows.
fn whole(segments: bool) -> Files {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
    for n in 1..=ROWS {
        let month = if segments { (n - 1) / 7 } else { 0 };
        commit(&mut writer, &[RowDraft { ts_ns: draft(n).ts_ns + month * MONTH_NS, ..draft(n) }]).unwrap();
    }
    files(&fake)
}

/// Where each row of a segment begins and ends.
fn frames(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + 24 + u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        frames.push((at, end));
        at = end;
    }
    frames
}

fn flip(files: &mut Files, name: &str, row: usize, at: usize) {
    let bytes = files.get_mut(name).unwrap();
    let (start, _) = frames(bytes)[row];
    bytes[start + at] ^= 0x04;
}

/// Puts another row in the place of one: its checksum and its own chain are right, and what follows does not continue it.
fn forge(files: &mut Files, row: usize) {
    let bytes = files.get_mut("current.binlog").unwrap();
    let (start, end) = frames(bytes)[row];
    let old = Row::parse(&bytes[start + 24..end]).unwrap();
    let payloads = sealed(&[RowDraft { actor: "b".into(), ..draft(row as u64 + 1) }], old.prev_chain());
    let frame = raw_frames(row as u64 + 1, &payloads);
    bytes.splice(start..end, frame);
}

/// Every kind of damage to a log of twenty rows, by name.
fn damages() -> Vec<(String, Files)> {
    let mut all = Vec::new();
    let mut add = |name: &str, segments: bool, damage: &dyn Fn(&mut Files)| {
        let mut files = whole(segments);
        damage(&mut files);
        all.push((name.to_owned(), files));
    };
    for row in [0, 6, 18, 19] {
        add(&format!("a flipped bit in payload {row}"), false, &|files| flip(files, "current.binlog", row, 40));
        add(&format!("a flipped bit in header {row}"), false, &|files| flip(files, "current.binlog", row, 13));
    }
    add("two damaged rows", false, &|files| {
        flip(files, "current.binlog", 5, 40);
        flip(files, "current.binlog", 9, 40);
    });
    add("zeros over several rows", false, &|files| {
        let bytes = files.get_mut("current.binlog").unwrap();
        let (from, to) = (frames(bytes)[8].0 + 30, frames(bytes)[11].0 + 30);
        bytes[from..to].fill(0);
    });
    add("all of it garbled", false, &|files| files.get_mut("current.binlog").unwrap().fill(0x55));
    add("a cut between rows", false, &|files| {
        let bytes = files.get_mut("current.binlog").unwrap();
        let end = frames(bytes)[14].1;
        bytes.truncate(end);
    });
    add("a cut in a row", false, &|files| {
        let bytes = files.get_mut("current.binlog").unwrap();
        let end = frames(bytes)[14].1;
        bytes.truncate(end - 3);
    });
    add("an empty log", false, &|files| files.get_mut("current.binlog").unwrap().clear());
    add("no log", false, &|files| drop(files.remove("current.binlog")));
    for row in [0, 9, 19] {
        add(&format!("a forged row {row}"), false, &|files| forge(files, row));
    }
    add("no tip and a damaged row", false, &|files| {
        flip(files, "current.binlog", 9, 40);
        files.remove("tip");
    });
    add("an unreadable tip and a damaged row", false, &|files| {
        flip(files, "current.binlog", 9, 40);
        files.get_mut("tip").unwrap().fill(7);
    });
    add("damage beyond the tip", false, &|files| {
        *files = Sample::new(ROWS).cut(Sample::new(ROWS).log.len(), 10);
        flip(files, "current.binlog", 14, 40);
    });
    add("another log's tip", false, &|files| {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
        (1..=5).for_each(|n| commit(&mut writer, &[draft(n + 100)]).unwrap());
        files.insert("tip".into(), common::files(&fake)["tip"].clone());
    });
    let sealed =
        |files: &Files, place: usize| files.keys().filter(|name| name.starts_with("20")).nth(place).cloned().unwrap();
    for place in [0, 1] {
        add(&format!("sealed segment {place} missing"), true, &|files| drop(files.remove(&sealed(files, place))));
        add(&format!("sealed segment {place} damaged"), true, &|files| flip(files, &sealed(files, place), 3, 40));
        add(&format!("sealed segment {place} garbled"), true, &|files| {
            files.get_mut(&sealed(files, place)).unwrap().fill(9);
        });
        add(&format!("sealed segment {place} cut"), true, &|files| {
            files.get_mut(&sealed(files, place)).unwrap().truncate(300);
        });
    }
    add("the active segment missing", true, &|files| drop(files.remove("current.binlog")));
    add("the active segment damaged", true, &|files| flip(files, "current.binlog", 2, 40));
    for row in [0, 3] {
        add(&format!("row {row} of a segment with a compacted twin"), true, &|files| {
            let name = sealed(files, 1);
            files.insert(format!("{name}.zst"), b"not zstd".to_vec());
            flip(files, &name, row, 40);
        });
    }
    all
}

fn medium(fake: &Fake) -> cyberos_log::medium::SharedMedium {
    shared(fake)
}

fn accept(fake: &Fake) -> Result<Loss, LogError> {
    accept_loss(&medium(fake), &audit(), "carol", 77)
}

fn plan(fake: &Fake) -> Option<LossPlan> {
    plan_loss(&medium(fake), &audit()).unwrap()
}

fn is_pending(fake: &Fake) -> bool {
    files(fake).contains_key("loss.json")
}

fn is_temporary(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|suffix| suffix == "tmp")
}

/// Payloads of the whole rows that a damaged log has, by number.
fn whole_rows(fake: &Fake) -> BTreeMap<u64, Vec<u8>> {
    let (rows, _) = scan(&open_reader(fake).unwrap()).unwrap();
    let is_whole = |payload: &[u8]| Row::parse(payload).is_ok_and(|row| row.chain_is_right());
    rows.into_iter().filter(|row| is_whole(&row.payload)).map(|row| (row.seq, row.payload)).collect()
}

/// Checks what giving up rows left of a damaged log.
#[track_caller]
fn check_given_up(fake: &Fake, damaged: &Files, planned: &LossPlan, name: &str) {
    let before = whole_rows(&install(damaged));
    let rows = clean_rows(fake);
    let from = usize::try_from(planned.from_seq).unwrap();
    for row in &rows[..from - 1] {
        assert_eq!(Some(&row.payload), before.get(&row.seq), "{name}: good rows stay as they are");
    }
    let record = Row::parse(&rows[from - 1].payload).unwrap();
    assert_eq!((&*record.op(), &*record.actor(), record.ts_ns()), ("log.loss_accepted", "carol", 77), "{name}");
    let extra = Value::parse(record.extra()).unwrap();
    let number = |value: &Value, key: &str| u64::try_from(value.get(key).unwrap().as_int().unwrap()).unwrap();
    assert_eq!((number(&extra, "from_seq"), number(&extra, "to_seq")), (planned.from_seq, planned.to_seq), "{name}");
    let again: BTreeMap<u64, &[u8]> = rows[from..]
        .iter()
        .map(|row| {
            let extra = Value::parse(Row::parse(&row.payload).unwrap().extra()).unwrap();
            (number(&extra, "recovered_from_seq"), row.payload.as_slice())
        })
        .collect();
    let expected: Vec<u64> = before.keys().copied().filter(|seq| *seq >= planned.from_seq).collect();
    assert_eq!(again.keys().copied().collect::<Vec<_>>(), expected, "{name}: every whole row is recorded anew");
    assert_eq!(planned.whole, expected.len() as u64, "{name}");
    for (seq, payload) in again {
        let (new, old) = (Row::parse(payload).unwrap(), Row::parse(&before[&seq]).unwrap());
        assert_eq!(
            (new.op(), new.path(), new.content_sha256()),
            (old.op(), old.path(), old.content_sha256()),
            "{name}"
        );
        let extra = Value::parse(new.extra()).unwrap();
        assert_eq!(extra.get("recovered_actor").unwrap().as_str().unwrap(), old.actor(), "{name}");
        assert_eq!(number(&extra, "recovered_ts_ns"), old.ts_ns(), "{name}");
    }
    let gone: u64 = planned.lost.iter().map(|(from, to)| to - from + 1).sum();
    assert_eq!(gone + planned.whole, planned.to_seq + 1 - planned.from_seq, "{name}: every row is accounted for");
    check_kept(fake, damaged, &extra, name);
}

/// Every old file is there, under its name, a new one, or the one that the row gives, byte for byte.
#[track_caller]
fn check_kept(fake: &Fake, damaged: &Files, extra: &Value, name: &str) {
    let now = files(fake);
    for kept in extra.get("kept").unwrap().as_array().unwrap() {
        let text = |key: &str| kept.get(key).unwrap().as_str().unwrap().strip_prefix("audit/").unwrap();
        let bytes = &now[text("kept_as")];
        assert_eq!(kept.get("sha256").unwrap().as_str().unwrap(), Digest::of(&[bytes]).to_hex(), "{name}");
        assert_eq!(bytes, &damaged[text("file")], "{name}");
    }
    for (file, bytes) in damaged.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        assert!(now.values().any(|kept| kept == bytes), "{name}: the bytes of {file} are kept");
    }
    assert!(!now.keys().any(|file| is_temporary(file) || file == "loss.json"), "{name}: {:?}", now.keys());
}

#[test]
fn every_kind_of_damage_can_be_given_up() {
    for (name, damaged) in damages() {
        let fake = install(&damaged);
        let before = files(&fake);
        let planned = plan(&fake).unwrap_or_else(|| panic!("{name}: nothing to give up"));
        assert_eq!(files(&fake), before, "{name}: planning changes nothing");
        let loss = accept(&fake).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loss.plan, planned, "{name}");
        check_given_up(&fake, &damaged, &planned, &name);
        assert_eq!(plan(&fake), None, "{name}");
        assert!(matches!(accept(&fake), Err(LogError::Invalid(_))), "{name}: nothing is left to give up");
        let (mut writer, _) = open_writer(&fake).unwrap();
        commit(&mut writer, &[draft(500)]).unwrap();
        drop(writer);
        assert_eq!(clean_rows(&fake).len() as u64, loss.last_seq + 1, "{name}");
    }
}

#[test]
fn a_whole_log_has_nothing_to_give_up() {
    for segments in [false, true] {
        let fake = install(&whole(segments));
        assert_eq!(plan(&fake), None);
        assert!(matches!(accept(&fake), Err(LogError::Invalid(_))));
        assert_eq!(clean_rows(&fake).len() as u64, ROWS);
    }
}

#[test]
fn what_was_given_up_once_can_be_given_up_again() {
    let mut damaged = whole(false);
    flip(&mut damaged, "current.binlog", 9, 40);
    let fake = install(&damaged);
    accept(&fake).unwrap();
    let mut damaged = files(&fake);
    flip(&mut damaged, "current.binlog", 3, 40);
    let fake = install(&damaged);
    let loss = accept(&fake).unwrap();
    assert_eq!((loss.plan.from_seq, loss.plan.lost.as_slice()), (13, &[(13, 13)][..]));
    let rows = clean_rows(&fake);
    let extra = Value::parse(Row::parse(&rows[13].payload).unwrap().extra()).unwrap();
    let first = |key: &str| extra.get(key).unwrap().clone();
    assert_eq!(first("recovered_from_seq"), Value::Int(14), "the number that the row had first");
    assert_eq!(first("recovered_actor"), Value::Str("a".into()));
}

/// Finishes what an interruption left, as the next run does.
#[track_caller]
fn finish(fake: &Fake, damaged: &Files, planned: &LossPlan, name: &str) {
    if is_pending(fake) {
        let begun = files(fake).get("tip").is_some_and(|tip| tip.iter().all(|&byte| byte == 0));
        assert!(!begun || open_writer(&fake.copy()).is_err(), "{name}: nobody appends to a log that is half done");
        assert!(matches!(accept(fake), Err(LogError::Refused(_))), "{name}");
        finish_loss(&medium(fake), &audit()).unwrap_or_else(|error| panic!("{name}: {error}"));
    } else if plan(fake).is_some() {
        accept(fake).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for leftover in files(fake).into_keys().filter(|file| is_temporary(file)) {
        cyberos_log::medium::Medium::remove(fake, &audit().join(leftover)).unwrap();
    }
    check_given_up(fake, damaged, planned, name);
}

#[test]
fn a_crash_at_any_sync_leaves_what_can_be_finished() {
    // After a restart, damage beyond the tip may be a group that was being written: then there is nothing to give up.
    for (name, damaged) in damages().into_iter().filter(|(name, _)| name != "damage beyond the tip") {
        let counted = install(&damaged);
        let planned = plan(&counted).unwrap();
        accept(&counted).unwrap();
        let syncs = counted.counts().syncs;
        assert!(syncs > 5, "{name}: {syncs} syncs");
        for n in 1..=syncs {
            let fake = install(&damaged);
            fake.freeze_at(n);
            assert!(accept(&fake).is_err(), "{name}: sync {n}");
            finish(&fake.crash_image(), &damaged, &planned, &format!("{name}, sync {n}"));
            finish(&fake.crash_image_with(n), &damaged, &planned, &format!("{name}, sync {n}, some of the rest"));
        }
    }
}

#[test]
fn an_error_at_any_change_leaves_what_can_be_finished() {
    for (name, damaged) in damages().into_iter().step_by(4) {
        let counted = install(&damaged);
        let planned = plan(&counted).unwrap();
        accept(&counted).unwrap();
        let changes = counted.changes();
        for n in 1..=changes {
            let fake = install(&damaged);
            fake.fail(Fault::nth_change(n));
            drop(accept(&fake));
            finish(&fake, &damaged, &planned, &format!("{name}, change {n}"));
        }
    }
}

#[test]
fn a_crash_while_finishing_leaves_what_can_be_finished() {
    let mut damaged = whole(true);
    flip(&mut damaged, "current.binlog", 2, 40);
    let planned = plan(&install(&damaged)).unwrap();
    let mut first = 1;
    loop {
        let fake = install(&damaged);
        fake.freeze_at(first);
        if accept(&fake).is_ok() {
            break;
        }
        let image = fake.crash_image();
        if is_pending(&image) {
            for second in 1.. {
                let again = image.copy();
                again.freeze_at(second);
                let done = finish_loss(&medium(&again), &audit()).is_ok();
                finish(&again.crash_image_with(second), &damaged, &planned, &format!("syncs {first} and {second}"));
                if done {
                    break;
                }
            }
        }
        first += 1;
    }
    assert!(first > 5);
}

#[test]
fn rows_that_were_appended_before_the_first_rename_are_not_given_up_unseen() {
    let mut damaged = whole(false);
    flip(&mut damaged, "current.binlog", 9, 40);
    let planned = |n| {
        let fake = install(&damaged);
        fake.freeze_at(n);
        assert!(accept(&fake).is_err());
        Some(fake.crash_image()).filter(is_pending)
    };
    let image = (1..).find_map(planned).unwrap();
    assert_eq!(files(&image)["tip"], damaged["tip"], "the plan is there, and nothing is done yet");
    // Damage before the tip does not keep a writer from appending.
    let (mut writer, _) = open_writer(&image).unwrap();
    commit(&mut writer, &[draft(21)]).unwrap();
    drop(writer);
    let appended = files(&image)["current.binlog"].clone();
    assert!(matches!(finish_loss(&medium(&image), &audit()), Err(LogError::Refused(_))));
    assert_eq!(files(&image)["current.binlog"], appended);
    assert!(!is_pending(&image), "the plan is given up");
    let loss = accept(&image).unwrap();
    assert_eq!((loss.plan.to_seq, loss.plan.whole), (21, 11));
    assert_eq!(clean_rows(&image).len(), 9 + 1 + 11);
}

#[test]
fn a_lost_tip_is_written_again_only_from_a_whole_log() {
    for segments in [false, true] {
        for lose in
            [|files: &mut Files| drop(files.remove("tip")), |files: &mut Files| files.get_mut("tip").unwrap().fill(0)]
        {
            let mut files = whole(segments);
            lose(&mut files);
            let fake = install(&files);
            sign(&fake);
            assert!(open_writer(&fake).is_err());
            assert_eq!(rebuild_tip(&medium(&fake), &audit()).unwrap(), ROWS);
            let (mut writer, recovery) = open_writer(&fake).unwrap();
            assert_eq!((recovery.accepted, writer.view_seq()), (0, 0));
            commit(&mut writer, &[draft(21)]).unwrap();
            assert_eq!(clean_rows(&fake.crash_image()).len() as u64, ROWS + 1);
            assert!(matches!(rebuild_tip(&medium(&fake), &audit()), Err(LogError::Refused(_))), "a tip is evidence");
        }
    }
    for (name, mut damaged) in damages() {
        damaged.remove("tip");
        let fake = install(&damaged);
        if plan(&fake).is_some() {
            assert!(rebuild_tip(&medium(&fake), &audit()).is_err(), "{name}");
            assert_eq!(files(&fake), damaged, "{name}");
        }
    }
}
