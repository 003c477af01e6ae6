//! What stands before and behind a find, and how an expression is tried at every place.

use regex::{Captures, Regex};

/// The character before `at`.
pub fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at).and_then(|head| head.chars().next_back())
}

/// The character at `at`.
pub fn behind(text: &str, at: usize) -> Option<char> {
    text.get(at..).and_then(|tail| tail.chars().next())
}

pub fn is_alnum(char: Option<char>) -> bool {
    char.is_some_and(|char| char.is_ascii_alphanumeric())
}

/// The first so many bytes, or a few less where a character would be cut.
pub fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// The last so many bytes before `at`, or a few less where a character would be cut.
pub fn tail(text: &str, at: usize, most: usize) -> &str {
    text.get(boundary(text, at.saturating_sub(most))..at).unwrap_or_default()
}

/// Whether neither side of a span goes on with a letter or a digit of ASCII.
pub fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    !is_alnum(before(text, start)) && !is_alnum(behind(text, end))
}

/// Whether a number is a whole one: no letter or digit beside it, and not the end of a fraction or the start of one.
pub fn is_whole_number(text: &str, start: usize, end: usize) -> bool {
    let goes_on = |point: Option<char>, digit: Option<char>| {
        matches!(point, Some('.' | ',')) && digit.is_some_and(|char| char.is_ascii_digit())
    };
    let (first, last) = (start.saturating_sub(1), end + 1);
    stands_alone(text, start, end)
        && before(text, start) != Some('_')
        && behind(text, end) != Some('_')
        && !goes_on(before(text, start), before(text, first))
        && !goes_on(behind(text, end), behind(text, last))
}

/// A rejected match that is longer is not searched anew at each of its characters, but for its end.
const LONG: usize = 1_024;

/// Calls `take` with each match; where it returns false, the search goes on behind the first character of the match.
pub fn each<'t>(expression: &Regex, text: &'t str, mut take: impl FnMut(&Captures<'t>) -> bool) {
    let mut at = 0;
    while let Some(captures) = expression.captures_at(text, at) {
        let Some(whole) = captures.get(0) else { return };
        let taken = take(&captures) && whole.end() > at;
        at = if taken {
            whole.end()
        } else {
            next(text, whole.start()).max(boundary(text, whole.end().saturating_sub(LONG)))
        };
        if at > text.len() {
            return;
        }
    }
}

/// The first boundary of a character that is not before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

fn next(text: &str, at: usize) -> usize {
    at + behind(text, at).map_or(1, char::len_utf8)
}
