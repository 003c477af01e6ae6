//! The Merkle tree over all payloads, as its peaks: RFC 6962's tree kept as a compact range.

use std::path::{Path, PathBuf};

use crate::error::{LogError, Result};
use crate::format::{self, frame};
use crate::hash::Digest;
use crate::medium::{Medium, Open};

/// Place of the file below `audit/`.
const DIR: &str = "mmr";
const NAME: &str = "peaks.bin";
const TEMPORARY: &str = "peaks.tmp";

/// Hash of one payload as a leaf (RFC 6962, 2.1).
pub fn leaf(payload: &[u8]) -> Digest {
    Digest::of(&[&[0], payload])
}

/// Hash of one payload as a leaf, and of another message.
pub fn leaf_and(payload: &[u8], other: &[&[u8]]) -> [Digest; 2] {
    Digest::of_two(&[&[0], payload], other)
}

/// Hash of two subtrees (RFC 6962, 2.1).
pub fn node(left: &Digest, right: &Digest) -> Digest {
    Digest::of(&[&[1], &left.0, &right.0])
}

/// The complete subtrees of a tree of `leaves` leaves, left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peaks {
    leaves: u64,
    peaks: Vec<(u32, Digest)>,
}

impl Peaks {
    /// Number of leaves.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// The subtrees as `(height, root)`, left to right.
    pub fn list(&self) -> &[(u32, Digest)] {
        &self.peaks
    }

    /// Adds one leaf.
    pub fn push(&mut self, leaf: Digest) {
        self.push_subtree(0, leaf);
    }

    /// Adds a complete subtree of 2^`height` leaves; the number of leaves so far is a multiple of that.
    pub fn push_subtree(&mut self, height: u32, root: Digest) {
        debug_assert!(self.leaves.trailing_zeros() >= height || self.leaves == 0, "the subtree is aligned");
        self.leaves += 1 << height;
        let (mut height, mut right) = (height, root);
        while let Some(&(left_height, left)) = self.peaks.last() {
            if left_height != height {
                break;
            }
            self.peaks.pop();
            right = node(&left, &right);
            height += 1;
        }
        self.peaks.push((height, right));
    }

    /// The tree's root; of an empty tree the hash of nothing.
    pub fn root(&self) -> Digest {
        let mut from_right = self.peaks.iter().rev().map(|(_, root)| *root);
        let Some(last) = from_right.next() else { return Digest::of(&[]) };
        from_right.fold(last, |right, left| node(&left, &right))
    }

    /// Whether the heights are those that the number of leaves demands.
    fn is_well_formed(&self) -> bool {
        let heights = (0..64).rev().filter(|bit| self.leaves & (1 << bit) != 0);
        heights.eq(self.peaks.iter().map(|(height, _)| *height))
    }

    /// Returns where the file lies.
    pub fn path(audit_dir: &Path) -> PathBuf {
        audit_dir.join(DIR).join(NAME)
    }

    /// Encodes `peaks.bin`.
    pub fn encode(&self) -> Vec<u8> {
        format::peaks::encode(self.leaves, &self.peaks)
    }

    /// Decodes `peaks.bin`; `None` where it is not well formed.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (leaves, peaks) = format::peaks::decode(bytes)?;
        Some(Self { leaves, peaks }).filter(|peaks| leaves < frame::MAX_SEQ && peaks.is_well_formed())
    }

    /// Reads `audit/mmr/peaks.bin`; `None` where it is missing or not well formed.
    pub fn read(medium: &dyn Medium, audit_dir: &Path) -> Result<Option<Self>> {
        let path = Self::path(audit_dir);
        let bytes = medium.read_head(&path, format::peaks::MAX_LEN + 1).map_err(LogError::io("read", path))?;
        Ok(bytes.and_then(|bytes| Self::decode(&bytes)))
    }

    /// Replaces `audit/mmr/peaks.bin`, without syncing: it can always be computed again.
    pub fn write(&self, medium: &dyn Medium, audit_dir: &Path) -> Result<()> {
        let dir = audit_dir.join(DIR);
        let (temporary, path) = (dir.join(TEMPORARY), dir.join(NAME));
        let write = || -> std::io::Result<()> {
            let bytes = self.encode();
            let file = match medium.open(&temporary, Open::Create) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    medium.create_dir_all(&dir)?;
                    medium.open(&temporary, Open::Create)?
                }
                other => other?,
            };
            file.set_len(0)?;
            file.write_all_at(&bytes, 0)?;
            medium.rename(&temporary, &path)
        };
        write().map_err(LogError::io("replace", &path))
    }
}

/// Returns the complete subtrees over consecutive leaves, the first of which stands behind `before` others, as
/// `(height, root)`, left to right.
pub fn subtrees(before: u64, leaves: Vec<Digest>) -> Vec<(u32, Digest)> {
    // A node whose sibling lies outside is the root of a subtree: at either edge at most one of each height.
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (mut first, mut level) = (before, leaves);
    for height in 0.. {
        let mut nodes = level.as_slice();
        if first % 2 == 1
            && let Some((outer, rest)) = nodes.split_first()
        {
            left.push((height, *outer));
            nodes = rest;
        }
        let (pairs, outer) = nodes.as_chunks::<2>();
        right.extend(outer.iter().map(|outer| (height, *outer)));
        if pairs.is_empty() {
            break;
        }
        first = first.div_ceil(2);
        level = parents(pairs);
    }
    left.into_iter().chain(right.into_iter().rev()).collect()
}

/// Hashes pairs of siblings.
fn parents(pairs: &[[Digest; 2]]) -> Vec<Digest> {
    let (twos, rest) = pairs.as_chunks::<2>();
    let twos = twos.iter().flat_map(|[[a, b], [c, d]]| Digest::of_two(&[&[1], &a.0, &b.0], &[&[1], &c.0, &d.0]));
    twos.chain(rest.iter().map(|[left, right]| node(left, right))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6962's definition, word for word.
    fn root_by_definition(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(&[]),
            [one] => *one,
            more => {
                let half = more.len().next_power_of_two() / 2;
                node(&root_by_definition(&more[..half]), &root_by_definition(&more[half..]))
            }
        }
    }

    #[test]
    fn peaks_fold_to_the_rfc_6962_root_at_every_size() {
        let mut peaks = Peaks::default();
        let mut leaves = Vec::new();
        assert_eq!(peaks.root(), root_by_definition(&leaves));
        for n in 0..130_u32 {
            let hash = leaf(&n.to_be_bytes());
            leaves.push(hash);
            peaks.push(hash);
            assert_eq!(peaks.root(), root_by_definition(&leaves), "at {} leaves", leaves.len());
            assert_eq!(Peaks::decode(&peaks.encode()), Some(peaks.clone()));
        }
    }

    #[test]
    fn subtrees_and_leaves_give_the_same_peaks() {
        let hashes: Vec<Digest> = (0..50_u8).map(|n| leaf(&[n])).collect();
        let mut by_leaf = Peaks::default();
        for &hash in &hashes {
            by_leaf.push(hash);
        }
        let mut by_tree = Peaks::default();
        for eight in hashes.chunks(8) {
            let mut part = Peaks::default();
            for &hash in eight {
                part.push(hash);
            }
            for &(height, root) in part.list() {
                by_tree.push_subtree(height, root);
            }
        }
        assert_eq!(by_tree, by_leaf);
    }

    #[test]
    fn stretches_of_any_length_give_the_same_peaks() {
        let hashes: Vec<Digest> = (0..70_u8).map(|n| leaf(&[n])).collect();
        for first in 0..hashes.len() {
            for second in first..hashes.len() {
                let (mut by_leaf, mut by_stretch) = (Peaks::default(), Peaks::default());
                for part in [&hashes[..first], &hashes[first..second], &hashes[second..]] {
                    for &hash in part {
                        by_leaf.push(hash);
                    }
                    let subtrees = subtrees(by_stretch.leaves(), part.to_vec());
                    assert!(subtrees.len() <= 2 * 7, "no more than the edges need");
                    for (height, root) in subtrees {
                        by_stretch.push_subtree(height, root);
                    }
                }
                assert_eq!(by_stretch, by_leaf);
            }
        }
    }

    #[test]
    fn a_file_with_the_wrong_heights_is_refused() {
        let mut peaks = Peaks::default();
        for n in 0..6_u8 {
            peaks.push(leaf(&[n]));
        }
        let mut bytes = peaks.encode();
        bytes[28] ^= 1;
        assert_eq!(Peaks::decode(&bytes), None);
    }
}
