//! Finds what may be a secret or personal data in a text.
//!
//! Pure Rust, no Python. [`candidates`] is the door: it reads a text once as readers see it (`fold`) and returns spans of
//! the original, each with a [`Tag`] and with what is left to be checked. What the rules here can decide (keys of a known
//! form, check digits, addresses) is decided here; what needs a country's numbering plan is left to the caller.

mod assignments;
mod digits;
mod edges;
mod emails;
mod fold;
mod labels;
mod networks;
mod phones;
mod rules;
mod secrets;
mod shapes;
mod tag;
mod values;

use std::cmp::Reverse;

pub use tag::Tag;

use fold::Folded;

/// A part of a text that may have to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What it is.
    pub tag: Tag,
    /// The name of the check that has to confirm it; `None` where it is certain.
    pub check: Option<&'static str>,
    /// Its first byte in the text; on a character's boundary, as is `end`.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// It, as it is read: without characters that nobody sees, with plain digits.
    pub value: String,
}

/// What a rule finds, in bytes of the folded text.
#[derive(Debug, Clone, Copy)]
struct Find {
    tag: Tag,
    check: Option<&'static str>,
    start: usize,
    end: usize,
}

impl Find {
    fn certain(tag: Tag, start: usize, end: usize) -> Self {
        Self { tag, check: None, start, end }
    }

    fn unsure(tag: Tag, check: &'static str, start: usize, end: usize) -> Self {
        Self { tag, check: Some(check), start, end }
    }
}

/// Returns what may have to be replaced in `text`, by start and the longest first; spans may overlap, and none is only a tag that stands there.
pub fn candidates(text: &str) -> Vec<Candidate> {
    let folded = Folded::new(text);
    let read = folded.text();
    let mut finds = Vec::new();
    rules::find(read, &mut finds);
    emails::find(read, &mut finds);
    digits::find(read, &mut finds);
    let mut found: Vec<Candidate> = finds
        .into_iter()
        .filter_map(|Find { tag, check, start, end }| {
            let value = read.get(start..end)?;
            let is_new = !value.is_empty() && !Tag::is_tag(value);
            let (start, end) = folded.original(start, end);
            is_new.then(|| Candidate { tag, check, start, end, value: value.to_owned() })
        })
        .collect();
    found.sort_by_key(|found| (found.start, Reverse(found.end), found.tag, found.check));
    found.dedup_by(|later, earlier| {
        (later.start, later.end, later.tag, later.check) == (earlier.start, earlier.end, earlier.tag, earlier.check)
    });
    found
}
