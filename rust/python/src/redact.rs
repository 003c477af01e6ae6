//! Finding secrets and personal data.

use pyo3::prelude::*;

/// What may have to be replaced: tag, check, start, end (in characters), and how it reads.
type Candidate = (&'static str, Option<&'static str>, usize, usize, String);

/// Returns what may have to be replaced in a text, by start.
#[pyfunction]
pub fn redaction_candidates(py: Python<'_>, text: &str) -> Vec<Candidate> {
    py.detach(|| {
        let mut places = Places { text, bytes: 0, chars: 0 };
        let found = cyberos_redact::candidates(text);
        let mut edges: Vec<usize> = found.iter().flat_map(|found| [found.start, found.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let places: Vec<usize> = edges.iter().map(|&edge| places.characters(edge)).collect();
        let place =
            |edge: usize| edges.binary_search(&edge).ok().and_then(|at| places.get(at)).copied().unwrap_or(edge);
        found
            .into_iter()
            .map(|found| (found.tag.name(), found.check, place(found.start), place(found.end), found.value))
            .collect()
    })
}

/// Returns the names of all tags, the most severe first.
#[pyfunction]
pub fn redaction_tags() -> Vec<&'static str> {
    cyberos_redact::Tag::ALL.iter().map(|tag| tag.name()).collect()
}

/// Counts characters up to places that only grow.
struct Places<'a> {
    text: &'a str,
    bytes: usize,
    chars: usize,
}

impl Places<'_> {
    fn characters(&mut self, place: usize) -> usize {
        self.chars += self.text.get(self.bytes..place).map_or(0, |part| part.chars().count());
        self.bytes = place;
        self.chars
    }
}
