//! Interruption at every operation, and losses of power.

use std::path::Path;
use std::sync::Arc;

use cyberos_log::index::IndexSet;
use cyberos_log::medium::fake::{Fake, Fault, Op};
use cyberos_log::medium::{Medium, Open};

use super::{DIR, ask, build, index, mark, names, open};

/// Rows in all, when everything has been done.
const ROWS: u64 = 50;

/// Goes on where something was interrupted: adds what is missing, merges what is due.
fn go_on(medium: &Fake, rows: u64) {
    let mut set = open(medium);
    if set.last() < rows {
        set.add(build(set.last() + 1, rows), mark(rows)).unwrap();
    }
    while set.merge_step().unwrap() {}
    assert_eq!(set.last(), rows);
    ask(&set).unwrap();
    ask(&open(medium)).unwrap();
}

/// More operations of any kind than the work that is interrupted has.
const OPERATIONS: u64 = 60;

/// Runs `work` on a medium that fails at the `n`th operation, for every `n` and every kind; at least `least` rows survive.
fn interrupt(prepare: impl Fn() -> Fake, work: impl Fn(&Fake) -> cyberos_log::Result<()>, least: u64) {
    let faults = [
        |n| Fault::nth_change(n).lasting(),
        |n| Fault::nth_change(n).lasting().partial(),
        |n| Fault::nth_change(n),
        |n| Fault::nth(Op::Read, n),
        |n| Fault::nth(Op::Look, n),
    ];
    for fault in faults {
        for n in 1..=OPERATIONS {
            let medium = prepare();
            medium.fail(fault(n));
            let done = work(&medium);
            medium.clear_faults();
            assert!(n < OPERATIONS || done.is_ok(), "{OPERATIONS} operations are not all");
            let survivor = open(&medium);
            assert!(survivor.last() >= least, "operation {n}: {} rows", survivor.last());
            ask(&survivor).unwrap();
            go_on(&medium, ROWS);
            assert!(names(&medium).iter().all(|name| !name.contains("tmp")), "operation {n}");
        }
    }
}

#[test]
fn a_merge_may_be_interrupted_at_any_operation() {
    let work = |medium: &Fake| open_on(medium)?.merge_step().map(drop);
    interrupt(|| index(&[10, 20, 30, 40]), work, 40);
}

#[test]
fn an_add_may_be_interrupted_at_any_operation() {
    let work = |medium: &Fake| {
        let mut set = open_on(medium)?;
        let rest = build(set.last() + 1, ROWS);
        set.add(rest, mark(ROWS))
    };
    // The fourth run: so that a merge is due, which removes what was left.
    interrupt(|| index(&[10, 15, 20]), work, 20);
}

fn open_on(medium: &Fake) -> cyberos_log::Result<IndexSet> {
    IndexSet::open(Arc::new(medium.clone()), DIR.into())
}

/// Without a sync anything may be left of a run; none of it is mistaken for an answer.
#[test]
fn whatever_a_loss_of_power_leaves_is_not_wrong() {
    for seed in 0..300 {
        let medium = index(&[10, 20, 30]);
        let mut set = open(&medium);
        set.add(build(31, 40), mark(40)).unwrap();
        if seed % 2 == 0 {
            set.merge_step().unwrap();
        }
        let image = medium.crash_image_with(seed);
        let mut survivor = open(&image);
        while let Err(unusable) = ask(&survivor) {
            survivor.discard(&unusable).unwrap();
        }
        go_on(&image, ROWS);
    }
}

/// What a large merge removes is never all there was: its result is durable by then.
#[test]
fn a_large_merge_is_durable_before_it_removes_anything() {
    let small = 16_384;
    let medium = index(&[small, 2 * small, 3 * small, 4 * small]);
    make_durable(&medium);
    let prepare = || medium.crash_image();
    let syncs = {
        let medium = prepare();
        assert!(open(&medium).merge_step().unwrap());
        assert_eq!(open(&medium.crash_image()).last(), 4 * small);
        medium.counts().syncs
    };
    assert_eq!(syncs, 2, "the file and its name");
    for n in 1..=syncs {
        let medium = prepare();
        medium.freeze_at(n);
        assert!(open(&medium).merge_step().is_err());
        for image in [medium.crash_image(), medium.crash_image_with(n), medium.crash_image_with(77 + n)] {
            let set = open(&image);
            assert_eq!(set.last(), 4 * small);
            let found: Vec<u64> = set.postings(2, 600).map(|posting| posting.unwrap().seq).collect();
            assert!(found.iter().rev().copied().eq((1..600).filter(|seq| seq % 5 == 1)));
        }
    }
}

fn make_durable(medium: &Fake) {
    for name in names(medium) {
        medium.open(&Path::new(DIR).join(name), Open::Write).unwrap().sync().unwrap();
    }
    medium.sync_dir(DIR.as_ref()).unwrap();
}
