//! The line diff of two bodies, in the unified format and as lists.

use std::fmt::Write as _;
use std::ops::Range;

use super::lines::{self, Change};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Bodies beyond this many bytes are not compared: the worst case of the algorithm takes seconds there.
pub const MAX_BYTES: usize = 1 << 20;

/// What a comparison of two bodies found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyDiff<'a> {
    /// The bodies are equal byte for byte.
    Same,
    /// Both are text and differ.
    Text(TextDiff<'a>),
    /// At least one holds a NUL or is not UTF-8, so there are no lines to show.
    Binary,
    /// At least one is larger than [`MAX_BYTES`].
    TooLarge,
}

/// The differences of two texts. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDiff<'a> {
    /// In the order of the text; they neither overlap nor touch.
    pub hunks: Vec<Hunk<'a>>,
    /// Whether the old text has lines and its last one lacks a line feed.
    pub old_lacks_newline: bool,
    /// Whether the new text has lines and its last one lacks a line feed.
    pub new_lacks_newline: bool,
}

/// Changes that lie close together, with the unchanged lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// The old text's lines that the hunk covers, counted from 0.
    pub old: Range<usize>,
    /// The new text's lines that the hunk covers, counted from 0.
    pub new: Range<usize>,
    /// Every line of the hunk; of one change, the removed ones come first.
    pub lines: Vec<Line<'a>>,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Which side it belongs to.
    pub kind: LineKind,
    /// Its text with the line feed, where it has one.
    pub text: &'a str,
}

/// Which text a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// To both.
    Context,
    /// To the old one only.
    Removed,
    /// To the new one only.
    Added,
}

/// The lines of a [`TextDiff`] by kind, without their line feed (a carriage return stays).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineLists<'a> {
    /// Lines of the new text only.
    pub added: Vec<&'a str>,
    /// Lines of the old text only.
    pub removed: Vec<&'a str>,
    /// The unchanged lines shown around them.
    pub context: Vec<&'a str>,
}

/// Compares two bodies.
pub fn body_diff<'a>(old: &'a [u8], new: &'a [u8]) -> BodyDiff<'a> {
    if old == new {
        return BodyDiff::Same;
    }
    if old.len() > MAX_BYTES || new.len() > MAX_BYTES {
        return BodyDiff::TooLarge;
    }
    match (text(old), text(new)) {
        (Some(old), Some(new)) => BodyDiff::Text(text_diff(old, new)),
        _ => BodyDiff::Binary,
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    if memchr::memchr(0, bytes).is_some() { None } else { str::from_utf8(bytes).ok() }
}

fn text_diff<'a>(old: &'a str, new: &'a str) -> TextDiff<'a> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = lines::changes(&old_lines, &new_lines);
    let lacks_newline = |text: &str| !text.is_empty() && !text.ends_with('\n');
    TextDiff {
        // Changes whose contexts would touch or overlap share a hunk.
        hunks: changes
            .chunk_by(|left, right| right.old.start - left.old.end <= 2 * CONTEXT)
            .map(|group| hunk(group, &old_lines, &new_lines))
            .collect(),
        old_lacks_newline: lacks_newline(old),
        new_lacks_newline: lacks_newline(new),
    }
}

fn hunk<'a>(changes: &[Change], old: &[&'a str], new: &[&'a str]) -> Hunk<'a> {
    let mut lines = Vec::new();
    let mut push = |kind, range: Range<usize>, from: &[&'a str]| {
        lines.extend(from.get(range).unwrap_or_default().iter().map(|&text| Line { kind, text }));
    };
    let (first, last) = match changes {
        [first, .., last] => (first, last),
        [only] => (only, only),
        [] => unreachable!("chunk_by yields no empty chunk"),
    };
    // As many common lines precede (and follow) a change in the one text as in the other.
    let before = CONTEXT.min(first.old.start).min(first.new.start);
    let after = CONTEXT.min(old.len() - last.old.end).min(new.len() - last.new.end);
    let mut done = first.old.start - before;
    for change in changes {
        push(LineKind::Context, done..change.old.start, old);
        push(LineKind::Removed, change.old.clone(), old);
        push(LineKind::Added, change.new.clone(), new);
        done = change.old.end;
    }
    push(LineKind::Context, done..done + after, old);
    Hunk {
        old: first.old.start - before..last.old.end + after,
        new: first.new.start - before..last.new.end + after,
        lines,
    }
}

impl<'a> TextDiff<'a> {
    /// The unified format, as `git diff` writes it below its `index` line and without section headings.
    ///
    /// A path is `None` where that side does not exist.
    pub fn unified(&self, old_path: Option<&str>, new_path: Option<&str>) -> String {
        let mut out = String::new();
        header(&mut out, "---", "a", old_path);
        header(&mut out, "+++", "b", new_path);
        for hunk in &self.hunks {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "@@ -{} +{} @@", position(&hunk.old), position(&hunk.new));
            for line in &hunk.lines {
                out.push(match line.kind {
                    LineKind::Context => ' ',
                    LineKind::Removed => '-',
                    LineKind::Added => '+',
                });
                out.push_str(line.text);
                if !line.text.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        out
    }

    /// The lines by kind.
    pub fn by_kind(&self) -> LineLists<'a> {
        let mut lists = LineLists::default();
        for line in self.hunks.iter().flat_map(|hunk| &hunk.lines) {
            let list = match line.kind {
                LineKind::Context => &mut lists.context,
                LineKind::Removed => &mut lists.removed,
                LineKind::Added => &mut lists.added,
            };
            list.push(line.text.strip_suffix('\n').unwrap_or(line.text));
        }
        lists
    }
}

/// Writes a `---` or `+++` line. A tab ends a name with spaces, without which `patch` would cut it at the first.
fn header(out: &mut String, mark: &str, side: &str, path: Option<&str>) {
    let _ = match path {
        Some(path) if path.contains(' ') => writeln!(out, "{mark} {side}/{path}\t"),
        Some(path) => writeln!(out, "{mark} {side}/{path}"),
        None => writeln!(out, "{mark} /dev/null"),
    };
}

/// The position of a hunk: first line counted from 1, and the count unless it is 1. An empty range names the line before it.
fn position(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        len => format!("{},{len}", lines.start + 1),
    }
}
