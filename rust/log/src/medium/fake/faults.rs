//! What the fake medium counts, and where it fails on purpose.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of operation, as counted and as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Opening or creating a file.
    Open,
    /// `read_at`.
    Read,
    /// `write_at` and `set_len`.
    Write,
    /// Syncing a file or a folder.
    Sync,
    /// Renaming.
    Rename,
    /// Removing a file or a folder.
    Remove,
    /// Creating folders.
    CreateDir,
    /// `stat`, `len` and `list`.
    Look,
}

impl Op {
    /// Whether the operation can change what is on the disk. (An open may create a file.)
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Read | Self::Look)
    }
}

/// An error to inject.
#[derive(Debug, Clone)]
pub struct Fault {
    op: Option<Op>,
    path: Option<String>,
    nth: u64,
    kind: io::ErrorKind,
    partial: bool,
    lasting: bool,
}

impl Fault {
    /// Fails the `nth` operation of this kind from now on (1 is the next one) with [`io::ErrorKind::Other`], once.
    pub const fn nth(op: Op, nth: u64) -> Self {
        Self { op: Some(op), path: None, nth, kind: io::ErrorKind::Other, partial: false, lasting: false }
    }

    /// Fails the `nth` operation from now on that [changes](Op::changes) something.
    pub const fn nth_change(nth: u64) -> Self {
        Self { op: None, path: None, nth, kind: io::ErrorKind::Other, partial: false, lasting: false }
    }

    /// Fails with this kind of error.
    #[must_use]
    pub const fn kind(mut self, kind: io::ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Counts and fails only operations on paths that end like this.
    #[must_use]
    pub fn on(mut self, suffix: impl Into<String>) -> Self {
        self.path = Some(suffix.into());
        self
    }

    /// A failing write leaves the first half of its bytes, as a full disk does.
    #[must_use]
    pub const fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Every matching operation after the failing one fails too.
    #[must_use]
    pub const fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    fn matches(&self, op: Op, path: &Path) -> bool {
        self.op.map_or_else(|| op.changes(), |wanted| wanted == op)
            && self.path.as_ref().is_none_or(|end| path.to_string_lossy().ends_with(end))
    }
}

/// Why an operation fails.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: io::Error,
    /// Half of the write happens all the same.
    pub(super) partial: bool,
    /// The process has died, so that nothing at all happens any more.
    pub(super) dead: bool,
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

/// The faults still to come.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn check(&mut self, op: Op, path: &Path) -> Result<(), Failure> {
        let mut hit = None;
        self.0.retain_mut(|fault| {
            if !fault.matches(op, path) {
                return true;
            }
            fault.nth = fault.nth.saturating_sub(1);
            if fault.nth > 0 {
                return true;
            }
            let error = io::Error::new(fault.kind, "injected fault");
            hit.get_or_insert(Failure { error, partial: fault.partial, dead: false });
            fault.lasting
        });
        hit.map_or(Ok(()), Err)
    }
}

/// How often something was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files opened or created.
    pub opens: u64,
    /// Calls of `read_at`.
    pub reads: u64,
    /// Bytes those returned.
    pub bytes_read: u64,
    /// Calls of `write_at` and `set_len`.
    pub writes: u64,
    /// Bytes those wrote.
    pub bytes_written: u64,
    /// Syncs of the file or folder.
    pub syncs: u64,
}

/// [`Counts`] that many threads add to.
#[derive(Debug, Default)]
pub(super) struct Counters {
    calls: [AtomicU64; 4],
    bytes: [AtomicU64; 2],
}

impl Counters {
    pub(super) fn call(&self, op: Op) {
        let [opens, reads, writes, syncs] = &self.calls;
        let counter = match op {
            Op::Open => opens,
            Op::Read => reads,
            Op::Write => writes,
            Op::Sync => syncs,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn bytes_read(&self, bytes: usize) {
        self.bytes[0].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn bytes_written(&self, bytes: usize) {
        self.bytes[1].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn reset(&self) {
        for counter in self.calls.iter().chain(&self.bytes) {
            counter.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self) -> Counts {
        let [opens, reads, writes, syncs] = self.calls.each_ref().map(|n| n.load(Ordering::Relaxed));
        let [bytes_read, bytes_written] = self.bytes.each_ref().map(|n| n.load(Ordering::Relaxed));
        Counts { opens, reads, bytes_read, writes, bytes_written, syncs }
    }
}

/// Counters by path.
pub(super) type PerPath = BTreeMap<PathBuf, Arc<Counters>>;

/// Sums the counts of every path that ends in `suffix`.
pub(super) fn sum(all: &PerPath, suffix: &str) -> Counts {
    let mut total = Counts::default();
    for (_, counters) in all.iter().filter(|(path, _)| path.to_string_lossy().ends_with(suffix)) {
        let one = counters.get();
        total.opens += one.opens;
        total.reads += one.reads;
        total.bytes_read += one.bytes_read;
        total.writes += one.writes;
        total.bytes_written += one.bytes_written;
        total.syncs += one.syncs;
    }
    total
}
