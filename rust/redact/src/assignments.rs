//! Values that are given to a name which says that they are secret: `password = "…"`, `API_TOKEN=…`, `--secret …`.

use std::collections::HashSet;

use regex::Captures;

use crate::edges::{before, behind};
use crate::rules::Rule;
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
const VALUE: &str = r#"(?:\\{0,3}"((?:[^"\\\n]|\\[^"\n]){1,200})\\{0,3}"|\\{0,3}'((?:[^'\\\n]|\\[^'\n]){1,200})\\{0,3}'|`([^`\n]{1,200})`|([^\s"'`<>,;&|(){}\[\]]{1,200}))"#;

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    let names = format!("(?i:({PASSWORDS})|{SECRETS})");
    let rest = r"([A-Za-z0-9_-]{0,40})";
    vec![
        Rule::new(
            format!(r#"{names}{rest}\\{{0,3}}["'`\]]{{0,2}}[ \t]{{0,16}}(?:=>|:=|={{1,2}}|:|->)\s{{0,8}}{VALUE}"#),
            assigned,
        ),
        Rule::new(format!(r"--[a-z-]{{0,30}}{names}{rest}[ =]{{1,2}}{VALUE}"), assigned),
        Rule::new(
            format!(r"<[A-Za-z0-9_.:-]{{0,40}}{names}{rest}(?:\s[^<>]{{0,100}})?>\s{{0,8}}{VALUE}\s{{0,8}}</"),
            assigned,
        ),
        Rule::new(
            format!(r"(?i:({PASSWORDS})()\s{{1,3}}(?:is now|is|was|là|la|ist|est|es)\s{{0,2}}:?\s{{1,3}}){VALUE}"),
            spoken,
        ),
        Rule::new(
            format!(r"(?i-u:login|user(?:name)?)\s{{1,3}}[^\s]{{1,100}}\s{{1,3}}(?i-u:(password))()\s{{1,3}}{VALUE}"),
            spoken,
        ),
    ]
}

#[derive(Clone, Copy)]
struct Value<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    quoted: bool,
}

fn value<'t>(found: &Captures<'t>) -> Option<Value<'t>> {
    let (index, group) = (3..=6).find_map(|index| found.get(index).map(|group| (index, group)))?;
    Some(Value { text: group.as_str(), start: group.start(), end: group.end(), quoted: index < 6 })
}

fn assigned(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(mut value) = value(found) else { return false };
    let rest = found.get(2).map_or("", |rest| rest.as_str());
    if !continues_a_name(rest) || is_about(rest) {
        return false;
    }
    let is_password = found.get(1).is_some();
    if !value.quoted {
        if matches!(behind(text, value.end), Some('(' | '[' | '{')) && is_code(value.text) {
            return false;
        }
        value = trimmed(value);
    }
    let fits = if is_password {
        let is_setting = !value.quoted && is_in_a_settings_line(text, value.start);
        is_a_password(&value, is_setting)
    } else {
        is_random(&value)
    };
    if fits && !is_placeholder(value.text) {
        finds.push(Find::certain(if is_password { Tag::Password } else { Tag::Secret }, value.start, value.end));
        return true;
    }
    false
}

fn spoken(_text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(mut value) = value(found) else { return false };
    if !value.quoted {
        value = trimmed(value);
    }
    let fits = value.quoted && !value.text.contains(' ') || is_mixed(value.text);
    if fits && value.text.chars().count() >= 4 && !is_placeholder(value.text) {
        finds.push(Find::certain(Tag::Password, value.start, value.end));
        return true;
    }
    false
}

/// Leaves out the mark that ends a sentence.
fn trimmed(value: Value<'_>) -> Value<'_> {
    let text = value.text.trim_end_matches(['.', ':', '?', '\\']);
    Value { text, end: value.start + text.len(), ..value }
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

/// Whether the name is in capitals at the start of a line, or one of several joined by `;` or `&`: its value is no code.
fn is_in_a_settings_line(text: &str, value: usize) -> bool {
    if before(text, value) != Some('=') {
        return false;
    }
    let line =
        text.get(..value).and_then(|head| head.rsplit(['\n', ';', '&', '?', '"', '\'']).next()).unwrap_or_default();
    let line = line.trim_start().trim_start_matches("export ").trim_start_matches("set ");
    let named = line.trim_end_matches('=');
    let joined = before(text, value - line.len().min(value)).is_some_and(|char| matches!(char, ';' | '&' | '?'));
    !named.is_empty()
        && !named.contains(char::is_whitespace)
        && (joined || !named.contains(|char: char| char.is_ascii_lowercase()))
}

fn is_a_password(value: &Value<'_>, is_setting: bool) -> bool {
    let length = value.text.chars().count();
    if length < 4
        || (value.text.contains(char::is_whitespace)
            && !(value.quoted && is_mixed(value.text) && length <= 64 && value.text.split_whitespace().count() <= 2))
    {
        return false;
    }
    value.quoted || is_setting || (is_mixed(value.text) && !is_code(value.text))
}

/// Whether a value has letters beside digits or marks, as few words have.
fn is_mixed(text: &str) -> bool {
    let has = |is: fn(char) -> bool| text.chars().any(is);
    let letters = has(char::is_alphabetic);
    let digits = has(|char| char.is_ascii_digit());
    let marks = has(|char| char.is_ascii_punctuation() && !matches!(char, '_' | '-' | '.' | '/' | ':' | '\''));
    (letters && (digits || marks)) || (digits && text.chars().count() >= 4 && !text.contains(['.', '/', ':']))
}

/// Whether a value reads as an expression: names joined by points, or an interpolation.
fn is_code(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let parts: Vec<&str> = text.split(['.', '?', '!']).filter(|part| !part.is_empty()).collect();
    (parts.len() > 1 && parts.iter().all(|part| is_name(part) && !part.starts_with(|char: char| char.is_ascii_digit())))
        || text.contains("://")
        || text.contains("::")
        || text.contains("->")
}

fn is_random(value: &Value<'_>) -> bool {
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
    (digits > 0 && bits >= 2.75)
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

fn is_placeholder(text: &str) -> bool {
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
