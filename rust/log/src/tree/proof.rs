//! Proofs over the Merkle tree (RFC 9162, 2.1.3 and 2.1.4), made from the roots of complete subtrees, and checked.

use crate::error::Result;
use crate::hash::Digest;
use crate::log::peaks::node;

/// Where the roots of complete subtrees come from.
pub trait Subtrees {
    /// Returns the root over the 2^`height` leaves from leaf `index` * 2^`height` on, counted from 0.
    fn root_of(&mut self, height: u32, index: u64) -> Result<Digest>;
}

/// The largest power of two below `leaves`, which is at least 2.
const fn split(leaves: u64) -> u64 {
    1 << (leaves - 1).ilog2()
}

/// Returns the root over leaves `low..high`; `low` is where a subtree of the tree begins.
fn root_over(tree: &mut impl Subtrees, low: u64, high: u64) -> Result<Digest> {
    let leaves = high - low;
    if leaves.is_power_of_two() {
        return tree.root_of(leaves.ilog2(), low / leaves);
    }
    let middle = low + split(leaves);
    Ok(node(&root_over(tree, low, middle)?, &root_over(tree, middle, high)?))
}

/// Returns the root of the tree of the first `size` leaves; of none, the hash of nothing.
pub fn root(tree: &mut impl Subtrees, size: u64) -> Result<Digest> {
    if size == 0 { Ok(Digest::of(&[])) } else { root_over(tree, 0, size) }
}

/// Returns the proof that leaf `index`, below `size`, is in the tree of the first `size` leaves: from the leaf's sibling up.
pub fn inclusion(tree: &mut impl Subtrees, index: u64, size: u64) -> Result<Vec<Digest>> {
    let (mut low, mut high, mut path) = (0, size, Vec::new());
    while high - low > 1 {
        let middle = low + split(high - low);
        if index < middle {
            path.push(root_over(tree, middle, high)?);
            high = middle;
        } else {
            path.push(root_over(tree, low, middle)?);
            low = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// Returns the proof that the tree of the first `old` leaves is the beginning of that of the first `new`; 1 <= `old` <= `new`.
pub fn consistency(tree: &mut impl Subtrees, old: u64, new: u64) -> Result<Vec<Digest>> {
    let (mut low, mut high, mut path) = (0, new, Vec::new());
    while old != high {
        let middle = low + split(high - low);
        if old <= middle {
            path.push(root_over(tree, middle, high)?);
            high = middle;
        } else {
            path.push(root_over(tree, low, middle)?);
            low = middle;
        }
    }
    // The old tree itself is what the verifier knows.
    if low > 0 {
        path.push(root_over(tree, low, high)?);
    }
    path.reverse();
    Ok(path)
}

/// Whether `path` proves that leaf `index` with hash `leaf` is in the tree of `size` leaves with that root (RFC 9162, 2.1.3.2).
pub fn includes(index: u64, size: u64, leaf: Digest, path: &[Digest], root: Digest) -> bool {
    if index >= size {
        return false;
    }
    let (mut place, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if place % 2 == 1 || place == last {
            hash = node(sibling, &hash);
            while place % 2 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            hash = node(&hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    last == 0 && hash == root
}

/// Whether `path` proves that the tree of `new` leaves begins with that of `old` (RFC 9162, 2.1.4.2).
pub fn is_consistent(old: u64, old_root: Digest, new: u64, new_root: Digest, path: &[Digest]) -> bool {
    if old == new || old == 0 {
        let known = if old == 0 { Digest::of(&[]) } else { new_root };
        return old <= new && path.is_empty() && old_root == known;
    }
    if old > new {
        return false;
    }
    let (mut place, mut last) = (old - 1, new - 1);
    while place % 2 == 1 {
        (place, last) = (place >> 1, last >> 1);
    }
    let mut path = path.iter();
    let first = if old.is_power_of_two() { Some(&old_root) } else { path.next() };
    let Some(&first) = first else { return false };
    let (mut then, mut now) = (first, first);
    for sibling in path {
        if last == 0 {
            return false;
        }
        if place % 2 == 1 || place == last {
            then = node(sibling, &then);
            now = node(sibling, &now);
            while place % 2 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            now = node(&now, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    last == 0 && then == old_root && now == new_root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::peaks::leaf;

    /// Leaves in memory, and RFC 9162's definitions word for word.
    struct Leaves(Vec<Digest>);

    impl Subtrees for Leaves {
        fn root_of(&mut self, height: u32, index: u64) -> Result<Digest> {
            let (from, to) = (index << height, (index + 1) << height);
            Ok(mth(&self.0[usize::try_from(from).unwrap()..usize::try_from(to).unwrap()]))
        }
    }

    fn half(leaves: &[Digest]) -> usize {
        leaves.len().next_power_of_two() / 2
    }

    fn mth(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(&[]),
            [one] => *one,
            more => node(&mth(&more[..half(more)]), &mth(&more[half(more)..])),
        }
    }

    fn path(m: usize, leaves: &[Digest]) -> Vec<Digest> {
        if leaves.len() == 1 {
            return Vec::new();
        }
        let (left, right) = leaves.split_at(half(leaves));
        let (mut path, last) =
            if m < left.len() { (path(m, left), mth(right)) } else { (path(m - left.len(), right), mth(left)) };
        path.push(last);
        path
    }

    fn subproof(m: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
        if m == leaves.len() {
            return if whole { Vec::new() } else { vec![mth(leaves)] };
        }
        let (left, right) = leaves.split_at(half(leaves));
        let (mut path, last) = if m <= left.len() {
            (subproof(m, left, whole), mth(right))
        } else {
            (subproof(m - left.len(), right, false), mth(left))
        };
        path.push(last);
        path
    }

    fn leaves(count: u64) -> Vec<Digest> {
        (0..count).map(|n| leaf(&n.to_be_bytes())).collect()
    }

    #[test]
    fn every_inclusion_proof_is_the_defined_one_and_proves_nothing_else() {
        let all = leaves(70);
        for size in 1..=all.len() {
            let (mut tree, part) = (Leaves(all.clone()), &all[..size]);
            let (n, whole) = (size as u64, mth(part));
            assert_eq!(root(&mut tree, n).unwrap(), whole);
            for index in 0..size {
                let (at, proof) = (index as u64, path(index, part));
                assert_eq!(inclusion(&mut tree, at, n).unwrap(), proof, "{index} of {size}");
                assert!(includes(at, n, part[index], &proof, whole));
                for other in (0..n + 2).filter(|&other| other != at) {
                    assert!(!includes(other, n, part[index], &proof, whole));
                }
                assert!(!includes(at, n, Digest::ZERO, &proof, whole));
                assert!(!includes(at, n, part[index], &proof, Digest::ZERO));
                for cut in 0..proof.len() {
                    assert!(!includes(at, n, part[index], &proof[..cut], whole));
                    let mut changed = proof.clone();
                    changed[cut].0[5] ^= 1;
                    assert!(!includes(at, n, part[index], &changed, whole));
                }
                assert!(!includes(at, n, part[index], &[proof, vec![Digest::ZERO]].concat(), whole));
            }
        }
    }

    #[test]
    fn every_consistency_proof_is_the_defined_one_and_proves_nothing_else() {
        let all = leaves(70);
        let mut tree = Leaves(all.clone());
        for new in 1..=all.len() {
            let new_root = mth(&all[..new]);
            for old in 1..=new {
                let (m, n, old_root) = (old as u64, new as u64, mth(&all[..old]));
                let proof = subproof(old, &all[..new], true);
                assert_eq!(consistency(&mut tree, m, n).unwrap(), proof, "{old} in {new}");
                assert!(is_consistent(m, old_root, n, new_root, &proof));
                assert!(!is_consistent(m, Digest::ZERO, n, new_root, &proof));
                assert!(!is_consistent(m, old_root, n, Digest::ZERO, &proof));
                for cut in 0..proof.len() {
                    assert!(!is_consistent(m, old_root, n, new_root, &proof[..cut]));
                    let mut changed = proof.clone();
                    changed[cut].0[5] ^= 1;
                    assert!(!is_consistent(m, old_root, n, new_root, &changed));
                }
                for other in (1..=n).filter(|&other| other != m) {
                    assert!(!is_consistent(other, old_root, n, new_root, &proof), "{other} for {m} in {n}");
                }
            }
            assert!(is_consistent(0, Digest::of(&[]), new as u64, new_root, &[]));
            assert!(!is_consistent(0, Digest::ZERO, new as u64, new_root, &[]));
            assert!(!is_consistent(new as u64 + 1, new_root, new as u64, new_root, &[]));
        }
    }
}
