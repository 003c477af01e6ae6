//! The expressions, compiled once: one pass over the text says which of them match at all, and only those are searched for.

use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexSet, RegexSetBuilder};

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

struct Compiled {
    rules: Vec<(Rule, OnceLock<Regex>)>,
    set: RegexSet,
}

/// Why an expression cannot fail.
const COMPILES: &str = "a test compiles all expressions";

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let mut rules = secrets::rules();
    rules.extend(assignments::rules());
    rules.extend(networks::rules());
    rules.extend(shapes::rules());
    rules.extend(labels::rules());
    rules.extend(phones::rules());
    let set = RegexSetBuilder::new(rules.iter().map(|rule| &rule.pattern))
        .size_limit(64 << 20)
        .dfa_size_limit(16 << 20)
        .build();
    let set = set.expect(COMPILES);
    Compiled { rules: rules.into_iter().map(|rule| (rule, OnceLock::new())).collect(), set }
});

/// Notes what the expressions find.
pub fn find(text: &str, finds: &mut Vec<Find>) {
    let Compiled { rules, set } = &*COMPILED;
    for (rule, compiled) in set.matches(text).iter().filter_map(|index| rules.get(index)) {
        let expression = compiled.get_or_init(|| Regex::new(&rule.pattern).expect(COMPILES));
        edges::each(expression, text, |found| (rule.judge)(text, found, finds));
    }
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
        assert_eq!(COMPILED.set.len(), COMPILED.rules.len());
        for (rule, _) in &COMPILED.rules {
            regex::Regex::new(&rule.pattern).unwrap();
        }
    }
}
