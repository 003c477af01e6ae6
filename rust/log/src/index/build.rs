//! Building a run in memory.

use std::path::Path;

use super::cover::Span;
use super::write::{Plan, RunWriter};
use crate::error::{LogError, Result};
use crate::format::run::{CLASS_BITS, OFFSET_END};
use crate::hash::Digest;
use crate::medium::Medium;

/// Collects rows in memory, 8 bytes a row and 16 a key of a row, and writes them as a run.
#[derive(Debug)]
pub struct RunBuilder {
    first: u64,
    before: Digest,
    offsets: Vec<u64>,
    /// `(key, posting)`
    postings: Vec<(u64, u64)>,
    out_of_range: bool,
}

impl RunBuilder {
    /// Begins a run with row `first` (at least 1). `before` is the mark of the row before it: [`Digest::ZERO`] before row 1.
    pub const fn new(first: u64, before: Digest) -> Self {
        Self { first, before, offsets: Vec::new(), postings: Vec::new(), out_of_range: false }
    }

    /// Adds the next row: the offset of its frame (below 2^40) and its keys, each with a class (below 16).
    ///
    /// What is out of range makes [`RunBuilder::finish`] fail. A key given twice with one class counts once.
    pub fn push(&mut self, offset: u64, keys: impl IntoIterator<Item = (u64, u8)>) {
        let seq = self.first + self.offsets.len() as u64;
        self.out_of_range |= offset >= OFFSET_END;
        self.offsets.push(offset);
        for (key, class) in keys {
            self.out_of_range |= class >> CLASS_BITS != 0;
            self.postings.push((key, (seq << CLASS_BITS) | u64::from(class)));
        }
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there are no rows yet.
    pub const fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Returns the first row.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Returns the mark of the row before the first.
    pub const fn before(&self) -> Digest {
        self.before
    }

    /// Returns the last row; one less than the first where there is none.
    pub const fn last(&self) -> u64 {
        self.first + self.offsets.len() as u64 - 1
    }

    /// Writes the run into folder `dir`, over one with the same rows. `mark` is the mark of the last row.
    ///
    /// Not synced: a run that a loss of power damages is indexed anew.
    pub fn finish(mut self, medium: &dyn Medium, dir: &Path, mark: Digest) -> Result<()> {
        let last_seq = (1 << (u64::BITS - CLASS_BITS)) - 1;
        if self.is_empty() || self.first == 0 || self.last() > last_seq || self.out_of_range {
            return Err(LogError::Invalid(format!(
                "rows from {} cannot be indexed: none, or a row number, offset or class out of range",
                self.first
            )));
        }
        self.postings.sort_unstable();
        self.postings.dedup();
        let plan = Plan {
            span: Span { first: self.first, last: self.last() },
            before: self.before,
            mark,
            postings: self.postings.len() as u64,
            keys: self.postings.chunk_by(same_key).count() as u64,
        };
        if u32::try_from(plan.postings).is_err() {
            return Err(LogError::Invalid(format!("{} postings are too many for one run", plan.postings)));
        }
        let mut writer = RunWriter::create(medium, dir, &plan)?;
        for offset in self.offsets {
            writer.offset(offset)?;
        }
        for group in self.postings.chunk_by(same_key) {
            if let Some((key, _)) = group.first() {
                writer.key(*key, u32::try_from(group.len()).unwrap_or(u32::MAX))?;
            }
            for (_, word) in group {
                writer.posting(*word)?;
            }
        }
        writer.publish(false)
    }
}

const fn same_key(left: &(u64, u64), right: &(u64, u64)) -> bool {
    left.0 == right.0
}
