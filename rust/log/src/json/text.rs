//! JSON strings as they lie in a text, still escaped.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::encode;

/// A canonical JSON string without its quotes, still escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// `raw` has been scanned; `escaped` says whether it holds a backslash.
    pub(super) const fn new(raw: &'a str, escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// Returns what stands between the quotes. Two canonical strings are equal exactly where these are.
    pub const fn raw(self) -> &'a str {
        self.raw
    }

    /// Returns the string that is meant; borrowed where nothing is escaped.
    pub fn decode(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(self.chars().collect()) } else { Cow::Borrowed(self.raw) }
    }

    /// Compares what is meant, by code point, which is the order of the UTF-8 bytes.
    pub fn compare(self, other: Self) -> Ordering {
        if self.escaped || other.escaped { self.chars().cmp(other.chars()) } else { self.raw.cmp(other.raw) }
    }

    fn chars(self) -> impl Iterator<Item = char> + 'a {
        let mut rest = self.raw;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let (meant, used) = if first == '\\' { escape(rest)? } else { (first, first.len_utf8()) };
            rest = rest.get(used..)?;
            Some(meant)
        })
    }
}

/// Reads the escape at the start of `rest`, which starts with a backslash: the character meant and the bytes read.
///
/// `None` for anything that is not an escape of RFC 8259, and for half of a surrogate pair, which means no character.
pub(super) fn escape(rest: &str) -> Option<(char, usize)> {
    let meant = match rest.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(rest),
        _ => return None,
    };
    Some((meant, 2))
}

fn unicode_escape(rest: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let first = unit(0)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = unit(6)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)?, 12))
}

/// Whether the escape at the start of `rest` is the one the canonical form uses; its length where it is.
pub(super) fn canonical_escape(rest: &str) -> Option<usize> {
    let (meant, used) = escape(rest)?;
    let mut spelled = Vec::with_capacity(6);
    encode::write_char(meant, &mut spelled);
    (rest.as_bytes().get(..used)? == spelled).then_some(used)
}
