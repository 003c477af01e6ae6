//! The Merkle tree over a real log: the file in `index/tree/` makes answers faster and never changes them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Random, audit, commit, draft, empty, open_writer, shared};
use cyberos_log::Digest;
use cyberos_log::format::tree::{RECORD, WIDTH, number, offset};
use cyberos_log::history::Chain;
use cyberos_log::log::peaks::{Peaks, leaf};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Open, SharedMedium};
use cyberos_log::tree::{self, Tree, includes, is_consistent};

fn file() -> PathBuf {
    PathBuf::from("/store/index/tree/nodes")
}

fn chain(fake: &Fake) -> Chain {
    let medium: SharedMedium = shared(fake);
    Chain::open(&medium, Path::new("/store")).unwrap()
}

/// Appends rows `from..=to`; of different `kind`s the logs differ.
fn append(fake: &Fake, from: u64, to: u64, kind: u64) {
    let (mut writer, _) = open_writer(fake).unwrap();
    let rows: Vec<_> = (from..=to).map(|n| draft(n + kind * 1_000_000)).collect();
    commit(&mut writer, &rows).unwrap();
}

fn log(rows: u64) -> Fake {
    let fake = empty();
    append(&fake, 1, rows, 0);
    fake
}

fn leaves(chain: &Chain) -> Vec<Digest> {
    let mut leaves = Vec::new();
    chain
        .log()
        .scan(chain.log().start(), |event| {
            if let cyberos_log::log::Event::Frame(_, frame) = event {
                leaves.push(leaf(frame.payload));
            }
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    leaves
}

/// The roots of all sizes.
fn roots(leaves: &[Digest]) -> Vec<Digest> {
    let mut peaks = Peaks::default();
    let mut roots = vec![peaks.root()];
    for leaf in leaves {
        peaks.push(*leaf);
        roots.push(peaks.root());
    }
    roots
}

/// Asks for proofs between sizes picked at random and at the edges, and checks them against the leaves.
fn agrees(chain: &Chain, tree: impl Fn() -> Tree<'static>, times: u64) {
    let (leaves, mut random) = (leaves(chain), Random(7));
    let (roots, last) = (roots(&leaves), leaves.len() as u64);
    let edges = [1, 2, WIDTH - 1, WIDTH, WIDTH + 1, last - 1, last].map(|size| size.clamp(1, last));
    for round in 0..times {
        let mut pick = |below: u64| match round % 3 {
            0 => edges[usize::try_from(random.below(7)).unwrap()].min(below),
            _ => random.below(below) + 1,
        };
        let new = pick(last);
        let (old, seq) = (pick(new), pick(new));
        let at = |n: u64| roots[usize::try_from(n).unwrap()];
        let mut tree = tree();
        assert_eq!(tree.root(new).unwrap(), at(new), "root of {new}");
        let path = tree.inclusion(seq, new).unwrap();
        let leaf = leaves[usize::try_from(seq - 1).unwrap()];
        assert!(includes(seq - 1, new, leaf, &path, at(new)), "row {seq} in {new}");
        let path = tree.consistency(old, new).unwrap();
        assert!(is_consistent(old, at(old), new, at(new), &path), "{old} in {new}");
    }
}

fn agree(fake: &Fake, times: u64) {
    // The chain outlives the test: so a tree may be made from it anew and again.
    let chain: &'static Chain = Box::leak(Box::new(chain(fake)));
    agrees(chain, || Tree::open(chain).unwrap(), times);
}

#[test]
fn the_rows_alone_give_every_root_and_proof() {
    let fake = log(700);
    let chain: &'static Chain = Box::leak(Box::new(chain(&fake)));
    agrees(chain, || Tree::of_rows(chain), 60);
    let all = roots(&leaves(chain));
    assert_eq!(tree::roots(chain, &[700, 1, 0, 256, 1]).unwrap(), [all[700], all[1], all[0], all[256], all[1]]);
    assert!(tree::roots(chain, &[1, 701]).is_err());
    assert!(fake.read(&file()).unwrap().is_none(), "a reader writes nothing");
}

#[test]
fn a_file_of_any_age_gives_the_same() {
    let fake = log(200);
    for (from, to) in [(201, 300), (301, 512), (513, 1100), (1101, 1101), (1102, 2000)] {
        append(&fake, from, to, 0);
        agree(&fake, 20); // the file lags
        assert_eq!(tree::extend(&chain(&fake)).unwrap(), to / WIDTH * WIDTH);
        assert_eq!(fake.read(&file()).unwrap().unwrap().len() as u64, offset(to / WIDTH));
        agree(&fake, 20);
    }
}

#[test]
fn the_higher_levels_are_used_and_right() {
    let rows = WIDTH * WIDTH + 700;
    let fake = log(WIDTH * WIDTH - 300);
    tree::extend(&chain(&fake)).unwrap();
    append(&fake, WIDTH * WIDTH - 299, rows, 0);
    tree::extend(&chain(&fake)).unwrap();
    let one = chain(&fake);
    let mut peaks = Peaks::default();
    for leaf in leaves(&one) {
        peaks.push(leaf);
    }
    assert_eq!(tree::check(&one, &peaks).unwrap(), None);
    agree(&fake, 40);
    let grown = fake.read(&file()).unwrap();
    tree::rebuild(&one).unwrap();
    assert_eq!(fake.read(&file()).unwrap(), grown, "made at once it is the same");
    // A wrong hash under a right checksum in any level is told by the check.
    for (level, index) in [(1, 0), (1, 255), (2, 0), (1, 256)] {
        let wrong = cyberos_log::format::tree::Record { hash: Digest([9; 32]), mark: Digest([9; 32]) };
        let mut bytes = Vec::new();
        cyberos_log::format::tree::encode(&mut bytes, number(level, index), &wrong);
        overwrite(&fake, offset(number(level, index)), &bytes);
        assert!(tree::check(&one, &peaks).unwrap().is_some(), "{level} {index}");
        tree::rebuild(&one).unwrap();
    }
}

fn overwrite(fake: &Fake, at: u64, bytes: &[u8]) {
    fake.open(&file(), Open::Write).unwrap().write_all_at(bytes, at).unwrap();
}

#[test]
fn damage_anywhere_makes_it_slower_and_never_wrong() {
    let fake = log(3000);
    tree::extend(&chain(&fake)).unwrap();
    let whole = fake.read(&file()).unwrap().unwrap();
    let mut random = Random(3);
    for round in 0..40 {
        let file = fake.open(&file(), Open::Write).unwrap();
        file.set_len(0).unwrap();
        file.write_all_at(&whole, 0).unwrap();
        let at = random.below(whole.len() as u64);
        match round % 4 {
            0 => file.set_len(at).unwrap(),
            1 => file.write_all_at(&[0; 512], at).unwrap(), // longer, too
            2 => file.write_all_at(&[whole[usize::try_from(at).unwrap()] ^ 1], at).unwrap(),
            _ => file.write_all_at(&whole[..RECORD], at).unwrap(),
        }
        agree(&fake, 9);
        tree::extend(&chain(&fake)).unwrap();
        agree(&fake, 9);
    }
}

#[test]
fn what_a_fork_or_another_log_left_is_not_believed_and_not_continued() {
    for shared_rows in [100, 700, 1300] {
        let fake = log(shared_rows);
        let before = common::files(&fake);
        append(&fake, shared_rows + 1, 2000, 0);
        tree::extend(&chain(&fake)).unwrap();
        let index = fake.read(&file()).unwrap().unwrap();
        // The older state of the log is put back, and goes on differently; the index stays.
        let other = common::install(&before);
        append(&other, shared_rows + 1, 2300, 1);
        other.create_dir_all(file().parent().unwrap()).unwrap();
        other.open(&file(), Open::Create).unwrap().write_all_at(&index, 0).unwrap();
        let before = chain(&other);
        let mut tree = Tree::open(&before).unwrap();
        let (covered, foreign) = tree.covered();
        assert!(covered <= shared_rows && foreign > 0, "{covered} {foreign}");
        assert_eq!(tree.root(2300).unwrap(), Tree::of_rows(&before).root(2300).unwrap());
        agree(&other, 30);
        // Who has the old file open keeps it.
        let old = other.open(&file(), Open::Read).unwrap();
        tree::extend(&before).unwrap();
        let mut bytes = vec![0; index.len()];
        old.read_full_at(&mut bytes, 0).unwrap();
        assert_eq!(bytes, index);
        assert_eq!(Tree::open(&before).unwrap().covered(), (2300 / WIDTH * WIDTH, 0));
        agree(&other, 30);
    }
}

#[test]
fn an_older_look_at_the_log_may_use_a_newer_file() {
    let fake = log(1000);
    let older: &'static Chain = Box::leak(Box::new(chain(&fake)));
    append(&fake, 1001, 3000, 0);
    tree::extend(&chain(&fake)).unwrap();
    assert_eq!(Tree::open(older).unwrap().covered(), (768, 0));
    assert!(Tree::open(older).unwrap().root(1001).is_err());
    let new = chain(&fake);
    assert_eq!(Tree::open(older).unwrap().root(900).unwrap(), Tree::open(&new).unwrap().root(900).unwrap());
}

#[test]
fn sizes_that_are_not_there_are_refused_and_damaged_rows_are_told() {
    let fake = log(600);
    let one = chain(&fake);
    let mut tree = Tree::open(&one).unwrap();
    assert!(tree.root(601).is_err());
    assert!(tree.inclusion(0, 5).is_err());
    assert!(tree.inclusion(6, 5).is_err());
    assert!(tree.consistency(6, 5).is_err());
    assert_eq!(tree.consistency(0, 5).unwrap(), []);
    assert_eq!(tree.root(0).unwrap(), Digest::of(&[]));
    let path = audit().join("current.binlog");
    let (medium, bytes) = (Arc::new(fake.clone()), fake.read(&path).unwrap().unwrap());
    medium.open(&path, Open::Write).unwrap().write_all_at(&[0xff], bytes.len() as u64 / 2).unwrap();
    let error = Tree::of_rows(&chain(&fake)).root(600).unwrap_err();
    assert!(matches!(error, cyberos_log::LogError::Corrupt { .. }), "{error}");
}
