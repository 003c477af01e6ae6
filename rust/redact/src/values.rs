//! What a value looks like: a password, random letters, code, or a placeholder.

use std::collections::HashSet;

use crate::Tag;
use crate::assignments::NEAR;
use crate::edges::{before, head, tail};

/// What stands for a value where there is none, and words of code.
const WORDS: [&str; 36] = [
    "null",
    "none",
    "nil",
    "true",
    "false",
    "undefined",
    "str",
    "string",
    "text",
    "bytes",
    "int",
    "number",
    "bool",
    "boolean",
    "any",
    "object",
    "required",
    "optional",
    "hidden",
    "secret",
    "secrets",
    "token",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "redacted",
    "masked",
    "removed",
    "self",
    "this",
    "input",
    "env",
    "empty",
    "unset",
    "placeholder",
];
/// What a name is given.
#[derive(Clone, Copy)]
pub struct Value<'t> {
    pub text: &'t str,
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
    /// Whether it goes on behind what is looked at.
    pub is_cut: bool,
}

impl<'t> Value<'t> {
    pub fn new(text: &'t str, start: usize, end: usize, quoted: bool, is_cut: bool) -> Option<Self> {
        (end > start).then_some(())?;
        Some(Self { text: text.get(start..end)?, start, end, quoted, is_cut })
    }
}

/// Whether the name is in capitals at the start of a line, or one of several joined by `;` or `&`: its value is no code.
pub fn is_in_a_settings_line(text: &str, value: usize) -> bool {
    if before(text, value) != Some('=') {
        return false;
    }
    let line = tail(text, value, NEAR).rsplit(['\n', ';', '&', '?', '"', '\'']).next().unwrap_or_default();
    let line = line.trim_start().trim_start_matches("export ").trim_start_matches("set ");
    let named = line.trim_end_matches('=');
    let joined = before(text, value - line.len().min(value)).is_some_and(|char| matches!(char, ';' | '&' | '?'));
    !named.is_empty()
        && !named.contains(char::is_whitespace)
        && (joined || !named.contains(|char: char| char.is_ascii_lowercase()))
}

/// Whether a line says nothing but `password: value`, as a note does, and the value is no type's name.
fn is_alone_in_its_line(text: &str, value: Value<'_>) -> bool {
    let line = tail(text, value.start, NEAR).rsplit('\n').next().unwrap_or_default();
    let rest = head(text.get(value.end..).unwrap_or_default(), NEAR).split('\n').next().unwrap_or_default();
    let name = line.trim_matches(|char: char| char.is_whitespace() || "-*>•".contains(char));
    name.ends_with(':')
        && !name.contains(char::is_whitespace)
        && rest.trim().is_empty()
        && value.text.len() >= 6
        && value.text.bytes().all(|byte| byte.is_ascii_lowercase())
}

pub fn is_a_password(text: &str, value: Value<'_>) -> bool {
    if value.text.contains(char::is_whitespace) {
        // What has more words is a sentence about passwords.
        return is_mixed(value.text) && value.text.split_whitespace().count() <= 2;
    }
    value.quoted
        || is_in_a_settings_line(text, value.start)
        || is_alone_in_its_line(text, value)
        || (is_mixed(value.text) && !is_code(value.text))
}

/// Whether a value has letters beside digits or marks, as few words have.
pub fn is_mixed(text: &str) -> bool {
    let has = |is: fn(char) -> bool| text.chars().any(is);
    let letters = has(char::is_alphabetic);
    let digits = has(|char| char.is_ascii_digit());
    let marks = has(|char| char.is_ascii_punctuation() && !matches!(char, '_' | '-' | '.' | '/' | ':' | '\''));
    (letters && (digits || marks)) || (digits && text.chars().count() >= 4 && !text.contains(['.', '/', ':']))
}

pub fn is_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a value reads as an expression: names joined by points, or an interpolation.
pub fn is_code(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').map(|part| part.trim_end_matches(['?', '!'])).collect();
    (parts.len() > 1 && parts.iter().all(|part| is_name(part)))
        || text.contains("://")
        || text.contains("::")
        || text.contains("->")
}

pub fn is_random(whole: &str, value: Value<'_>) -> bool {
    let text = value.text;
    let length = text.len();
    if length < 8 || text.contains(char::is_whitespace) || !text.is_ascii() || text.contains("://") {
        return false;
    }
    if !value.quoted && is_code(text) && length < 40 {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        return false;
    }
    let bits = entropy(text);
    // In capitals before a sign, a name is that of a setting, whose value is no code.
    (digits == 0 && !value.quoted && is_in_a_settings_line(whole, value.start))
        || (digits > 0 && bits >= 2.75)
        || (digits == 0 && length >= 16 && bits >= 3.4 && has_both_cases(text) && !is_words(text))
}

fn has_both_cases(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether capitals come as in `camelCaseWords`: each begins a run of at least two small letters on average.
fn is_words(text: &str) -> bool {
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    text.len() >= capitals * 4
}

/// Bits that each character tells, as Shannon has it.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 128];
    let mut total = 0_u32;
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
            total += 1;
        }
    }
    let total = f64::from(total);
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

pub fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let inside = |open: &str, close: &str| lower.starts_with(open) && lower.ends_with(close);
    let distinct: HashSet<char> = lower.chars().collect();
    WORDS.contains(&lower.as_str())
        || distinct.len() == 1 && distinct.iter().all(|&char| !char.is_ascii_digit())
        || inside("<", ">")
        || inside("${", "}")
        || inside("{", "}")
        || inside("%(", ")s")
        || inside("[", "]")
        || (inside("%", "%") && lower.len() > 2)
        || (lower.starts_with('$')
            && lower.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !lower.as_bytes().get(1).is_some_and(u8::is_ascii_digit))
        || [
            "your-",
            "your_",
            "my-secret",
            "enter-",
            "insert-",
            "replace-",
            "replace_with",
            "vault:",
            "arn:aws:",
            "projects/",
            "op://",
            "env:",
            "file:",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
        || Tag::is_tag(text)
}
