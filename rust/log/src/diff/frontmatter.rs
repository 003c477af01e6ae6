//! A memory file as frontmatter and body.
//!
//! The frontmatter is JSON or YAML between a first line `---` and the next line `---`; blanks behind the dashes, line feeds
//! with carriage returns and a byte-order mark before the first fence are accepted.

use std::collections::BTreeMap;

use crate::json::Value;

use super::emit::to_yaml;
use super::yaml::parse_yaml;

/// The fields of a memory.
pub type Fields = BTreeMap<String, Value>;

/// A memory file in its two parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a> {
    /// What stands between the fences, where the file begins with one and has a second.
    pub frontmatter: Option<Frontmatter<'a>>,
    /// Everything behind the closing fence's line; the whole file where there is no frontmatter.
    pub body: &'a [u8],
}

/// A frontmatter block, or the content of a sidecar file.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontmatter<'a> {
    /// The block as written, without the fences.
    pub text: &'a [u8],
    /// Its fields, or why it has none.
    pub fields: Result<Fields, String>,
}

impl<'a> Frontmatter<'a> {
    /// Reads a block of JSON or YAML. One without content has no fields.
    pub fn parse(text: &'a [u8]) -> Self {
        // JSON is tried first: it is the common case, and exact where YAML is not (a lone surrogate, a key of any length).
        let json = if text.trim_ascii_start().starts_with(b"{") { Value::parse(text).ok() } else { None };
        let fields = match json.map_or_else(|| parse_yaml(text), Ok) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(Value::Null) => Ok(Fields::new()),
            Ok(_) => Err("not a mapping".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        Self { text, fields }
    }
}

/// Takes a memory file apart.
pub fn split(bytes: &[u8]) -> Document<'_> {
    match cut(bytes) {
        Some((block, body)) => Document { frontmatter: Some(Frontmatter::parse(block)), body },
        None => Document { frontmatter: None, body: bytes },
    }
}

/// The frontmatter block, not interpreted, and the body; nothing where the file has no frontmatter.
pub fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    parts(bytes).map(|Parts { block, body, .. }| (block, body))
}

/// A file with frontmatter in its four parts, which follow upon each other.
pub(super) struct Parts<'a> {
    /// The first fence's line.
    pub open: &'a [u8],
    pub block: &'a [u8],
    /// The second fence's line.
    pub close: &'a [u8],
    pub body: &'a [u8],
}

pub(super) fn parts(bytes: &[u8]) -> Option<Parts<'_>> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (first, mut rest) = next_line(start);
    if !is_fence(first) {
        return None;
    }
    let (open, inner) = bytes.split_at_checked(bytes.len() - rest.len())?;
    while !rest.is_empty() {
        let (close, body) = next_line(rest);
        if is_fence(close) {
            let (block, _) = inner.split_at_checked(inner.len() - rest.len())?;
            return Some(Parts { open, block, close, body });
        }
        rest = body;
    }
    None
}

fn next_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    bytes.split_at_checked(end).unwrap_or((bytes, b""))
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == b"---"
}

/// Puts a memory file together from fields that were given apart, as YAML with ascending keys, and a body.
///
/// [`split`] gives both back. Without fields the file is the body alone. A body that has frontmatter of its own keeps it, as
/// body: [`merge`](super::merge::merge) is for that.
pub fn with_meta(meta: &Fields, body: &[u8]) -> Vec<u8> {
    if meta.is_empty() {
        return body.to_vec();
    }
    let mut file = format!("---\n{}---\n", to_yaml(meta)).into_bytes();
    file.extend_from_slice(body);
    file
}
