//! A derived index over a log of rows numbered from 1: which rows carry a key, and where a row's frame is.
//!
//! It serves the audit log (a key is a memory path) and the body packs (a key is a body's digest) and knows neither: a
//! [`RunBuilder`] is given the offset and the keys of one row after the other. Rows are kept in immutable *runs*, one file each;
//! an [`IndexSet`] reads the runs that together cover rows `1..=last`, and [`Merge`] turns several into one, so that there
//! are O(log n) of them. There is no manifest: what the folder lists is all there is to know, and each run names the
//! *mark* (a digest that the caller vouches for) of its last row and of the row before its first, so that only runs of
//! one and the same log link up.
//!
//! Everything here can be deleted at any time. Damage is a value, [`Unusable`], that tells the caller to read the log instead.

mod build;
mod cache;
mod cover;
mod key;
mod merge;
mod run;
mod set;
mod stream;
mod write;

pub use build::RunBuilder;
pub use key::key_of;
pub use merge::{Merge, Merged};
pub use set::{IndexSet, Postings};

use std::path::PathBuf;

use crate::error::LogError;
use crate::format::run::{CLASS_BITS, PAGE};

/// One row that carries a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// The row.
    pub seq: u64,
    /// How it carries the key: the caller's code, below 16.
    pub class: u8,
}

impl Posting {
    const fn decode(word: u64) -> Self {
        Self { seq: word >> CLASS_BITS, class: (word & ((1 << CLASS_BITS) - 1)) as u8 }
    }
}

/// A run that cannot be used: damaged, cut short, of another version, or unreadable.
///
/// The answer is then in the log. A caller that may write removes the run with [`IndexSet::discard`] and indexes its rows anew.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("index run {} cannot be used (page {page}): {what}", path.display())]
pub struct Unusable {
    /// The run's file.
    pub path: PathBuf,
    /// Its first row.
    pub first: u64,
    /// The page in question.
    pub page: u64,
    /// What is wrong, in one clause.
    pub what: String,
    /// The page is as it was written, and makes no sense all the same.
    nonsense: bool,
}

impl From<Unusable> for LogError {
    fn from(unusable: Unusable) -> Self {
        let offset = unusable.page.saturating_mul(PAGE as u64);
        Self::corrupt(unusable.path.display().to_string(), offset, None, unusable.what)
    }
}
