//! Damage, interruption and company: the index is slower then, or shorter, and never wrong.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cyberos_log::Digest;
use cyberos_log::index::{IndexSet, Merged, Posting, RunBuilder, Unusable};
use cyberos_log::medium::{Medium, MediumFile, Open, Os, SharedMedium, Stat};

fn mark(seq: u64) -> Digest {
    if seq == 0 { Digest::ZERO } else { Digest::of(&[b"row", &seq.to_be_bytes()]) }
}

fn open(dir: &Path) -> IndexSet {
    IndexSet::open(Arc::new(Os), PathBuf::from(dir)).unwrap()
}

/// The keys of row `seq`, in every test of this file.
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

/// Writes the runs that end at `ends`.
fn write(dir: &Path, ends: &[u64]) {
    let mut first = 1;
    for last in ends {
        build(first, *last).finish(&Os, dir, mark(*last)).unwrap();
        first = last + 1;
    }
}

fn model(rows: u64) -> BTreeMap<u64, Vec<Posting>> {
    let mut model: BTreeMap<u64, Vec<Posting>> = BTreeMap::new();
    for seq in (1..=rows).rev() {
        for (key, class) in keys(seq) {
            model.entry(key).or_default().push(Posting { seq, class });
        }
    }
    model
}

/// Asks everything; an answer is right or the outcome is `Unusable`. Returns whether all answers were given.
fn ask(set: &IndexSet, model: &BTreeMap<u64, Vec<Posting>>) -> bool {
    let mut complete = true;
    let mut refused = |_: Unusable| complete = false;
    for seq in 1..=set.last() {
        match set.offset(seq) {
            Ok(offset) => assert_eq!(offset, Some(seq * 100)),
            Err(unusable) => refused(unusable),
        }
    }
    // Keys that are there and keys that are not.
    for key in model.keys().copied().chain([1, 3, u64::MAX, 0x8000_0000_0000_0000]) {
        let expected: Vec<Posting> =
            model.get(&key).into_iter().flatten().copied().filter(|posting| posting.seq <= set.last()).collect();
        match set.postings(key, u64::MAX).collect::<Result<Vec<_>, _>>() {
            Ok(found) => assert_eq!(found, expected, "key {key:x}"),
            Err(unusable) => refused(unusable),
        }
        match set.count(key) {
            Ok(count) => assert_eq!(count, expected.len() as u64),
            Err(unusable) => refused(unusable),
        }
    }
    complete
}

fn names(dir: &Path) -> Vec<String> {
    let mut names = Os.list(dir).unwrap();
    names.sort();
    names
}

#[test]
fn every_flipped_byte_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[6]);
    let model = model(6);
    let path = dir.path().join(&names(dir.path())[0]);
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&path, &bad).unwrap();
        let set = open(dir.path());
        assert!(set.last() == 0 || !ask(&set, &model), "byte {at} means nothing");
    }
    fs::write(&path, &good).unwrap();
    assert!(ask(&open(dir.path()), &model));
}

#[test]
fn a_file_of_another_length_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[20, 30]);
    let path = dir.path().join(&names(dir.path())[1]);
    let good = fs::read(&path).unwrap();
    for len in 0..good.len() {
        fs::write(&path, &good[..len]).unwrap();
        let set = open(dir.path());
        assert_eq!(set.last(), 20, "{len} of {} bytes", good.len());
    }
    fs::write(&path, [good.as_slice(), &[0]].concat()).unwrap();
    assert_eq!(open(dir.path()).last(), 20);
    fs::write(&path, vec![0; good.len()]).unwrap();
    assert_eq!(open(dir.path()).last(), 20, "zeros, as a file system may leave them after a loss of power");
}

#[test]
fn a_file_cut_short_while_open_is_an_outcome() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[20, 30]);
    let model = model(30);
    let path = dir.path().join(&names(dir.path())[0]);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    for len in (0..length).rev().step_by(509) {
        fs::write(&path, vec![0; 0]).unwrap();
        write(dir.path(), &[20]);
        let set = open(dir.path());
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len).unwrap();
        assert_eq!(set.last(), 30);
        assert!(!ask(&set, &model), "{len} bytes");
    }
}

#[test]
fn a_damaged_run_is_discarded_and_indexed_anew() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[20, 30, 40]);
    let path = dir.path().join(&names(dir.path())[1]);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut set = open(dir.path());
    assert_eq!(set.last(), 40);
    let unusable = set.count(1).unwrap_err();
    assert_eq!((unusable.first, &unusable.path), (21, &path));
    set.discard(&unusable).unwrap();
    assert_eq!(set.last(), 20);
    set.add(build(21, 30), mark(30)).unwrap();
    assert_eq!(set.last(), 40, "what lies behind it links up again");
    assert!(ask(&set, &model(40)));
}

#[test]
fn a_merge_meets_a_damaged_run_and_leaves_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[10, 20, 30, 40]);
    for page in 1..4 {
        let path = dir.path().join(&names(dir.path())[2]);
        let mut bytes = fs::read(&path).unwrap();
        bytes[page * 4096 + 17] ^= 1;
        fs::write(&path, bytes).unwrap();
        let mut set = open(dir.path());
        assert!(matches!(set.merge_due().unwrap().run().unwrap(), Merged::Damaged(unusable) if unusable.path == path));
        assert_eq!(names(dir.path()).len(), 4, "nothing was changed");
        assert!(set.merge_step().unwrap());
        assert_eq!(set.last(), 20);
        set.add(build(21, 30), mark(30)).unwrap();
        assert_eq!(set.last(), 40);
    }
}

#[test]
fn a_run_whose_header_is_damaged_is_replaced_by_adding() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[20, 30]);
    let path = dir.path().join(&names(dir.path())[1]);
    let mut bytes = fs::read(&path).unwrap();
    // Another version.
    bytes[6] = b'2';
    fs::write(&path, bytes).unwrap();
    let mut set = open(dir.path());
    assert_eq!(set.last(), 20);
    set.add(build(21, 30), mark(30)).unwrap();
    assert_eq!(set.last(), 30);
    assert!(ask(&set, &model(30)));
}

#[test]
fn leftovers_are_ignored_and_removed_by_the_next_merge() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[10, 20, 30, 40]);
    // A merge that was interrupted before it removed what it had merged, one that had not finished, and strangers.
    build(1, 20).finish(&Os, dir.path(), mark(20)).unwrap();
    fs::write(dir.path().join("00000000000000000001-00000000000000000030.77-0.tmp"), b"half").unwrap();
    fs::write(dir.path().join("00000000000000000001-00000000000000000099.77-0.tmp"), b"another's").unwrap();
    fs::write(dir.path().join("README"), b"kept").unwrap();
    let mut set = open(dir.path());
    assert_eq!((set.runs(), set.last()), (3, 40));
    assert!(ask(&set, &model(40)));
    set.add(build(41, 50), mark(50)).unwrap();
    assert!(set.merge_step().unwrap());
    assert!(ask(&set, &model(50)));
    let expected = [
        "00000000000000000001-00000000000000000050.run",
        "00000000000000000001-00000000000000000099.77-0.tmp",
        "README",
    ];
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn of_overlapping_covers_the_one_that_reaches_further_counts() {
    let dir = tempfile::tempdir().unwrap();
    for (first, last) in [(1, 6), (1, 10), (7, 20), (11, 15)] {
        build(first, last).finish(&Os, dir.path(), mark(last)).unwrap();
    }
    let set = open(dir.path());
    assert_eq!((set.runs(), set.last()), (2, 20));
    assert!(ask(&set, &model(20)));
    // And where the larger run is damaged, the smaller ones do.
    build(16, 20).finish(&Os, dir.path(), mark(20)).unwrap();
    fs::write(dir.path().join("00000000000000000007-00000000000000000020.run"), b"damaged").unwrap();
    let set = open(dir.path());
    assert_eq!((set.runs(), set.last()), (3, 20));
    assert!(ask(&set, &model(20)));
}

#[test]
fn runs_of_another_log_do_not_link() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[10, 20]);
    let mut other = RunBuilder::new(21, mark(999));
    other.push(1, [(1, 1)]);
    other.finish(&Os, dir.path(), mark(21)).unwrap();
    let mut set = open(dir.path());
    assert_eq!((set.last(), set.mark()), (20, Some(mark(20))));
    assert_eq!(set.boundaries().collect::<Vec<_>>(), [(20, mark(20)), (10, mark(10))]);
    // A log that went on otherwise after row 10.
    let mut foreign = RunBuilder::new(21, mark(998));
    foreign.push(1, [(1, 1)]);
    assert!(set.add(foreign, mark(21)).is_err());
    set.remove_after(10).unwrap();
    assert_eq!((set.last(), set.mark()), (10, Some(mark(10))));
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn a_view_can_forget_what_the_folder_keeps() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[10, 20]);
    let mut set = open(dir.path());
    set.forget_after(19);
    assert_eq!(set.last(), 10);
    assert!(ask(&set, &model(10)));
    assert_eq!(open(dir.path()).last(), 20);
}

#[test]
fn two_writers_of_the_same_rows_agree() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (open(dir.path()), open(dir.path()));
    one.add(build(1, 10), mark(10)).unwrap();
    two.add(build(1, 10), mark(10)).unwrap();
    // Both hold rows 11 and on; one is ahead.
    one.add(build(11, 15), mark(15)).unwrap();
    two.add(build(11, 20), mark(20)).unwrap();
    assert_eq!((two.last(), two.runs()), (20, 2));
    assert!(ask(&two, &model(20)));
    // Rows that leave a gap, or begin inside what cannot be divided.
    assert!(one.add(build(25, 30), mark(30)).is_err());
    assert!(one.add(build(18, 30), mark(30)).is_err());
}

#[test]
fn two_merges_at_once_agree() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[10, 20, 30, 40]);
    let sets = [open(dir.path()), open(dir.path())];
    let [one, two] = sets.each_ref().map(|set| set.merge_due().unwrap());
    one.run().unwrap();
    two.run().unwrap();
    assert_eq!(names(dir.path()).len(), 1);
    for set in sets.iter().chain([&open(dir.path())]) {
        assert!(ask(set, &model(40)));
    }
}

/// A medium on which the operation with a given number fails, and every one after it: a process that dies there.
#[derive(Debug)]
struct Dying {
    left: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct DyingFile {
    file: Box<dyn MediumFile>,
    left: Arc<AtomicUsize>,
}

fn spend(left: &AtomicUsize) -> io::Result<()> {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        .map(drop)
        .map_err(|_| io::ErrorKind::StorageFull.into())
}

impl MediumFile for DyingFile {
    fn len(&self) -> io::Result<u64> {
        spend(&self.left)?;
        self.file.len()
    }
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        spend(&self.left)?;
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        spend(&self.left)?;
        self.file.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        spend(&self.left)?;
        self.file.sync()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        spend(&self.left)?;
        self.file.set_len(len)
    }
}

impl Medium for Dying {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn MediumFile>> {
        spend(&self.left)?;
        Ok(Box::new(DyingFile { file: Os.open(path, how)?, left: Arc::clone(&self.left) }))
    }
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        spend(&self.left)?;
        Os.stat(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        spend(&self.left)?;
        Os.list(dir)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        spend(&self.left)?;
        Os.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        spend(&self.left)?;
        Os.remove(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<bool> {
        spend(&self.left)?;
        Os.remove_dir(path)
    }
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        spend(&self.left)?;
        Os.create_dir_all(dir)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        spend(&self.left)?;
        Os.sync_dir(dir)
    }
}

/// Runs `work` in a process that dies at its `n`-th operation, for every `n`; then a new one must find everything.
fn survive(
    prepare: impl Fn(&Path),
    work: impl Fn(SharedMedium, PathBuf) -> cyberos_log::Result<()>,
    least: u64,
) -> usize {
    for allowed in 0.. {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let left = Arc::new(AtomicUsize::new(allowed));
        let done = work(Arc::new(Dying { left: Arc::clone(&left) }), dir.path().to_owned());
        let survivor = open(dir.path());
        assert!(survivor.last() >= least, "{allowed} operations: {} rows", survivor.last());
        assert!(ask(&survivor, &model(50)), "{allowed} operations");
        let mut writer = open(dir.path());
        if writer.last() < 50 {
            writer.add(build(writer.last() + 1, 50), mark(50)).unwrap();
        }
        while writer.merge_step().unwrap() {}
        assert!(ask(&writer, &model(50)));
        if done.is_ok() && left.load(Ordering::Relaxed) > 0 {
            let unfinished = names(dir.path()).iter().filter(|name| name.contains(".tmp")).count();
            assert_eq!(unfinished, 0);
            return allowed;
        }
    }
    unreachable!("some number of operations is enough");
}

#[test]
fn a_merge_may_die_at_any_operation() {
    let operations = survive(
        |dir| write(dir, &[10, 20, 30, 40]),
        |medium, dir| {
            let mut set = IndexSet::open(medium, dir)?;
            assert!(set.last() == 40 || set.last() < 40);
            set.merge_step().map(drop)
        },
        40,
    );
    assert!(operations > 20, "{operations} operations were interrupted");
}

#[test]
fn an_add_may_die_at_any_operation() {
    let operations = survive(
        |dir| write(dir, &[10, 20]),
        |medium, dir| {
            let mut set = IndexSet::open(medium, dir)?;
            let last = set.last();
            if last == 20 { set.add(build(21, 50), mark(50)) } else { Ok(()) }
        },
        20,
    );
    assert!(operations > 10, "{operations} operations were interrupted");
}
