//! Lines, and which of them differ between two texts.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput, Interner};

/// Up to this many lines between the common ends of two texts, old and new together, are compared as git does. The worst
/// case takes about the power 1.5 of their number, and half a second here.
const MAX_LINES: usize = 150_000;

/// A run of lines that was replaced by another run; at most one of the two is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Lines of the old text, counted from 0.
    pub(super) old: Range<usize>,
    /// Lines of the new text, counted from 0.
    pub(super) new: Range<usize>,
}

/// The lines of `text`, each with its line feed; only the last may lack one.
pub(super) fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The changes that turn `old` into `new`, in order and separated by at least one common line.
///
/// They are those of git's default: Myers' algorithm with its heuristics, then runs that could slide are placed by
/// indentation. A line is compared with its terminator, so `a`, `a\n` and `a\r\n` differ. Beyond [`MAX_LINES`] the texts are
/// first cut at lines that each has once, and what is still too much is replaced as a whole.
pub(super) fn changes<L: AsRef<[u8]> + Eq + Hash + Copy>(old: &[L], new: &[L]) -> Vec<Change> {
    let whole = trim(old, new);
    if whole.old.len() + whole.new.len() <= MAX_LINES { like_git(old, new) } else { anchored(old, new) }
}

fn like_git<L: AsRef<[u8]> + Eq + Hash + Copy>(old: &[L], new: &[L]) -> Vec<Change> {
    // The crate's own guess at the number of lines, from the first twenty, can be too high by the length of a line.
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(old.len()) };
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let widen = |range: &Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Change { old: widen(&hunk.before), new: widen(&hunk.after) }).collect()
}

/// The one change between the common ends of two texts; both its sides are empty where the texts are equal.
fn trim<L: Eq>(old: &[L], new: &[L]) -> Change {
    let common = |pair: &(&L, &L)| pair.0 == pair.1;
    let prefix = old.iter().zip(new).take_while(common).count();
    let most = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(most).take_while(common).count();
    Change { old: prefix..old.len() - suffix, new: prefix..new.len() - suffix }
}

fn anchored<L: AsRef<[u8]> + Eq + Hash + Copy>(old: &[L], new: &[L]) -> Vec<Change> {
    let cost = |lines: usize| lines * lines.isqrt();
    let mut left = cost(MAX_LINES);
    let mut changes = Vec::new();
    let (mut old_done, mut new_done) = (0, 0);
    for (old_anchor, new_anchor) in anchors(old, new).into_iter().chain([(old.len(), new.len())]) {
        let old_part = old.get(old_done..old_anchor).unwrap_or_default();
        let new_part = new.get(new_done..new_anchor).unwrap_or_default();
        let found = if old_part == new_part {
            Vec::new()
        } else if let Some(rest) = left.checked_sub(cost(old_part.len() + new_part.len())) {
            left = rest;
            like_git(old_part, new_part)
        } else {
            vec![trim(old_part, new_part)]
        };
        let shift = |range: &Range<usize>, by| range.start + by..range.end + by;
        changes.extend(
            found.iter().map(|change| Change { old: shift(&change.old, old_done), new: shift(&change.new, new_done) }),
        );
        (old_done, new_done) = (old_anchor + 1, new_anchor + 1);
    }
    changes
}

/// The longest sequence of lines that occur once in either text and stand in the same order in both.
fn anchors<L: Eq + Hash + Copy>(old: &[L], new: &[L]) -> Vec<(usize, usize)> {
    let old_places = places(old);
    let new_places = places(new);
    // The candidates in the order of the old text, each with the candidate before it in the longest sequence that it ends.
    let mut candidates: Vec<((usize, usize), Option<usize>)> = Vec::new();
    // For each length of a sequence, the candidate that ends one at the lowest line of the new text, and that line.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for (old_line, line) in old.iter().enumerate() {
        let (Some(Some(_)), Some(&Some(new_line))) = (old_places.get(line), new_places.get(line)) else { continue };
        let length = ends.partition_point(|&(_, end)| end < new_line);
        let before = length.checked_sub(1).and_then(|shorter| ends.get(shorter)).map(|&(candidate, _)| candidate);
        let end = (candidates.len(), new_line);
        match ends.get_mut(length) {
            Some(known) => *known = end,
            None => ends.push(end),
        }
        candidates.push(((old_line, new_line), before));
    }
    let mut sequence = Vec::with_capacity(ends.len());
    let mut next = ends.last().map(|&(candidate, _)| candidate);
    while let Some(&(pair, before)) = next.and_then(|candidate| candidates.get(candidate)) {
        sequence.push(pair);
        next = before;
    }
    sequence.reverse();
    sequence
}

/// Where each line stands, or nothing for one that occurs more than once.
fn places<L: Eq + Hash + Copy>(lines: &[L]) -> HashMap<L, Option<usize>> {
    let mut places = HashMap::with_capacity(lines.len());
    for (at, &line) in lines.iter().enumerate() {
        places.entry(line).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places
}
