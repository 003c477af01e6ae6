//! Writing values in the canonical form.

use std::collections::BTreeMap;

use super::{JsonError, MAX_DEPTH, Value};

/// The integers that every upstream release reads back as integers.
const INTEGERS: std::ops::RangeInclusive<i128> = (i64::MIN as i128)..=(u64::MAX as i128);

impl Value {
    /// Appends the canonical form to `out`.
    ///
    /// Refuses what has none: a number that is not finite, an [`Value::Int`] outside of 64 bits, and nesting beyond
    /// [`MAX_DEPTH`].
    pub fn write_canonical(&self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        write_value(self, out, 0)
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), JsonError> {
    let refuse = |out: &[u8], what| Err(JsonError { offset: out.len(), what });
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(number) if INTEGERS.contains(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Int(_) => return refuse(out, "an integer outside of 64 bits"),
        Value::BigInt(digits) if is_canonical_integer(digits.as_bytes()) => out.extend_from_slice(digits.as_bytes()),
        Value::BigInt(_) => return refuse(out, "an integer with other characters than digits"),
        Value::Float(number) if number.is_finite() => {
            out.extend_from_slice(ryu::Buffer::new().format_finite(*number).as_bytes());
        }
        Value::Float(_) => return refuse(out, "a number that is not finite"),
        Value::Str(text) => write_string(text, out),
        Value::Array(items) => {
            let depth = deeper(out, depth)?;
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(item, out, depth)?;
            }
            out.push(b']');
        }
        Value::Object(fields) => write_object(fields, out, depth)?,
    }
    Ok(())
}

/// Appends the canonical form of an object that lies `depth` levels deep.
pub fn write_object(fields: &BTreeMap<String, Value>, out: &mut Vec<u8>, depth: usize) -> Result<(), JsonError> {
    let depth = deeper(out, depth)?;
    out.push(b'{');
    for (at, (key, value)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        write_value(value, out, depth)?;
    }
    out.push(b'}');
    Ok(())
}

fn deeper(out: &[u8], depth: usize) -> Result<usize, JsonError> {
    let depth = depth + 1;
    if depth > MAX_DEPTH { Err(JsonError { offset: out.len(), what: super::TOO_DEEP }) } else { Ok(depth) }
}

/// Appends a string with its quotes.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let (plain, escaped) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut chars = escaped.chars();
        chars.next().into_iter().for_each(|first| write_char(first, out));
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// Appends one character as it stands inside a canonical string.
pub(super) fn write_char(meant: char, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match meant {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{c}' => b'f',
        '\r' => b'r',
        '\0'..'\u{20}' => {
            let code = u32::from(meant) as usize;
            out.extend_from_slice(b"\\u00");
            out.extend([code >> 4, code & 15].iter().filter_map(|&digit| HEX.get(digit)));
            return;
        }
        _ => {
            out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Whether the text is the canonical form of an integer of any size.
pub(super) fn is_canonical_integer(text: &[u8]) -> bool {
    is_whole(text.strip_prefix(b"-").unwrap_or(text)) && text != b"-0"
}

/// Whether the text is one or more digits, the first of which is zero only where it is the only one.
fn is_whole(digits: &[u8]) -> bool {
    match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Whether the text is the canonical form of a number with a fraction or an exponent.
pub(super) fn is_canonical_float(text: &[u8]) -> bool {
    is_short_float(text) || {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        number.is_some_and(|number| number.is_finite() && ryu::Buffer::new().format_finite(number).as_bytes() == text)
    }
}

/// Whether the text is a canonical number that needs no conversion to tell, such as `0.571`.
///
/// No two decimal numbers of up to 15 digits are the same `f64`, so the shortest spelling is the one without zeros at its end.
fn is_short_float(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = text.splitn(2, |&byte| byte == b'.');
    let (Some(whole), Some(fraction)) = (parts.next(), parts.next()) else { return false };
    let ends_well = match fraction {
        [b'0'] => true,
        [] | [.., b'0'] => false,
        // Smaller numbers may be spelled with an exponent.
        _ => whole != b"0" || !fraction.starts_with(b"000"),
    };
    ends_well && text.len() <= 16 && is_whole(whole) && fraction.iter().all(u8::is_ascii_digit)
}
