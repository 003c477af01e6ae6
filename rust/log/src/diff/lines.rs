//! Lines, and which of them differ between two texts.

use std::hash::Hash;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput, Interner};

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
/// indentation. A line is compared with its terminator, so `a`, `a\n` and `a\r\n` differ.
pub(super) fn changes<L: AsRef<[u8]> + Eq + Hash + Copy>(old: &[L], new: &[L]) -> Vec<Change> {
    // The crate's own guess at the number of lines, from the first twenty, can be too high by the length of a line.
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(old.len()) };
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff.hunks().map(|hunk| Change { old: widen(&hunk.before), new: widen(&hunk.after) }).collect()
}

fn widen(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
