//! Values that are given to a name which says that they are secret: `password = "…"`, `API_TOKEN=…`, `--secret …`.

use regex::Captures;

use crate::edges::{behind, head, tail};
use crate::rules::Rule;
use crate::values::{
    Value, is_a_password, is_code, is_in_a_settings_line, is_mixed, is_name, is_placeholder, is_random,
};
use crate::{Find, Tag};

/// Names of what a person or a program remembers; almost anything may be one's password.
const PASSWORDS: &str = "password|passwd|passphrase|passcode|passwort|kennwort|contraseña|contrasena|mot[_ ]de[_ ]passe|senha|pwd|mật khẩu|mat khau|matkhau|密码|密碼|パスワード|비밀번호|пароль";
/// Names of what is drawn at random.
const SECRETS: &str = "secret|token|api[_ -]?key|access[_ -]?key|auth[_ -]?key|private[_ -]?key|encryption[_ -]?key|signing[_ -]?key|account[_ -]?key|service[_ -]?key|master[_ -]?key|session[_ -]?key|license[_ -]?key|db[_ -]?key|credentials?|bearer";
/// What the rest of a name says where its value is about a secret, not one.
const ABOUT: [&str; 42] = [
    "policy",
    "field",
    "fields",
    "length",
    "len",
    "count",
    "counts",
    "type",
    "types",
    "name",
    "names",
    "id",
    "ids",
    "url",
    "uri",
    "path",
    "file",
    "label",
    "hint",
    "column",
    "expiry",
    "expires",
    "expiration",
    "ttl",
    "header",
    "prefix",
    "endpoint",
    "min",
    "max",
    "size",
    "limit",
    "usage",
    "budget",
    "format",
    "version",
    "enabled",
    "required",
    "rotation",
    "strategy",
    "provider",
    "manager",
    "env",
];
/// Words between a name and its value in a sentence.
const COPULAS: [&str; 8] = ["is now", "is", "was", "là", "la", "ist", "est", "es"];
/// So many bytes of a value are looked at, of a name, and of what stands around them: time is linear in the text.
const LONGEST: usize = 1_024;
const LONGEST_NAME: usize = 64;
pub const NEAR: usize = 256;
/// A password's fewest characters.
const SHORTEST: usize = 4;
/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    vec![Rule::new(format!("(?i:({PASSWORDS})|{SECRETS})"), named)]
}

/// How a name is given its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// `name = value` and the like, `--name value`, `<name>value</name>`.
    Assigned,
    /// `the name is value`, `login ann name value`.
    Spoken,
}

fn named(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(name) = found.get(0) else { return true };
    let is_password = found.get(1).is_some();
    let last = finds.last().filter(|last| matches!(last.tag, Tag::Password | Tag::Secret));
    if last.is_some_and(|last| name.end() <= last.end) {
        return true; // it is part of a value
    }
    let rest = head(text.get(name.end()..).unwrap_or_default(), LONGEST_NAME);
    let rest =
        rest.get(..count(rest, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))).unwrap_or_default();
    // `--password-- >` ends in no name's hyphen, but `->` is an arrow.
    let arrow = usize::from(rest.ends_with('-') && behind(text, name.end() + rest.len()) == Some('>'));
    let rest = rest.get(..rest.len() - arrow).unwrap_or_default();
    if !continues_a_name(rest) || is_about(rest) {
        return false;
    }
    let Some((at, given)) = value_start(text, name.start(), name.end() + rest.len()) else { return false };
    let Some(value) = value(text, at) else { return false };
    let fits = match (given, is_password) {
        (Given::Spoken, true) => (value.quoted && !value.text.contains(' ')) || is_mixed(value.text),
        (Given::Spoken, false) => false,
        (Given::Assigned, true) => is_a_password(text, value),
        (Given::Assigned, false) => is_random(text, value),
    };
    let long_enough = !is_password || value.text.chars().count() >= SHORTEST;
    if !(fits && long_enough) || is_placeholder(value.text) {
        return false;
    }
    let end = if value.is_cut { whole_end(text, value) } else { value.end };
    finds.push(Find::certain(if is_password { Tag::Password } else { Tag::Secret }, value.start, end));
    true
}

/// Returns where a value ends that is longer than what was looked at.
fn whole_end(text: &str, value: Value<'_>) -> usize {
    let rest = text.get(value.end..).unwrap_or_default();
    let ends = |char: char| if value.quoted { char == '\n' } else { char.is_whitespace() };
    value.end + rest.find(ends).unwrap_or(rest.len())
}

fn count(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| is(byte)).count()
}

/// Returns where the value of the name at `start..end` begins, and how it is given.
fn value_start(text: &str, start: usize, end: usize) -> Option<(usize, Given)> {
    let rest = head(text.get(end..)?, NEAR);
    let closed = count(rest, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b']')).min(6);
    let blanks = |from: usize| rest.get(from..).map_or(0, |rest| count(rest, |byte| matches!(byte, b' ' | b'\t')));
    let sign = closed + blanks(closed);
    let behind_name = rest.get(sign..)?;
    if let Some(joint) = ["=>", ":=", "==", "->", "=", ":"].iter().find(|joint| behind_name.starts_with(**joint)) {
        let value = sign + joint.len();
        return Some((end + value + blanks(value), Given::Assigned));
    }
    let line = tail(text, start, NEAR).rsplit('\n').next()?;
    let word = line.rsplit(|char: char| char.is_whitespace() || char == '"').next()?;
    if closed == 0 && sign > 0 && word.starts_with("--") {
        return Some((end + sign, Given::Assigned));
    }
    if closed == 0 && word.contains('<') && !word.contains('>') {
        let close = behind_name.find('>')?;
        return Some((end + sign + close + 1 + blanks(sign + close + 1), Given::Assigned));
    }
    if sign == closed {
        return None;
    }
    let mut before = line.split_whitespace().rev().skip(usize::from(!word.is_empty()) + 1);
    if word.is_empty() && before.next().is_some_and(|word| matches!(word, "login" | "user" | "username")) {
        return Some((end + sign, Given::Spoken));
    }
    let copula = COPULAS
        .iter()
        .find(|copula| behind_name.strip_prefix(**copula).is_some_and(|tail| tail.starts_with([' ', ':'])))?;
    let value = sign + copula.len();
    let value = value + rest.get(value..).map_or(0, |rest| count(rest, |byte| matches!(byte, b' ' | b':')));
    Some((end + value, Given::Spoken))
}

/// Takes the value that begins at `at`: what is in quotes, or up to what ends a word.
fn value(text: &str, at: usize) -> Option<Value<'_>> {
    let whole = text.get(at..)?;
    let rest = head(whole, LONGEST);
    let is_cut = |end: usize| end == rest.len() && end < whole.len();
    let prefix = count(rest, |byte| matches!(byte.to_ascii_lowercase(), b'b' | b'r' | b'u' | b'f' | b'@')).min(2);
    let slashes = rest.get(prefix..).map_or(0, |rest| count(rest, |byte| byte == b'\\'));
    let open = prefix + slashes;
    if let Some(quote @ ('"' | '\'' | '`')) = behind(rest, open) {
        let inner = rest.get(open..)?;
        let times = count(inner, |byte| char::from(byte) == quote);
        let times = if times >= 3 { 3 } else { 1 };
        let close = format!("{}{}", "\\".repeat(slashes), String::from(quote).repeat(times));
        let start = at + open + times;
        let inner = rest.get(open + times..)?;
        let inner = if times == 3 { inner } else { inner.split('\n').next()? };
        // Where the closing quote is missing, the value goes on to the end of the line.
        let length = closing(inner, &close).unwrap_or(inner.len());
        return Value::new(text, start, start + length, true, is_cut(open + times + length));
    }
    let is_end = |char: char| char.is_whitespace() || "\"'`<>,;&|(){}[]".contains(char);
    let length = rest.find(is_end).unwrap_or(rest.len());
    let word = rest.get(..length)?;
    // A call, an element of something, or what a template puts in.
    if behind(rest, length).is_some_and(|char| matches!(char, '(' | '[' | '{'))
        && (matches!(word, "" | "$") || ((is_code(word) || is_name(word)) && !is_in_a_settings_line(text, at)))
    {
        return None;
    }
    let plain = word.trim_end_matches(['.', ':', '?', '\\']);
    if plain.len() < word.len() {
        return Value::new(text, at, at + plain.len(), false, false);
    }
    // A mark that is followed by more of the same is a part of it.
    let mut end = length;
    while let Some(mark) = behind(rest, end).filter(|char| "(){}[],".contains(*char)) {
        let more = rest.get(end + mark.len_utf8()..)?;
        let more = more.find(is_end).unwrap_or(more.len());
        if more == 0 {
            break;
        }
        end += mark.len_utf8() + more;
    }
    Value::new(text, at, at + end, false, is_cut(end))
}

/// Returns where `close` stands unescaped.
fn closing(text: &str, close: &str) -> Option<usize> {
    text.match_indices(close).map(|(at, _)| at).find(|&at| {
        let slashes = text.get(..at).map_or(0, |head| head.bytes().rev().take_while(|&byte| byte == b'\\').count());
        slashes % 2 == 0
    })
}

/// Whether a name goes on like this: `token_prod`, `tokens`, `tokenProd`, `token2`, and not `tokenizer`.
fn continues_a_name(rest: &str) -> bool {
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    rest.is_empty() || rest.starts_with(|char: char| !char.is_ascii_lowercase())
}

fn is_about(rest: &str) -> bool {
    let mut words = String::with_capacity(rest.len() + 8);
    for char in rest.chars() {
        if char.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(if matches!(char, '_' | '-') { ' ' } else { char.to_ascii_lowercase() });
    }
    // In capitals every letter begins a word.
    let plain: String = rest.chars().map(|char| char.to_ascii_lowercase()).collect();
    let last = plain.rsplit(['_', '-']).next().unwrap_or_default();
    ABOUT.contains(&last) || words.split(' ').next_back().is_some_and(|last| ABOUT.contains(&last))
}
