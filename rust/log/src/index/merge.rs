//! Turning several runs into one.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Unusable;
use super::cover::Span;
use super::run::Run;
use super::set::IndexSet;
use super::stream::{Keys, Records};
use super::write::{Plan, RunWriter};
use crate::error::{LogError, Result};
use crate::format::run::Key;
use crate::medium::SharedMedium;

/// Runs of fewer rows than eight times this are of the lowest level.
const LOWEST: u64 = 1024;
/// How much larger the runs of a level are than those of the next lower one, as a power of two.
const GROWTH: u32 = 3;
/// Runs of one level at most. Every run costs each opening of a store about 6 µs.
const PER_LEVEL: usize = 1;
/// A merged run of this many rows or more is made durable before what went into it is removed: to lose it would cost a scan of
/// much of the log. A smaller one is not worth two syncs.
const DURABLE: u64 = 1 << 16;

/// A merge that is due: owned, so that it can be run on any thread, with or without the store's lock.
///
/// Nothing that it does disturbs readers, and two processes may do the same merge at once.
#[derive(Debug)]
pub struct Merge {
    medium: SharedMedium,
    dir: PathBuf,
    inputs: Vec<Arc<Run>>,
}

/// What became of a merge.
#[derive(Debug)]
pub enum Merged {
    /// One run took the place of several.
    Published,
    /// One of them cannot be used, and nothing was changed. See [`IndexSet::discard`].
    Damaged(Unusable),
}

/// A fault of the run being read, or of the one being written.
enum Fault {
    Input(Unusable),
    Output(LogError),
}

impl From<Unusable> for Fault {
    fn from(unusable: Unusable) -> Self {
        Self::Input(unusable)
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self::Output(error)
    }
}

impl Merge {
    pub(super) fn due(medium: &SharedMedium, dir: &Path, runs: &[Arc<Run>]) -> Option<Self> {
        let rows: Vec<u64> = runs.iter().map(|run| run.header().rows()).collect();
        let inputs = runs.get(choose(&rows)?)?.to_vec();
        let postings: u64 = inputs.iter().map(|run| run.header().postings).sum();
        u32::try_from(postings).is_ok().then(|| Self { medium: Arc::clone(medium), dir: dir.to_owned(), inputs })
    }

    /// Returns the number of rows to be copied, which is what the merge costs.
    pub fn rows(&self) -> u64 {
        self.inputs.iter().map(|run| run.header().rows()).sum()
    }

    /// Merges, through buffers of a few hundred kilobytes whatever the size, and removes what has become superfluous.
    pub fn run(self) -> Result<Merged> {
        match self.write() {
            Ok(()) => {}
            Err(Fault::Input(unusable)) => return Ok(Merged::Damaged(unusable)),
            Err(Fault::Output(error)) => return Err(error),
        }
        // Only what a fresh look at the folder makes superfluous goes: another process may have changed it meanwhile.
        IndexSet::open(self.medium, self.dir)?.remove_leftovers()?;
        Ok(Merged::Published)
    }

    fn write(&self) -> Result<(), Fault> {
        let (Some(oldest), Some(newest)) = (self.inputs.first(), self.inputs.last()) else { return Ok(()) };
        let mut keys = 0;
        self.merge_keys(|_, _| {
            keys += 1;
            Ok(())
        })?;
        let plan = Plan {
            span: Span { first: oldest.header().first, last: newest.header().last },
            before: oldest.header().before,
            mark: newest.header().mark,
            postings: self.inputs.iter().map(|run| run.header().postings).sum(),
            keys,
        };
        let mut writer = RunWriter::create(&*self.medium, &self.dir, &plan)?;
        for run in &self.inputs {
            let mut offsets = Records::offsets(run);
            for _ in 0..run.header().rows() {
                writer.offset(offsets.next()?)?;
            }
        }
        let mut postings: Vec<Records> = self.inputs.iter().map(|run| Records::postings(run)).collect();
        self.merge_keys(|key, counts| {
            writer.key(key, counts.iter().fold(0, |sum, count| sum.saturating_add(*count)))?;
            // Older runs first: then the postings of the key are in order.
            for (input, count) in postings.iter_mut().zip(counts) {
                for _ in 0..*count {
                    writer.posting(input.next()?)?;
                }
            }
            Ok(())
        })?;
        Ok(writer.publish(self.rows() >= DURABLE)?)
    }

    /// Visits the keys of all inputs in order, each with the number of postings it has in every input.
    fn merge_keys(&self, mut visit: impl FnMut(u64, &[u32]) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut streams: Vec<Keys> = self.inputs.iter().map(|run| Keys::new(run)).collect();
        let mut heads: Vec<Option<Key>> = streams.iter_mut().map(Keys::next).collect::<Result<_, _>>()?;
        let mut counts = vec![0; heads.len()];
        while let Some(key) = heads.iter().flatten().map(|head| head.key).min() {
            for ((head, stream), count) in heads.iter_mut().zip(&mut streams).zip(&mut counts) {
                *count = match head {
                    Some(entry) if entry.key == key => {
                        let postings = entry.count;
                        *head = stream.next()?;
                        postings
                    }
                    _ => 0,
                };
            }
            visit(key, &counts)?;
        }
        Ok(())
    }
}

/// Chooses the runs to merge, given their rows, oldest first.
///
/// Sizes are in levels that grow by a factor of eight. Levels must fall from the oldest run to the newest; then there are
/// O(log n) runs, and a row is copied O(log n) times. See docs/decisions/0014.
fn choose(rows: &[u64]) -> Option<Range<usize>> {
    let levels: Vec<u32> = rows.iter().map(|rows| level(*rows)).collect();
    // A run with a larger one behind it goes into that one.
    for (at, own) in levels.iter().enumerate() {
        if let Some(end) = levels.iter().rposition(|level| level > own).filter(|end| *end > at) {
            return Some(at..end + 1);
        }
    }
    let mut end = levels.len();
    for group in levels.chunk_by(u32::eq).rev() {
        let start = end - group.len();
        if group.len() > PER_LEVEL {
            return Some(with_older(rows, &levels, start, end)..end);
        }
        end = start;
    }
    None
}

/// Returns where a merge of `start..end` had better begin: its result may be one too many where it belongs, or larger than
/// what lies before it, and then that goes into the same merge.
fn with_older(rows: &[u64], levels: &[u32], mut start: usize, end: usize) -> usize {
    loop {
        let result = level(rows.get(start..end).unwrap_or(&[]).iter().sum());
        let older = levels.get(..start).unwrap_or(&[]).iter().rev();
        let smaller = older.clone().take_while(|level| **level < result).count();
        let equal = older.skip(smaller).take_while(|level| **level == result).count();
        match smaller + if equal < PER_LEVEL { 0 } else { equal } {
            0 => return start,
            more => start -= more,
        }
    }
}

/// Returns the level of a run.
fn level(rows: u64) -> u32 {
    (rows / LOWEST).max(1).ilog2() / GROWTH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds runs of the given sizes, merging whatever is due, and returns the most runs there ever were and the rows copied.
    fn simulate(sizes: impl Iterator<Item = u64>) -> (usize, u64, u64) {
        let (mut runs, mut most, mut copied, mut total) = (Vec::new(), 0, 0, 0);
        for size in sizes {
            runs.push(size);
            total += size;
            while let Some(range) = choose(&runs) {
                assert!(range.len() > 1, "{runs:?} {range:?}");
                let merged: u64 = runs[range.clone()].iter().sum();
                copied += merged;
                runs.splice(range, [merged]);
            }
            most = most.max(runs.len());
        }
        (most, copied, total)
    }

    #[test]
    fn runs_stay_few_and_rows_are_copied_seldom() {
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 33
        };
        let even = simulate((0..10_000).map(|_| 1024));
        let mixed = simulate((0..20_000).map(|n| if n % 1000 == 999 { 300_000 } else { 1 + random() % 5000 }));
        let rising = simulate((0..20).map(|n| 1 << n));
        for (most, copied, total) in [even, mixed, rising] {
            let levels = u64::from(level(total)) + 1;
            assert!(most as u64 <= levels + 1, "{most} runs, {levels} levels");
            assert!(copied <= total * 4 * levels, "{copied} rows copied of {total}, {levels} levels");
        }
    }

    #[test]
    fn nothing_is_due_while_levels_fall() {
        assert_eq!(choose(&[]), None);
        assert_eq!(choose(&[5]), None);
        assert_eq!(choose(&[5, 5]), Some(0..2));
        assert_eq!(choose(&[9000, 5]), None);
        assert_eq!(choose(&[9000, 5, 5]), Some(1..3));
        assert_eq!(choose(&[5, 9000]), Some(0..2));
        assert_eq!(choose(&[600_000, 60_000, 50_000, 20_000]), Some(1..4), "one merge, not two");
    }
}
