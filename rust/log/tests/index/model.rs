//! The index against a model: whatever the rows, the keys, the sizes of runs and the merges, the answers are those of a map.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cyberos_log::index::{IndexSet, Merged, Posting};
use cyberos_log::medium::Os;
use proptest::prelude::*;

use super::mark;

fn open(dir: &Path) -> IndexSet {
    IndexSet::open(Arc::new(Os), dir.to_owned()).unwrap()
}

/// A row's offset and its keys.
type Row = (u64, Vec<(u64, u8)>);

/// Adds rows, the first of them being the one after those covered.
fn add(set: &mut IndexSet, rows: &[Row]) {
    let mut run = set.builder();
    for (offset, keys) in rows {
        run.push(*offset, keys.iter().copied());
    }
    let last = run.last();
    set.add(run, mark(last)).unwrap();
}

fn model(rows: &[Row]) -> BTreeMap<u64, Vec<Posting>> {
    let mut model: BTreeMap<u64, Vec<Posting>> = BTreeMap::new();
    for ((_, keys), seq) in rows.iter().zip(1..) {
        for (key, class) in keys {
            model.entry(*key).or_default().push(Posting { seq, class: *class });
        }
    }
    for postings in model.values_mut() {
        postings.sort_unstable_by(|a, b| b.cmp(a));
        postings.dedup();
    }
    model
}

fn check(set: &IndexSet, rows: &[Row], probes: &[(u64, u64)]) {
    let model = model(rows);
    assert_eq!(set.last(), rows.len() as u64);
    assert_eq!(set.mark(), (!rows.is_empty()).then(|| mark(set.last())));
    for ((offset, _), seq) in rows.iter().zip(1..) {
        assert_eq!(set.offset(seq).unwrap(), Some(*offset), "row {seq}");
    }
    assert_eq!(set.offset(0).unwrap(), None);
    assert_eq!(set.offset(set.last() + 1).unwrap(), None);
    for (key, expected) in &model {
        let found: Vec<Posting> = set.postings(*key, u64::MAX).map(Result::unwrap).collect();
        assert_eq!(&found, expected, "key {key:x}");
        assert_eq!(set.count(*key).unwrap(), expected.len() as u64);
    }
    for (key, below) in probes {
        let expected = model.get(key).into_iter().flatten().filter(|posting| posting.seq < *below);
        let found: Vec<Posting> = set.postings(*key, *below).map(Result::unwrap).collect();
        assert!(found.iter().eq(expected), "key {key:x} below {below}: {found:?}");
    }
}

/// Keys from few to many, crowded into one bucket or spread over all.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..4, 0_u64..2000, any::<u64>(), (0_u64..50).prop_map(|n| u64::MAX - n)]
}

fn row() -> impl Strategy<Value = Row> {
    (0..1_u64 << 40, prop::collection::vec((key(), 0_u8..16), 0..4))
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<Row>),
    Merge,
    Reopen,
    Refresh,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(row(), 1..60).prop_map(Step::Add),
        1 => prop::collection::vec(row(), 1..1500).prop_map(Step::Add),
        3 => Just(Step::Merge),
        1 => Just(Step::Reopen),
        1 => Just(Step::Refresh),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_a_map(
        steps in prop::collection::vec(step(), 1..24),
        probes in prop::collection::vec((key(), 0_u64..2000), 20),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut set = open(dir.path());
        // A reader that was opened at some point stays right about what it knew.
        let mut reader = (open(dir.path()), 0);
        let mut rows = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Add(more) => {
                    add(&mut set, &more);
                    rows.extend(more);
                }
                Step::Merge => drop(set.merge_step().unwrap()),
                Step::Reopen => set = open(dir.path()),
                Step::Refresh => drop(set.refresh().unwrap()),
            }
            if at == 8 {
                reader = (open(dir.path()), rows.len());
            }
        }
        check(&set, &rows, &probes);
        check(&reader.0, &rows[..reader.1], &probes);
        while set.merge_step().unwrap() {}
        check(&set, &rows, &probes);
        check(&open(dir.path()), &rows, &probes);
        check(&reader.0, &rows[..reader.1], &probes);
        reader.0.refresh().unwrap();
        check(&reader.0, &rows, &probes);
    }
}

/// More keys in one bucket than a page holds spill into the pages behind it.
#[test]
fn a_crowded_bucket_spills() {
    let crowd = (0..3000_u64).map(|n| n * 5);
    let spread = (0..3000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let end = (0..700_u64).map(|n| u64::MAX - n);
    let rows: Vec<Row> = crowd.chain(spread).chain(end).map(|key| (key >> 24, vec![(key, 3)])).collect();
    let probes: Vec<(u64, u64)> = (0..20_000).map(|n| (n, u64::MAX)).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut set = open(dir.path());
    add(&mut set, &rows);
    check(&set, &rows, &probes);
    for _ in 0..8 {
        add(&mut set, &[(1, vec![(7, 7), (u64::MAX, 1)])]);
    }
    let rows = [rows, vec![(1, vec![(7, 7), (u64::MAX, 1)]); 8]].concat();
    while set.merge_step().unwrap() {}
    check(&set, &rows, &probes);
}

#[test]
fn an_empty_index_knows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = open(&dir.path().join("none"));
    check(&set, &[], &[(1, 1)]);
    assert!(!set.merge_step().unwrap());
    assert!(!set.refresh().unwrap());
    let nothing = set.builder();
    set.add(nothing, mark(0)).unwrap();
    assert!(!dir.path().join("none").exists(), "reading and adding nothing create nothing");
}

#[test]
fn rows_without_keys_are_covered() {
    let rows: Vec<Row> = (0..2000).map(|n| (n * 600, Vec::new())).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut set = open(dir.path());
    for part in rows.chunks(500) {
        add(&mut set, part);
    }
    check(&set, &rows, &[(0, u64::MAX)]);
    assert!(set.merge_step().unwrap());
    check(&set, &rows, &[(0, u64::MAX)]);
    assert_eq!(set.runs(), 1);
}

#[test]
fn a_merge_runs_on_another_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut set = open(dir.path());
    let rows: Vec<Row> = (0..4000).map(|n| (n, vec![(n % 10, 0)])).collect();
    for part in rows.chunks(1000) {
        add(&mut set, part);
    }
    let merge = set.merge_due().unwrap();
    assert_eq!(merge.rows(), 4000);
    let merged = std::thread::spawn(move || merge.run()).join().unwrap().unwrap();
    assert!(matches!(merged, Merged::Published));
    check(&set, &rows, &[]);
    assert!(set.refresh().unwrap());
    assert_eq!(set.runs(), 1);
    check(&set, &rows, &[]);
}

#[test]
fn rows_that_cannot_be_indexed_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let set = open(dir.path());
    for (offset, class) in [(1 << 40, 0), (0, 16)] {
        let mut run = set.builder();
        run.push(offset, [(1, class)]);
        assert!(open(dir.path()).add(run, mark(1)).is_err());
    }
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}
