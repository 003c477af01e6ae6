//! Verifying the log: frames, order, canonical payloads, links, hashes and the Merkle root, on all cores.
//!
//! Threads take turns reading batches of whole frames and check them apart; what joins one batch to the next (numbers, links,
//! subtrees) is checked when the results are put in order.

mod batch;
mod join;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use self::batch::{Checked, Checker};
use self::join::Joiner;
use super::peaks::Peaks;
use super::scan::Damage;
use super::{LogReader, Position};
use crate::error::Result;
use crate::hash::Digest;
use crate::segment::{Batch, BatchReader};

/// One thing that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the check that failed.
    pub check: &'static str,
    /// File, relative to the store.
    pub file: String,
    /// Offset of the frame in it.
    pub offset: u64,
    /// The row's number.
    pub seq: u64,
    /// What is wrong, in one clause.
    pub what: String,
}

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whole rows read.
    pub rows: u64,
    /// Bytes of their frames.
    pub bytes: u64,
    /// Segments read.
    pub segments: usize,
    /// Number and chain of the last whole row.
    pub last: Option<(u64, Digest)>,
    /// The Merkle tree over all payloads; `None` where it was not asked for or rows are missing.
    pub peaks: Option<Peaks>,
    /// A torn tail: unacknowledged bytes behind the last row. Not a fault; the next writer moves it aside.
    pub torn_tail: Option<Damage>,
    /// Everything that is wrong, in the order of the log, up to the bound.
    pub findings: Vec<Finding>,
    /// Whether there was more to find than the bound.
    pub truncated: bool,
}

/// What to verify.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Compute the Merkle tree as well.
    pub with_peaks: bool,
    /// Number of threads.
    pub threads: usize,
    /// Bound on the number of findings.
    pub most_findings: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { with_peaks: true, threads, most_findings: 1000 }
    }
}

/// Verifies the whole log. `progress` is called now and then, from the calling thread's scope, with the rows done so far;
/// it returns whether to go on.
pub fn verify(log: &LogReader, options: Options, progress: &(dyn Fn(u64) -> bool + Sync)) -> Result<Report> {
    let feeder = Mutex::new(Feeder::new(log)?);
    let joiner = Mutex::new(Joiner::new(log, options));
    let checker = Checker::new(log, options.with_peaks);
    let rows = AtomicU64::new(0);
    let work = || -> Result<()> {
        let mut batch = Batch::default();
        loop {
            let Some((order, item)) = feeder.lock().unwrap_or_else(PoisonError::into_inner).next(&mut batch)? else {
                return Ok(());
            };
            let part = match item {
                Item::Batch(place) => Part::Rows(checker.check(&batch, place)?),
                Item::Damage(damage) => Part::Damage(damage),
            };
            joiner.lock().unwrap_or_else(PoisonError::into_inner).add(order, part);
            let total = rows.fetch_add(batch.len() as u64, Ordering::Relaxed) + batch.len() as u64;
            if !progress(total) {
                return Err(crate::error::LogError::Interrupted);
            }
        }
    };
    std::thread::scope(|scope| -> Result<()> {
        let others: Vec<_> = (1..options.threads).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            result = result.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        result
    })?;
    joiner.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

enum Item {
    /// Place of the segment that the batch is from.
    Batch(usize),
    Damage(Damage),
}

/// Reads batches in order, one caller at a time.
struct Feeder<'l> {
    log: &'l LogReader,
    place: usize,
    reader: Option<BatchReader>,
    order: u64,
    pending: Option<Damage>,
}

impl<'l> Feeder<'l> {
    fn new(log: &'l LogReader) -> Result<Self> {
        let Position { place, offset, .. } = log.start();
        let reader =
            log.segments().get(place).map(|segment| BatchReader::new(segment, offset, segment.first_seq, None));
        Ok(Self { log, place, reader: reader.transpose()?, order: 0, pending: None })
    }

    fn next(&mut self, batch: &mut Batch) -> Result<Option<(u64, Item)>> {
        *batch = std::mem::take(batch).cleared();
        self.order += 1;
        if let Some(damage) = self.pending.take() {
            return Ok(Some((self.order, Item::Damage(damage))));
        }
        loop {
            let Some(reader) = &mut self.reader else { return Ok(None) };
            let stop = reader.read(batch)?;
            let place = self.place;
            if let Some(stop) = stop {
                let damage = self.log.damage_at(reader.segment(), self.place, stop)?;
                let segment = reader.segment().clone();
                match damage.next_seq {
                    Some(next) => self.reader = Some(BatchReader::new(&segment, damage.end, next, None)?),
                    None => self.open_next()?,
                }
                if batch.is_empty() {
                    return Ok(Some((self.order, Item::Damage(damage))));
                }
                self.pending = Some(damage);
            }
            if !batch.is_empty() {
                return Ok(Some((self.order, Item::Batch(place))));
            }
            self.open_next()?;
        }
    }

    fn open_next(&mut self) -> Result<()> {
        self.place += 1;
        let next = self.log.segments().get(self.place);
        let reader = next.map(|segment| BatchReader::new(segment, 0, segment.first_seq, None));
        self.reader = reader.transpose()?;
        Ok(())
    }
}

enum Part {
    Rows(Checked),
    Damage(Damage),
}
