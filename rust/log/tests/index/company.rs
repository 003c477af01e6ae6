//! Other files, other logs, other processes.

use cyberos_log::index::RunBuilder;
use cyberos_log::medium::fake::{Fault, Op};

use super::{DIR, ask, build, index, mark, names, open, publish, replace};

#[test]
fn leftovers_are_ignored_and_removed_by_the_next_merge() {
    let medium = index(&[10, 20, 30, 40]);
    // A merge that was interrupted before it removed what it had merged, one that had not finished, and strangers.
    publish(&medium, 1, 20);
    replace(&medium, "00000000000000000001-00000000000000000030.77-0.tmp", b"half");
    replace(&medium, "00000000000000000001-00000000000000000099.77-0.tmp", b"another's");
    replace(&medium, "README", b"kept");
    let mut set = open(&medium);
    assert_eq!((set.runs(), set.last()), (3, 40));
    ask(&set).unwrap();
    set.add(build(41, 50), mark(50)).unwrap();
    assert!(set.merge_step().unwrap());
    ask(&set).unwrap();
    let expected = [
        "00000000000000000001-00000000000000000050.run",
        "00000000000000000001-00000000000000000099.77-0.tmp",
        "README",
    ];
    assert_eq!(names(&medium), expected);
}

#[test]
fn of_overlapping_covers_the_one_that_reaches_further_counts() {
    let medium = index(&[]);
    for (first, last) in [(1, 6), (1, 10), (7, 20), (11, 15)] {
        publish(&medium, first, last);
    }
    let set = open(&medium);
    assert_eq!((set.runs(), set.last()), (2, 20));
    ask(&set).unwrap();
    // And where the larger run is damaged, the smaller ones do.
    publish(&medium, 16, 20);
    replace(&medium, "00000000000000000007-00000000000000000020.run", b"damaged");
    let set = open(&medium);
    assert_eq!((set.runs(), set.last()), (3, 20));
    ask(&set).unwrap();
}

#[test]
fn runs_of_another_log_do_not_link() {
    let medium = index(&[10, 20]);
    let foreign = |first| {
        let mut run = RunBuilder::new(first, mark(999));
        run.push(1, [(1, 1)]);
        run
    };
    foreign(21).finish(&medium, DIR.as_ref(), mark(21)).unwrap();
    let mut set = open(&medium);
    assert_eq!((set.last(), set.mark()), (20, Some(mark(20))));
    assert_eq!(set.boundaries().collect::<Vec<_>>(), [(20, mark(20)), (10, mark(10))]);
    assert!(set.add(foreign(21), mark(21)).is_err());
    assert!(set.add(foreign(1), mark(1)).is_ok(), "rows that are covered are not looked at");
    // This log went on otherwise after row 10.
    set.remove_after(10).unwrap();
    assert_eq!((set.last(), set.mark()), (10, Some(mark(10))));
    assert_eq!(names(&medium).len(), 1);
}

#[test]
fn a_view_can_forget_what_the_folder_keeps() {
    let medium = index(&[10, 20]);
    let mut set = open(&medium);
    set.forget_after(19);
    assert_eq!(set.last(), 10);
    ask(&set).unwrap();
    assert_eq!(open(&medium).last(), 20);
}

#[test]
fn two_writers_of_the_same_rows_agree() {
    let medium = index(&[]);
    let (mut one, mut two) = (open(&medium), open(&medium));
    one.add(build(1, 10), mark(10)).unwrap();
    two.add(build(1, 10), mark(10)).unwrap();
    // Both hold rows 11 and on; one is ahead.
    one.add(build(11, 15), mark(15)).unwrap();
    two.add(build(11, 20), mark(20)).unwrap();
    assert_eq!((two.last(), two.runs()), (20, 2));
    ask(&two).unwrap();
    // Rows that leave a gap, or begin inside what cannot be divided.
    assert!(one.add(build(25, 30), mark(30)).is_err());
    assert!(one.add(build(18, 30), mark(30)).is_err());
}

#[test]
fn two_merges_at_once_agree() {
    let medium = index(&[10, 20, 30, 40]);
    let sets = [open(&medium), open(&medium)];
    let [one, two] = sets.each_ref().map(|set| set.merge_due().unwrap());
    one.run().unwrap();
    two.run().unwrap();
    assert_eq!(names(&medium).len(), 1);
    for set in sets.iter().chain([&open(&medium)]) {
        ask(set).unwrap();
    }
}

#[test]
fn a_reader_that_meets_a_vanished_run_looks_again() {
    let medium = index(&[10, 20, 30]);
    // The name is gone between the listing and the opening, as when another process has just merged.
    medium.fail(Fault::nth(Op::Open, 2).kind(std::io::ErrorKind::NotFound));
    let set = open(&medium);
    assert_eq!((set.last(), set.runs()), (30, 3));
    // One that is listed and never there does not keep a reader for ever.
    medium.fail(Fault::nth(Op::Open, 1).kind(std::io::ErrorKind::NotFound).lasting());
    assert_eq!(open(&medium).last(), 0);
}

#[test]
fn what_is_asked_is_what_is_read() {
    let medium = index(&[5000, 6000, 7000, 7100, 7200, 7300]);
    medium.reset_counts();
    let set = open(&medium);
    let counts = medium.counts();
    assert_eq!((counts.opens, counts.reads), (6, 6), "a header for each run");
    assert!(set.postings(3, u64::MAX).next().is_none());
    assert_eq!(medium.counts().reads, 12, "a key page for each run");
    medium.reset_counts();
    let set = open(&medium);
    assert_eq!(set.postings(2, u64::MAX).take(10).count(), 10);
    assert_eq!(medium.counts().reads, 6 + 2, "a key page and a page of postings of the newest run");
    assert_eq!(set.postings(2, u64::MAX).take(10).count(), 10);
    assert_eq!(medium.counts().reads, 6 + 2, "once");
    assert_eq!(set.offset(4000).unwrap(), Some(400_000));
    assert_eq!(medium.counts().reads, 6 + 3);
    assert_eq!(set.postings(2, 2).count(), 1);
    assert!(medium.counts().reads <= 6 + 3 + 4, "of the only run that has such rows");
    assert_eq!((medium.counts().writes, medium.counts().syncs), (0, 0));
}

/// Pages share the slots of a small cache: with more runs than slots they also push each other out.
#[test]
fn more_runs_than_the_cache_has_slots() {
    let medium = index(&(1..=300).collect::<Vec<_>>());
    let mut set = open(&medium);
    assert_eq!(set.runs(), 300);
    ask(&set).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| ask(&set).unwrap());
        }
    });
    assert!(set.merge_step().unwrap());
    assert!(!set.merge_step().unwrap(), "one merge is enough");
    assert_eq!(set.runs(), 1);
    ask(&set).unwrap();
}
