//! What the index promises, from outside.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod company;
mod crash;
mod damage;
mod model;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cyberos_log::Digest;
use cyberos_log::index::{IndexSet, Posting, RunBuilder, Unusable};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Open};

/// The folder of the index under test.
const DIR: &str = "/index";

/// The mark of row `seq`.
fn mark(seq: u64) -> Digest {
    if seq == 0 { Digest::ZERO } else { Digest::of(&[b"row", &seq.to_be_bytes()]) }
}

/// The keys of row `seq`: one of its own, and one of five.
fn keys(seq: u64) -> [(u64, u8); 2] {
    [(seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, 2), (2 * (seq % 5), 1)]
}

fn build(first: u64, last: u64) -> RunBuilder {
    let mut run = RunBuilder::new(first, mark(first - 1));
    for seq in first..=last {
        run.push(seq * 100, keys(seq));
    }
    run
}

fn publish(medium: &Fake, first: u64, last: u64) {
    build(first, last).finish(medium, Path::new(DIR), mark(last)).unwrap();
}

/// An index with runs that end at `ends`.
fn index(ends: &[u64]) -> Fake {
    let medium = Fake::with_dir(DIR);
    let mut first = 1;
    for last in ends {
        publish(&medium, first, *last);
        first = last + 1;
    }
    medium
}

fn open(medium: &Fake) -> IndexSet {
    IndexSet::open(Arc::new(medium.clone()), DIR.into()).unwrap()
}

fn names(medium: &Fake) -> Vec<String> {
    let mut names = medium.list(Path::new(DIR)).unwrap();
    names.sort();
    names
}

fn read(medium: &Fake, name: &str) -> Vec<u8> {
    medium.read(&Path::new(DIR).join(name)).unwrap().unwrap()
}

/// Replaces what the file has: another file of the name, which open ones do not see.
fn replace(medium: &Fake, name: &str, bytes: &[u8]) {
    medium.remove(&Path::new(DIR).join(name)).unwrap();
    medium.open(&Path::new(DIR).join(name), Open::Create).unwrap().write_all_at(bytes, 0).unwrap();
}

/// What rows `1..=rows` answer, newest first.
fn expected(rows: u64) -> BTreeMap<u64, Vec<Posting>> {
    let mut expected: BTreeMap<u64, Vec<Posting>> = BTreeMap::new();
    for seq in (1..=rows).rev() {
        for (key, class) in keys(seq) {
            expected.entry(key).or_default().push(Posting { seq, class });
        }
    }
    expected
}

/// Asks everything: an answer is right, or it is `Unusable`. Returns the first of these.
fn ask(set: &IndexSet) -> Result<(), Unusable> {
    let mut outcome = Ok(());
    let mut refused = |unusable: Unusable| {
        if outcome.is_ok() {
            outcome = Err(unusable);
        }
    };
    for seq in 1..=set.last() {
        match set.offset(seq) {
            Ok(offset) => assert_eq!(offset, Some(seq * 100)),
            Err(unusable) => refused(unusable),
        }
    }
    let mut expected = expected(set.last());
    // And keys that no row has.
    for key in [1, 3, u64::MAX, 1 << 63] {
        expected.insert(key, Vec::new());
    }
    for (key, postings) in expected {
        match set.postings(key, u64::MAX).collect::<Result<Vec<_>, _>>() {
            Ok(found) => assert_eq!(found, postings, "key {key:x}"),
            Err(unusable) => refused(unusable),
        }
        match set.count(key) {
            Ok(count) => assert_eq!(count, postings.len() as u64),
            Err(unusable) => refused(unusable),
        }
    }
    outcome
}
