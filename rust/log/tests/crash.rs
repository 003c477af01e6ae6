//! A process that dies, or a disk that refuses, at any point loses no acknowledged row, and what is left can be appended to.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::io::ErrorKind;

use common::{MONTH_NS, Random, clean_rows, commit, draft, empty, files, open_with, sign};
use cyberos_log::LogError;
use cyberos_log::log::{LogWriter, SegmentPolicy};
use cyberos_log::medium::fake::{Fake, Fault, Op};
use cyberos_log::row::RowDraft;

/// So small that three groups fill a segment.
const POLICY: SegmentPolicy = SegmentPolicy { max_bytes: 2_000 };

/// Groups of one to five rows; every sixth begins a new month.
fn groups(count: u64) -> Vec<Vec<RowDraft>> {
    let mut random = Random(7);
    let (mut n, mut month) = (0, 0);
    let mut groups = Vec::new();
    for group in 0..count {
        month += u64::from(group % 6 == 5);
        let rows = (0..=random.below(5)).map(|_| {
            n += 1;
            RowDraft { ts_ns: draft(n).ts_ns + month * MONTH_NS, ..draft(n) }
        });
        groups.push(rows.collect());
    }
    groups
}

/// Rows that a writer acknowledged: path by number.
type Acknowledged = BTreeMap<u64, String>;

fn append(writer: &mut LogWriter, group: &[RowDraft], acknowledged: &mut Acknowledged) -> Result<(), LogError> {
    let mut staged = Vec::new();
    for draft in group {
        staged.push((writer.stage(draft)?.seq, draft.path.clone()));
    }
    writer.commit(&mut |_| {})?;
    acknowledged.extend(staged);
    Ok(())
}

/// Appends until the first error. Returns what was acknowledged and whether the log had been created.
fn run(fake: &Fake, groups: &[Vec<RowDraft>]) -> (Acknowledged, bool) {
    let mut acknowledged = Acknowledged::new();
    let Ok((mut writer, _)) = open_with(fake, POLICY) else { return (acknowledged, false) };
    for group in groups {
        if append(&mut writer, group, &mut acknowledged).is_err() {
            break;
        }
    }
    (acknowledged, true)
}

#[track_caller]
fn check_acknowledged(fake: &Fake, acknowledged: &Acknowledged) {
    let rows = clean_rows(fake);
    for (seq, path) in acknowledged {
        let row = &rows[usize::try_from(*seq).unwrap() - 1];
        let row = cyberos_log::row::Row::parse(&row.payload).unwrap();
        assert_eq!(&row.path(), path, "row {seq}");
    }
}

/// Opens what a crash left, appends to it, and finds everything.
#[track_caller]
fn check_image(image: &Fake, acknowledged: &Acknowledged, created: bool) {
    let mut acknowledged = acknowledged.clone();
    if created {
        sign(image);
    }
    let (mut writer, _) = open_with(image, POLICY).unwrap();
    check_acknowledged(image, &acknowledged);
    for group in 0..2 {
        append(&mut writer, &[draft(1000 + group), draft(2000 + group)], &mut acknowledged).unwrap();
    }
    drop(writer);
    check_acknowledged(image, &acknowledged);
    check_acknowledged(&image.crash_image(), &acknowledged);
}

/// What the disk may hold after a crash: nothing early, or some of it.
fn images(fake: &Fake, seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Option<u64>, Fake)> {
    let torn = seeds.map(|seed| (Some(seed), fake.crash_image_with(seed)));
    std::iter::once((None, fake.crash_image())).chain(torn)
}

#[test]
fn a_crash_at_every_sync() {
    let groups = groups(14);
    let mut sync = 0;
    loop {
        sync += 1;
        let fake = empty();
        fake.freeze_at(sync);
        let (acknowledged, created) = run(&fake, &groups);
        for (seed, image) in images(&fake, sync * 100..sync * 100 + 24) {
            let message = format!("sync {sync}, torn by seed {seed:?}");
            let outcome = std::panic::catch_unwind(|| check_image(&image, &acknowledged, created));
            assert!(outcome.is_ok(), "{message}: {:?}", files(&image).keys());
        }
        if !fake.is_frozen() {
            break;
        }
    }
    assert!(sync > 30, "the workload syncs often enough: {sync}");
}

#[test]
fn a_crash_during_the_recovery_from_a_crash() {
    let groups = groups(8);
    for sync in 1.. {
        let fake = empty();
        fake.freeze_at(sync);
        let (acknowledged, created) = run(&fake, &groups);
        if !fake.is_frozen() {
            break;
        }
        for (seed, first) in images(&fake, sync * 100..sync * 100 + 4) {
            for again in 1..8 {
                let image = first.crash_image();
                if created {
                    sign(&image);
                    image.reset_counts();
                }
                image.freeze_at(again);
                let mut more = acknowledged.clone();
                let mut opened = false;
                if let Ok((mut writer, _)) = open_with(&image, POLICY) {
                    opened = true;
                    while append(&mut writer, &[draft(500), draft(501)], &mut more).is_ok() {}
                }
                assert!(image.is_frozen());
                for (second_seed, second) in images(&image, 0..4) {
                    let message = format!("sync {sync}, seed {seed:?}, then sync {again}, seed {second_seed:?}");
                    let outcome = std::panic::catch_unwind(|| check_image(&second, &more, created || opened));
                    assert!(outcome.is_ok(), "{message}");
                }
            }
        }
    }
}

/// What to do when a commit fails: try again, with a new writer where the old one is poisoned.
fn run_despite_faults(fake: &Fake, groups: &[Vec<RowDraft>]) -> Acknowledged {
    let mut acknowledged = Acknowledged::new();
    let mut open: Option<LogWriter> = None;
    for group in groups {
        for _ in 0..4 {
            let mut writer = match open.take() {
                Some(writer) => writer,
                None => match open_with(fake, POLICY) {
                    Ok((writer, _)) => writer,
                    Err(error) => {
                        assert!(matches!(error, LogError::Io { .. }), "{error}");
                        continue;
                    }
                },
            };
            let appended = append(&mut writer, group, &mut acknowledged);
            if !matches!(appended, Err(LogError::Poisoned(_))) {
                open = Some(writer);
            }
            match appended {
                Ok(()) => break,
                Err(error) => assert!(matches!(error, LogError::Io { .. } | LogError::Poisoned(_)), "{error}"),
            }
        }
    }
    acknowledged
}

fn check_after_fault(fake: &Fake, acknowledged: &Acknowledged, what: &str) {
    fake.clear_faults();
    let outcome = std::panic::catch_unwind(|| {
        for (_, image) in images(fake, 0..4) {
            check_image(&image, acknowledged, !acknowledged.is_empty());
        }
        check_image(fake, acknowledged, !acknowledged.is_empty());
    });
    assert!(outcome.is_ok(), "{what}");
}

#[test]
fn a_fault_at_every_change() {
    let groups = groups(10);
    let clean = empty();
    let all = run_despite_faults(&clean, &groups).len();
    for nth in 1..=clean.changes() {
        for fault in [Fault::nth_change(nth), Fault::nth_change(nth).kind(ErrorKind::StorageFull).partial()] {
            let fake = empty();
            fake.fail(fault.clone());
            let acknowledged = run_despite_faults(&fake, &groups);
            assert_eq!(acknowledged.len(), all, "everything succeeds in the end");
            check_after_fault(&fake, &acknowledged, &format!("{fault:?}"));
        }
    }
}

#[test]
fn a_lasting_fault_of_every_kind() {
    let groups = groups(10);
    for op in [Op::Open, Op::Read, Op::Write, Op::Sync, Op::Rename, Op::Look] {
        for nth in 1.. {
            let fake = empty();
            fake.fail(Fault::nth(op, nth).kind(ErrorKind::StorageFull).partial().lasting());
            let (acknowledged, created) = run(&fake, &groups);
            if acknowledged.len() == groups.iter().map(Vec::len).sum::<usize>() {
                break;
            }
            fake.clear_faults();
            let outcome = std::panic::catch_unwind(|| {
                for (_, image) in images(&fake, 0..4) {
                    check_image(&image, &acknowledged, created);
                }
                check_image(&fake, &acknowledged, created);
            });
            assert!(outcome.is_ok(), "{op:?} {nth}");
        }
    }
}

/// Never two in a row, so that what takes back a failed step succeeds.
#[test]
fn many_faults() {
    let groups = groups(10);
    let mut random = Random(3);
    for round in 0..300 {
        let fake = empty();
        let mut at = 0;
        for _ in 0..6 {
            at += 2 + random.below(12);
            let fault = Fault::nth_change(at);
            fake.fail(if random.below(2) == 0 { fault } else { fault.kind(ErrorKind::StorageFull).partial() });
        }
        let acknowledged = run_despite_faults(&fake, &groups);
        check_after_fault(&fake, &acknowledged, &format!("round {round}"));
    }
}

#[test]
fn a_failed_write_is_repeated_and_a_failed_sync_poisons() {
    let (first, second) = (vec![draft(1), draft(2)], vec![draft(3)]);
    for (op, file) in [(Op::Write, "current.binlog"), (Op::Sync, "current.binlog"), (Op::Sync, "tip")] {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, POLICY).unwrap();
        commit(&mut writer, &first).unwrap();
        fake.fail(Fault::nth(op, 1).on(file).partial());
        assert!(matches!(commit(&mut writer, &second), Err(LogError::Io { .. })));
        let again = commit(&mut writer, &second);
        if op == Op::Write {
            again.unwrap();
            assert_eq!(clean_rows(&fake).len(), 3, "the failed write left nothing");
        } else {
            assert!(matches!(again, Err(LogError::Poisoned(_))));
            assert!(matches!(writer.refresh(&mut |_| Ok(())), Err(LogError::Poisoned(_))));
        }
    }
}

/// Else a crash could bring back rows of the failed group, whole but not linked, behind those of the next one.
#[test]
fn what_a_failed_write_left_does_not_come_back() {
    let mut acknowledged = Acknowledged::new();
    for seed in 0..64 {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
        append(&mut writer, &[draft(1)], &mut acknowledged).unwrap();
        fake.fail(Fault::nth(Op::Write, 1).on("current.binlog").partial());
        commit(&mut writer, &(2..8).map(draft).collect::<Vec<_>>()).unwrap_err();
        fake.freeze_at(1);
        commit(&mut writer, &[draft(9)]).unwrap_err();
        check_image(&fake.crash_image_with(seed), &acknowledged, true);
    }
}

#[test]
fn short_writes_are_completed() {
    for seed in 0..20 {
        let fake = empty();
        fake.write_short(seed);
        let groups = groups(6);
        let (acknowledged, _) = run(&fake, &groups);
        assert_eq!(acknowledged.len(), groups.iter().map(Vec::len).sum::<usize>());
        check_acknowledged(&fake, &acknowledged);
        check_acknowledged(&fake.crash_image(), &acknowledged);
    }
}

#[test]
fn a_group_costs_one_write_and_two_syncs() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
    commit(&mut writer, &[draft(0)]).unwrap();
    for rows in [1, 2, 100] {
        fake.reset_counts();
        let drafts: Vec<_> = (0..rows).map(draft).collect();
        commit(&mut writer, &drafts).unwrap();
        let (log, tip) = (fake.counts_of("current.binlog"), fake.counts_of("tip"));
        assert_eq!((log.writes, log.syncs), (1, 1));
        assert_eq!((tip.writes, tip.syncs, tip.bytes_written), (1, 1, 512));
        assert_eq!((fake.counts().syncs, fake.counts().writes, fake.counts().opens), (2, 2, 0));
    }
}
