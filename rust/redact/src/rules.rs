//! The expressions, compiled once, when a text is looked at for the first time.
//!
//! Each is searched for by itself. One automaton for all of them reads a text only once, but in a text of random letters each
//! place begins some of them anew: its states multiply, and building them took a thousand times as long as all searches.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::{Find, assignments, edges, labels, networks, phones, secrets, shapes};

/// What an expression may have found, with what is told of it.
pub type Judge = fn(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool;

/// One expression.
pub struct Rule {
    pub pattern: String,
    /// Notes what was found, and returns whether the search goes on behind it.
    pub judge: Judge,
}

impl Rule {
    /// Takes an expression whose `\b` is an edge of ASCII words: Unicode's would keep the automaton from running at all.
    pub fn new(pattern: impl AsRef<str>, judge: Judge) -> Self {
        Self { pattern: pattern.as_ref().replace(r"\b", r"(?-u:\b)"), judge }
    }
}

/// Why an expression cannot fail.
const COMPILES: &str = "a test compiles all expressions";

static COMPILED: LazyLock<Vec<(Judge, Regex)>> = LazyLock::new(|| {
    let rules =
        [secrets::rules(), assignments::rules(), networks::rules(), shapes::rules(), labels::rules(), phones::rules()];
    rules.into_iter().flatten().map(|rule| (rule.judge, compiled(&rule.pattern))).collect()
});

/// Notes what the expressions find.
pub fn find(text: &str, finds: &mut Vec<Find>) {
    for (judge, expression) in &*COMPILED {
        edges::each(expression, text, |found| judge(text, found, finds));
    }
}

/// Compiles one of our own expressions.
pub fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect(COMPILES)
}

/// Returns the span of the first group that took part, else of the whole match.
pub fn span(found: &Captures<'_>) -> Option<(usize, usize)> {
    let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
    Some((group.start(), group.end()))
}

#[cfg(test)]
mod tests {
    use super::COMPILED;

    #[test]
    fn all_expressions_compile() {
        assert!(COMPILED.len() > 100);
    }
}
