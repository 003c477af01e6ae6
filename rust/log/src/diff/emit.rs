//! Writing fields as YAML that every reader takes for the same values, those of YAML 1.1 included.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::json::Value;

/// A key of more characters than this must be announced by a `?`; YAML's own limit is 1,024.
const LONGEST_SIMPLE_KEY: usize = 1000;

/// Words that some reader takes for a truth value, a null or a number, in lower case.
const RESERVED: [&str; 12] = ["y", "yes", "n", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];

/// Writes a mapping in block style, keys ascending, one line feed at its end; an empty one is nothing.
///
/// What [`parse_yaml`](super::yaml::parse_yaml) reads back is equal, but for numbers that are not finite (`.inf`, `.nan`): they come back as text.
pub fn to_yaml(fields: &BTreeMap<String, Value>) -> String {
    let mut out = String::new();
    mapping(&mut out, fields, 0, false);
    out
}

/// Writes the members; the first one goes on in the line begun by a `-`, where `inline`.
fn mapping(out: &mut String, fields: &BTreeMap<String, Value>, indent: usize, inline: bool) {
    for (at, (key, value)) in fields.iter().enumerate() {
        if at > 0 || !inline {
            spaces(out, indent);
        }
        let key = if is_plain(key) { key.clone() } else { quoted(key) };
        if key.chars().count() > LONGEST_SIMPLE_KEY {
            let _ = writeln!(out, "? {key}");
            spaces(out, indent);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                out.push('\n');
                mapping(out, fields, indent + 2, false);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(out, items, indent + 2, false);
            }
            _ => leaf(out, value, indent + 2),
        }
    }
}

fn sequence(out: &mut String, items: &[Value], indent: usize, inline: bool) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 || !inline {
            spaces(out, indent);
        }
        out.push('-');
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                out.push(' ');
                mapping(out, fields, indent + 2, true);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push(' ');
                sequence(out, items, indent + 2, true);
            }
            _ => leaf(out, item, indent + 2),
        }
    }
}

/// Writes a space, a scalar or empty collection, and a line feed. Further lines of a text are indented by `indent`.
fn leaf(out: &mut String, value: &Value, indent: usize) {
    out.push(' ');
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::BigInt(digits) => out.push_str(digits),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
        Value::Str(text) if is_plain(text) => out.push_str(text),
        Value::Str(text) if is_literal(text) => {
            out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
            for line in text.lines() {
                out.push('\n');
                if !line.is_empty() {
                    spaces(out, indent);
                    out.push_str(line);
                }
            }
        }
        Value::Str(text) => out.push_str(&quoted(text)),
    }
    out.push('\n');
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// Spells a number with a point and a signed exponent, without which readers of YAML 1.1 take it for text.
fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let mut buffer = ryu::Buffer::new();
    let shortest = buffer.format_finite(number);
    let Some((mantissa, exponent)) = shortest.split_once('e') else { return shortest.to_owned() };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Whether a text can stand without quotes: words of any script with a little punctuation, and nothing that a reader could
/// take for another kind of value.
fn is_plain(text: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || " _-./,()+@'".contains(c);
    text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && text.chars().all(inner)
        && !RESERVED.contains(&text.to_lowercase().as_str())
}

/// Whether a text of several lines can be written as it is, line by line.
fn is_literal(text: &str) -> bool {
    let content = text.strip_suffix('\n').unwrap_or(text);
    content.contains('\n')
        && !content.starts_with([' ', '\n'])
        && !content.ends_with([' ', '\n'])
        && content.chars().all(|c| c == '\n' || is_printable(c))
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            _ if is_printable(c) => write!(out, "{c}"),
            _ => write!(out, "\\u{:04x}", u32::from(c)),
        };
    }
    out.push('"');
    out
}

/// Whether a character may stand for itself inside of a line. The others all lie below U+10000.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
