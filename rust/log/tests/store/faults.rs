//! Errors of the disk at every operation: what was acknowledged stays, what was refused is not there, and nothing lies.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cyberos_log::history::{At, Chain};
use cyberos_log::log::LogReader;
use cyberos_log::log::verify::{Options as VerifyOptions, verify};
use cyberos_log::medium::SharedMedium;
use cyberos_log::medium::fake::{Fake, Fault, Op};

use crate::stores::{ROOT, fake, on_fake, put};

const ROWS: usize = 12;

/// Puts memories one after the other; returns the paths that were acknowledged.
fn run(medium: &Fake) -> BTreeSet<String> {
    let mut acknowledged = BTreeSet::new();
    let Ok(mut writer) = on_fake(medium).or_else(|_| on_fake(medium)) else { return acknowledged };
    for n in 0..ROWS {
        let path = format!("memories/{n}.md");
        if writer.submit(put(&path, &format!("body {n}\n"))).is_ok() {
            acknowledged.insert(path);
        } else {
            // A poisoned writer is replaced, as a program would do it.
            match on_fake(medium) {
                Ok(fresh) => writer = fresh,
                Err(_) => return acknowledged,
            }
        }
    }
    acknowledged
}

fn check(medium: &Fake, acknowledged: &BTreeSet<String>, what: &str) {
    let shared: SharedMedium = Arc::new(medium.clone());
    let root = Path::new(ROOT);
    drop(on_fake(medium).unwrap_or_else(|error| panic!("{what}: {error}")));
    let log = LogReader::open(shared.clone(), root.join("audit")).unwrap();
    let report = verify(&log, VerifyOptions { threads: 1, ..VerifyOptions::default() }, &|_| true).unwrap();
    assert_eq!(report.findings, [], "{what}");
    let (memories, _) = Chain::open(&shared, root).unwrap().memories_at(At::Now).unwrap();
    let there: BTreeSet<String> = memories.into_keys().collect();
    assert!(acknowledged.is_subset(&there), "{what}: {acknowledged:?} were acknowledged, {there:?} are there");
}

#[test]
fn an_error_at_any_change_loses_nothing_acknowledged() {
    let whole = fake();
    assert_eq!(run(&whole).len(), ROWS);
    let changes = whole.changes();
    assert!(changes > 100, "{changes}");
    for at in 1..=changes {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
            let medium = fake();
            medium.fail(Fault::nth_change(at).kind(kind));
            let acknowledged = run(&medium);
            medium.clear_faults();
            assert!(acknowledged.len() + 2 >= ROWS, "change {at}: only {acknowledged:?}");
            check(&medium, &acknowledged, &format!("{kind:?} at change {at}"));
            check(&medium.crash_image(), &acknowledged, &format!("{kind:?} at change {at}, then a crash"));
        }
    }
}

#[test]
fn a_disk_that_stays_full_loses_nothing_and_is_survived() {
    let whole = fake();
    run(&whole);
    for at in (1..=whole.changes()).step_by(5) {
        let medium = fake();
        medium.fail(Fault::nth(Op::Write, at).kind(io::ErrorKind::StorageFull).partial().lasting());
        let acknowledged = run(&medium);
        medium.clear_faults();
        check(&medium, &acknowledged, &format!("full from write {at} on"));
        let writer = on_fake(&medium).unwrap();
        writer.submit(put("memories/later.md", "there is room again\n")).unwrap();
    }
}

#[test]
fn short_writes_are_finished() {
    for seed in 0..20 {
        let medium = fake();
        medium.write_short(seed);
        assert_eq!(run(&medium).len(), ROWS);
        check(&medium.crash_image(), &(0..ROWS).map(|n| format!("memories/{n}.md")).collect(), "short writes");
    }
}

#[test]
fn a_failed_sync_of_the_log_or_the_tip_poisons_the_writer() {
    for file in ["current.binlog", "tip"] {
        let medium = fake();
        let writer = on_fake(&medium).unwrap();
        writer.submit(put("memories/a.md", "one\n")).unwrap();
        medium.fail(Fault::nth(Op::Sync, 1).on(file));
        writer.submit(put("memories/a.md", "two\n")).unwrap_err();
        let again = writer.submit(put("memories/a.md", "three\n")).unwrap_err();
        assert!(matches!(again, cyberos_log::LogError::Poisoned(_)), "{file}: {again}");
        let fresh = on_fake(&medium).unwrap();
        fresh.submit(put("memories/a.md", "four\n")).unwrap();
    }
}
