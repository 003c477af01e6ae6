//! The stored bodies, compared with the rows that name them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Rows;
use super::index::{Comparison, IndexState};
use crate::error::{LogError, Result};
use crate::format::be64;
use crate::hash::Digest;
use crate::history::Chain;
use crate::index::IndexSet;
use crate::medium::SharedMedium;
use crate::objects::BodyReader;

/// A stretch of a pack that is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFault {
    /// The pack, relative to the store.
    pub file: String,
    /// Where.
    pub offset: u64,
    /// What is wrong, in one clause.
    pub what: String,
}

/// A purge that left stored bodies behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The row that purged.
    pub seq: u64,
    /// The memory.
    pub path: String,
    /// The bodies that are still there.
    pub bodies: Vec<Digest>,
}

/// How the stored bodies compare with the rows.
#[derive(Debug, Default)]
pub struct BodyState {
    /// For each body there is, whether it can be read: false where it was erased.
    pub stored: HashMap<Digest, bool>,
    /// Damage in the packs.
    pub faults: Vec<BodyFault>,
    /// The first row that wrote each version that is neither stored nor erased, in order.
    pub missing: Vec<(u64, Digest)>,
    /// Bodies that no row names.
    pub unreferenced: u64,
    /// Purges that left bodies behind.
    pub unfinished: Vec<Unfinished>,
    /// The index of the packs.
    pub index: IndexState,
}

impl BodyState {
    pub(super) fn read(medium: &SharedMedium, root: &Path, chain: &Chain, rows: &Rows) -> Result<Self> {
        let mut state = Self::default();
        state.read_packs(medium, root)?;
        let mut erased: HashSet<Digest> = HashSet::new();
        for purge in &rows.purges {
            let lineage = chain.lineage(&purge.path, purge.seq + 1)?;
            let mut bodies: Vec<Digest> =
                lineage.iter().copied().filter(|sha| state.outlived(rows, sha, purge.seq)).collect();
            erased.extend(lineage);
            bodies.sort_unstable();
            bodies.dedup();
            if !bodies.is_empty() {
                state.unfinished.push(Unfinished { seq: purge.seq, path: purge.path.clone(), bodies });
            }
        }
        state.spare_held(chain)?;
        let absent = rows.written.iter().filter(|(sha, _)| !state.stored.contains_key(*sha) && !erased.contains(*sha));
        state.missing = absent.map(|(sha, written)| (written.first_seq, *sha)).collect();
        state.missing.sort_unstable();
        let named = |sha: &Digest| rows.written.contains_key(sha) || *sha == Digest::ZERO;
        state.unreferenced = state.stored.iter().filter(|(sha, readable)| **readable && !named(sha)).count() as u64;
        Ok(state)
    }

    /// Takes out what living memories have or had: a program that purges without asking may have written the row, and the writer
    /// that carries its purge out spares them too.
    fn spare_held(&mut self, chain: &Chain) -> Result<()> {
        let mut bodies: Vec<Digest> = self.unfinished.iter().flat_map(|purge| purge.bodies.iter().copied()).collect();
        if bodies.is_empty() {
            return Ok(());
        }
        bodies.sort_unstable();
        let held: HashSet<Digest> = chain.holders(&bodies)?.into_values().flatten().collect();
        for purge in &mut self.unfinished {
            purge.bodies.retain(|sha| !held.contains(sha));
        }
        self.unfinished.retain(|purge| !purge.bodies.is_empty());
        Ok(())
    }

    /// Whether a body is still stored that the purge at `seq` should have erased. Written again since, it is another memory's;
    /// and a memory that lives keeps what it holds.
    fn outlived(&self, rows: &Rows, sha: &Digest, seq: u64) -> bool {
        let again = rows.written.get(sha).is_some_and(|written| written.last_seq > seq);
        let lives =
            || rows.memories.values().any(|version| Digest::from_hex(version.content_sha256.as_bytes()) == Some(*sha));
        self.stored.get(sha) == Some(&true) && !again && !lives()
    }

    fn read_packs(&mut self, medium: &SharedMedium, root: &Path) -> Result<()> {
        let folder = root.join("index").join("objects");
        let reader = BodyReader::open(medium.clone(), root.join("audit").join("objects"), folder.clone())?;
        let index = IndexSet::open(medium.clone(), folder)?;
        let mut comparison = Comparison::default();
        let mut last = 0;
        for stored in reader.iterate()? {
            match stored {
                Ok(stored) => {
                    let readable = self.stored.entry(stored.sha).or_insert(false);
                    *readable |= !stored.purged;
                    last = stored.seq;
                    if stored.seq <= index.last() && stored.sha != Digest::ZERO {
                        let key = be64(&stored.sha.0, 0).unwrap_or_default();
                        comparison.row(&index, stored.seq, stored.offset(), [(key, 0)]);
                    }
                }
                Err(LogError::Corrupt { file, offset, what, .. }) => self.faults.push(BodyFault { file, offset, what }),
                Err(error) => return Err(error),
            }
        }
        self.stored.remove(&Digest::ZERO);
        // Where frames are damaged, the index may know of them what the packs no longer say.
        let wrong = comparison.finish(&index).filter(|_| self.faults.is_empty());
        self.index = IndexState {
            rows: last,
            covered: index.last().min(last),
            foreign: if self.faults.is_empty() { index.last().saturating_sub(last) } else { 0 },
            unusable: index.unusable().map(str::to_owned).collect(),
            wrong,
        };
        Ok(())
    }
}
