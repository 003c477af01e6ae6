//! The Merkle tree over all payloads, of which [`crate::log::peaks`] keeps only the right edge: roots of any size, and proofs.
//!
//! The roots of complete subtrees of 256 rows and more are kept in `index/tree/`: 68 bytes for 256 rows. It is derived, and
//! nothing here depends on it but speed: what it lacks, or has damaged, is computed from the rows. What it says of another log
//! (an older state of the store that was put back, and went on differently) is told by the chain value in each record.

mod nodes;
mod proof;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

pub use self::proof::{Subtrees, includes, is_consistent};

use self::nodes::{Nodes, fold};
use crate::error::{LogError, Result};
use crate::format::tree::{BITS, Record, WIDTH};
use crate::hash::Digest;
use crate::history::Chain;
use crate::log::Event;
use crate::log::peaks::{Peaks, leaf};
use crate::row::Row;
use crate::segment::Frame;

/// Subtrees of level 1 whose leaves are held at once: those at the edges of a proof.
const MOST_LEAVES: usize = 8;

/// The tree of one log as it is now.
#[derive(Debug)]
pub struct Tree<'c> {
    chain: &'c Chain,
    nodes: Option<Nodes>,
    /// Subtrees of level 1 that the file has of this log.
    known: u64,
    /// Those behind, as far as they were needed.
    computed: Vec<Digest>,
    /// How many subtrees of level 1 are going to be needed.
    wanted: u64,
    leaves: BTreeMap<u64, Vec<Digest>>,
}

impl<'c> Tree<'c> {
    /// Opens the tree of a log. Never writes.
    pub fn open(chain: &'c Chain) -> Result<Self> {
        let nodes = Nodes::open(chain.log().segments().medium().as_ref(), &dir(chain))?;
        let mut tree = Self { nodes, ..Self::of_rows(chain) };
        tree.known = tree.find_known()?;
        Ok(tree)
    }

    /// The tree as the rows alone say it is.
    pub fn of_rows(chain: &'c Chain) -> Self {
        Self { chain, nodes: None, known: 0, computed: Vec::new(), wanted: 0, leaves: BTreeMap::new() }
    }

    /// How many rows the file covers, and how many it speaks of that are not this log's.
    pub fn covered(&self) -> (u64, u64) {
        let all = self.nodes.as_ref().map_or(0, |nodes| nodes.blocks).min(self.chain.log().last_seq() / WIDTH);
        (self.known * WIDTH, (all - self.known) * WIDTH)
    }

    /// Returns the root of the tree of the first `size` rows; of none, the hash of nothing.
    pub fn root(&mut self, size: u64) -> Result<Digest> {
        self.want(size, size)?;
        let root = proof::root(self, size)?;
        // The peaks are made from the rows as they are written, apart from the file.
        let (medium, audit) = (self.chain.log().segments().medium(), self.chain.log().segments().dir());
        let peaks = Peaks::read(medium.as_ref(), audit)?;
        if self.known == 0 || peaks.is_none_or(|peaks| peaks.leaves() != size || peaks.root() == root) {
            return Ok(root);
        }
        *self = Self::of_rows(self.chain);
        self.root(size)
    }

    /// Returns the proof that row `seq` is in the tree of the first `size` rows: hashes from the leaf's sibling upwards.
    pub fn inclusion(&mut self, seq: u64, size: u64) -> Result<Vec<Digest>> {
        self.want(size, size)?;
        if seq == 0 || seq > size {
            return Err(LogError::Invalid(format!("row {seq} is not among the first {size}")));
        }
        proof::inclusion(self, seq - 1, size)
    }

    /// Returns the proof that the tree of the first `old` rows is the beginning of that of the first `new`.
    pub fn consistency(&mut self, old: u64, new: u64) -> Result<Vec<Digest>> {
        self.want(old, new)?;
        // The empty tree is the beginning of each.
        if old == 0 { Ok(Vec::new()) } else { proof::consistency(self, old, new) }
    }

    /// Refuses sizes that the log does not have.
    fn want(&mut self, old: u64, new: u64) -> Result<()> {
        let last = self.chain.log().last_seq();
        if old > new || new > last {
            let size = if new > last { new } else { old };
            return Err(LogError::Invalid(format!("there is no tree of {size} rows among {}", new.min(last))));
        }
        self.wanted = new / WIDTH;
        Ok(())
    }

    /// Returns how many subtrees of level 1 the file has of this log.
    ///
    /// Whoever writes the file does this first, so that where one record is this log's all before it are.
    fn find_known(&self) -> Result<u64> {
        let Some(nodes) = &self.nodes else { return Ok(0) };
        let (mut blocks, mut step) = (nodes.blocks.min(self.chain.log().last_seq() / WIDTH), 1);
        while let Some(last) = blocks.checked_sub(1) {
            let record = nodes.get(1, last)?;
            if record.is_some_and(|record| self.chain_of(blocks * WIDTH).is_ok_and(|chain| chain == Some(record.mark)))
            {
                return Ok(blocks);
            }
            blocks = blocks.saturating_sub(step);
            step *= 2;
        }
        Ok(0)
    }

    /// Returns the chain value of a row.
    fn chain_of(&self, seq: u64) -> Result<Option<Digest>> {
        let mut found = None;
        each_row(self.chain, seq, seq, |frame| {
            found = Row::parse(frame.payload).ok().map(|row| row.chain());
        })?;
        Ok(found)
    }

    /// Returns the leaves of a subtree of level 1, as many as there are.
    fn leaves_of(&mut self, block: u64) -> Result<&[Digest]> {
        if !self.leaves.contains_key(&block) {
            if self.leaves.len() >= MOST_LEAVES {
                self.leaves.clear();
            }
            let (first, last) = (block * WIDTH + 1, ((block + 1) * WIDTH).min(self.chain.log().last_seq()));
            let mut leaves = Vec::new();
            each_row(self.chain, first, last, |frame| leaves.push(leaf(frame.payload)))?;
            self.leaves.insert(block, leaves);
        }
        Ok(self.leaves.get(&block).map(Vec::as_slice).unwrap_or_default())
    }

    /// Returns the roots of `count` subtrees of `level` from `first` on, which lie in one of the next level.
    fn roots_of(&mut self, level: u32, first: u64, count: u64) -> Result<Vec<Digest>> {
        let mut found = Vec::new();
        if level == 1 {
            let in_file = self.known.clamp(first, first + count) - first;
            let records = match &self.nodes {
                Some(nodes) if in_file > 0 => nodes.get_blocks(first, in_file)?,
                _ => Vec::new(),
            };
            for (block, record) in (first..).zip(records) {
                found.push(match record {
                    Some(record) => record.hash,
                    None => fold(self.leaves_of(block)?.to_vec()),
                });
            }
            for block in first + in_file..first + count {
                found.push(self.computed(block)?);
            }
            return Ok(found);
        }
        for index in first..first + count {
            let last_block = ((index + 1) << (BITS * (level - 1))) - 1;
            let record = match &self.nodes {
                Some(nodes) if last_block < self.known => nodes.get(level, index)?,
                _ => None,
            };
            found.push(match record {
                Some(record) => record.hash,
                None => fold(self.roots_of(level - 1, index << BITS, WIDTH)?),
            });
        }
        Ok(found)
    }

    /// Returns the root of a subtree of level 1 behind those in the file; reads all that will be needed in one go.
    fn computed(&mut self, block: u64) -> Result<Digest> {
        let at = usize::try_from(block - self.known).unwrap_or(usize::MAX);
        if at >= self.computed.len() {
            let next = self.known + self.computed.len() as u64;
            let to = self.wanted.max(block + 1);
            let computed = &mut self.computed;
            each_block(self.chain, next, to, |record| computed.push(record.hash))?;
        }
        let missing = || LogError::corrupt("audit", 0, Some(block * WIDTH + 1), "rows are missing");
        self.computed.get(at).copied().ok_or_else(missing)
    }
}

impl Subtrees for Tree<'_> {
    fn root_of(&mut self, height: u32, index: u64) -> Result<Digest> {
        let level = height / BITS;
        if level > 0 {
            let low = height - level * BITS;
            return Ok(fold(self.roots_of(level, index << low, 1 << low)?));
        }
        let first = index << height;
        let at = usize::try_from(first % WIDTH).unwrap_or(0);
        let leaves = self.leaves_of(first / WIDTH)?.get(at..at + (1 << height));
        let missing = || LogError::corrupt("audit", 0, Some(first + 1), "rows are missing");
        Ok(fold(leaves.ok_or_else(missing)?.to_vec()))
    }
}

/// Adds what is not in the file yet; returns how many rows it covers. The caller holds the store's lock.
pub fn extend(chain: &Chain) -> Result<u64> {
    let mut tree = Tree::open(chain)?;
    let blocks = chain.log().last_seq() / WIDTH;
    let (known, mut added) = (tree.known, Vec::new());
    let mut marks = Vec::new();
    each_block(chain, known, blocks, |record| {
        tree.computed.push(record.hash);
        marks.push(record);
    })?;
    tree.wanted = blocks;
    for (block, record) in (known..).zip(marks) {
        added.push(record);
        let mut level = 1;
        while (block + 1) % (1 << (BITS * level)) == 0 {
            let hash = tree.root_of(BITS * (level + 1), block >> (BITS * level))?;
            added.push(Record { hash, mark: record.mark });
            level += 1;
        }
    }
    let there = tree.nodes.as_ref().map_or(0, |nodes| nodes.blocks);
    if !added.is_empty() || there > known {
        nodes::append(chain.log().segments().medium().as_ref(), &dir(chain), tree.nodes.as_ref(), known, &added)?;
    }
    Ok(blocks * WIDTH)
}

/// Makes the file anew from the rows. The caller holds the store's lock.
pub fn rebuild(chain: &Chain) -> Result<u64> {
    nodes::remove(chain.log().segments().medium().as_ref(), &dir(chain))?;
    extend(chain)
}

/// Holds every record of the file against the others, and against the peaks of the whole log; returns what is wrong.
pub fn check(chain: &Chain, peaks: &Peaks) -> Result<Option<String>> {
    let tree = Tree::open(chain)?;
    let Some(nodes) = &tree.nodes else { return Ok(None) };
    let mut found = Peaks::default();
    for block in 0..tree.known {
        let Some(record) = nodes.get(1, block)? else {
            return Ok(Some(format!("the record of block {block} is damaged")));
        };
        found.push_subtree(BITS, record.hash);
        let mut level = 1;
        while (block + 1) % (1 << (BITS * level)) == 0 {
            let (index, height) = (block >> (BITS * level), BITS * (level + 1));
            let upper = nodes.get(level + 1, index)?.map(|record| record.hash);
            let lower = (0..WIDTH).map(|n| Ok(nodes.get(level, (index << BITS) + n)?.map(|record| record.hash)));
            let lower = lower.collect::<Result<Option<Vec<_>>>>()?;
            if upper.is_none() || upper != lower.map(fold) {
                return Ok(Some(format!("the record of subtree {index} of height {height} is wrong")));
            }
            level += 1;
        }
    }
    each_row(chain, tree.known * WIDTH + 1, peaks.leaves(), |frame| found.push(leaf(frame.payload)))?;
    Ok((found != *peaks).then(|| "its hashes are not those of the rows".into()))
}

/// Returns the roots of the trees of these sizes, in their order, from the rows alone: what a check may rely on.
pub fn roots(chain: &Chain, sizes: &[u64]) -> Result<Vec<Digest>> {
    let most = sizes.iter().copied().max().unwrap_or(0);
    if most > chain.log().last_seq() {
        return Err(LogError::Invalid(format!("there is no tree of {most} rows among {}", chain.log().last_seq())));
    }
    let mut peaks = Peaks::default();
    let mut found = BTreeMap::from([(0, peaks.root())]);
    let wanted: std::collections::BTreeSet<u64> = sizes.iter().copied().collect();
    each_row(chain, 1, most, |frame| {
        peaks.push(leaf(frame.payload));
        if wanted.contains(&peaks.leaves()) {
            found.insert(peaks.leaves(), peaks.root());
        }
    })?;
    Ok(sizes.iter().map(|size| found.get(size).copied().unwrap_or_default()).collect())
}

/// Returns the bytes of a row.
pub fn payload(chain: &Chain, seq: u64) -> Result<Vec<u8>> {
    if seq == 0 || seq > chain.log().last_seq() {
        return Err(LogError::NotFound(format!("row {seq} is not in the log")));
    }
    let mut payload = Vec::new();
    each_row(chain, seq, seq, |frame| payload.extend_from_slice(frame.payload))?;
    Ok(payload)
}

fn dir(chain: &Chain) -> PathBuf {
    let audit = chain.log().segments().dir();
    audit.parent().unwrap_or(audit).join("index").join("tree")
}

/// Calls `visit` for the subtrees `first..end` of level 1.
fn each_block(chain: &Chain, first: u64, end: u64, mut visit: impl FnMut(Record)) -> Result<()> {
    let mut leaves = Vec::new();
    each_row(chain, first * WIDTH + 1, end * WIDTH, |frame| {
        leaves.push(leaf(frame.payload));
        if leaves.len() as u64 == WIDTH {
            let mark = Row::parse(frame.payload).map_or(Digest::ZERO, |row| row.chain());
            visit(Record { hash: fold(std::mem::take(&mut leaves)), mark });
        }
    })
}

/// Calls `visit` for each of the rows `first..=last`; an error where one is missing or damaged.
fn each_row(chain: &Chain, first: u64, last: u64, mut visit: impl FnMut(&Frame<'_>)) -> Result<()> {
    if first > last {
        return Ok(());
    }
    let (mut next, mut met) = (first, None);
    chain.log().scan(chain.position_of(first)?, |event| {
        match event {
            Event::Frame(_, frame) if frame.header.seq == next => {
                visit(&frame);
                next += 1;
            }
            Event::Frame(_, frame) if frame.header.seq > next => return Ok(ControlFlow::Break(())),
            Event::Frame(..) => {}
            Event::Damage(damage) => met = Some(damage),
        }
        Ok(if next > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if next > last {
        return Ok(());
    }
    Err(met.map_or_else(|| LogError::corrupt("audit", 0, Some(next), "the row is missing"), |damage| damage.error()))
}
