//! An index, compared with what it is an index of.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use crate::error::Result;
use crate::history::Chain;
use crate::index::{IndexSet, Posting, key_of};
use crate::log::Event;
use crate::log::peaks::Peaks;
use crate::medium::SharedMedium;
use crate::row::Row;
use crate::tree::{self, Tree};

/// How an index compares with its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexState {
    /// Rows there are.
    pub rows: u64,
    /// Rows that the index covers, as far as it belongs to them.
    pub covered: u64,
    /// Rows that the index speaks of though they are not these: another log's, or of a state that was undone.
    pub foreign: u64,
    /// Names of files in the index's folder that cannot be used.
    pub unusable: Vec<String>,
    /// The first thing it says that is not so.
    pub wrong: Option<String>,
}

/// What all postings of one key come to, whatever their order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sum {
    count: u64,
    sum: u64,
}

impl Sum {
    fn add(&mut self, posting: Posting) {
        self.count += 1;
        let mut bytes = [0; 9];
        let (seq, class) = bytes.split_at_mut(8);
        seq.copy_from_slice(&posting.seq.to_be_bytes());
        class.fill(posting.class);
        self.sum = self.sum.wrapping_add(key_of(&bytes));
    }
}

/// Collects what an index should say, row by row, and compares.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    keys: HashMap<u64, Sum>,
    wrong: Option<String>,
}

impl Comparison {
    /// Takes one row that the index covers.
    pub(super) fn row(&mut self, index: &IndexSet, seq: u64, offset: u64, keys: impl IntoIterator<Item = (u64, u8)>) {
        for (key, class) in keys {
            self.keys.entry(key).or_default().add(Posting { seq, class });
        }
        if self.wrong.is_none() {
            self.wrong = match index.offset(seq) {
                Ok(Some(found)) if found == offset => None,
                Ok(found) => Some(format!("row {seq} begins at {offset}, not at {found:?}")),
                Err(unusable) => Some(unusable.to_string()),
            };
        }
    }

    /// Returns the first difference there was.
    pub(super) fn finish(self, index: &IndexSet) -> Option<String> {
        if self.wrong.is_some() {
            return self.wrong;
        }
        for (key, expected) in self.keys {
            let mut found = Sum::default();
            for posting in index.postings(key, u64::MAX) {
                match posting {
                    Ok(posting) => found.add(posting),
                    Err(unusable) => return Some(unusable.to_string()),
                }
            }
            if found != expected {
                return Some(format!(
                    "a key has {} rows, or others, where {} were expected",
                    found.count, expected.count
                ));
            }
        }
        None
    }
}

impl IndexState {
    /// Compares the path index with the log.
    pub(super) fn of_paths(medium: &SharedMedium, root: &Path, chain: &Chain) -> Result<Self> {
        let whole = IndexSet::open(medium.clone(), root.join("index").join("history"))?;
        let covered = chain.floor().seq - 1;
        let mut comparison = Comparison::default();
        let mut rows = 0;
        chain.log().scan(chain.log().start(), |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
            rows += 1;
            if frame.header.seq <= covered
                && let Ok(row) = Row::parse(frame.payload)
            {
                // A path that a row touches twice in different ways is one key with two classes, as when it was indexed.
                let keys = row.touches().map(|(path, touch)| (key_of(path.as_bytes()), touch.code()));
                comparison.row(chain.index(), frame.header.seq, frame.offset, keys);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self {
            rows,
            covered,
            foreign: whole.last().saturating_sub(covered),
            unusable: whole.unusable().map(str::to_owned).collect(),
            wrong: comparison.finish(chain.index()),
        })
    }

    /// Holds the tree's inner nodes against each other and against the peaks of the whole log.
    pub(super) fn of_tree(chain: &Chain, peaks: Option<&Peaks>) -> Result<Self> {
        let (covered, foreign) = Tree::open(chain)?.covered();
        let wrong = peaks.map_or(Ok(None), |peaks| tree::check(chain, peaks))?;
        Ok(Self { rows: chain.log().last_seq(), covered, foreign, unusable: Vec::new(), wrong })
    }
}
