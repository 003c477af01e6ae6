//! JSON strings as they lie in a text, still escaped.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::encode;

/// A canonical JSON string without its quotes, still escaped. Two are equal exactly where they mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// `raw` has been scanned, so it is UTF-8 with canonical escapes.
    pub(crate) const fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns what stands between the quotes.
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Returns the string that is meant; borrowed where nothing is escaped.
    pub fn decode(self) -> Cow<'a, str> {
        if self.is_escaped() { Cow::Owned(self.unescaped()) } else { Cow::Borrowed(self.str()) }
    }

    /// Compares what is meant, by code point, which is the order of the UTF-8 bytes.
    #[inline]
    pub fn compare(self, other: Self) -> Ordering {
        for (&left, &right) in self.0.iter().zip(other.0) {
            if left == b'\\' || right == b'\\' {
                return self.chars().cmp(other.chars());
            }
            if left != right {
                return left.cmp(&right);
            }
        }
        self.0.len().cmp(&other.0.len())
    }

    fn is_escaped(self) -> bool {
        memchr::memchr(b'\\', self.0).is_some()
    }

    fn str(self) -> &'a str {
        std::str::from_utf8(self.0).unwrap_or_default()
    }

    /// Copies what lies between two escapes at once: a content has many line ends, and much between them.
    fn unescaped(self) -> String {
        let mut rest = self.str();
        let mut meant = String::with_capacity(rest.len());
        while let Some((plain, escaped)) = memchr::memchr(b'\\', rest.as_bytes()).map(|at| rest.split_at(at)) {
            meant.push_str(plain);
            let Some((char, used)) = escape(escaped.as_bytes()) else { return meant };
            meant.push(char);
            rest = escaped.get(used..).unwrap_or_default();
        }
        meant.push_str(rest);
        meant
    }

    fn chars(self) -> impl Iterator<Item = char> + 'a {
        let mut rest = self.str();
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let (meant, used) = if first == '\\' { escape(rest.as_bytes())? } else { (first, first.len_utf8()) };
            rest = rest.get(used..)?;
            Some(meant)
        })
    }
}

/// Reads the escape at the start of `rest`, which starts with a backslash: the character meant and the bytes read.
///
/// `None` for anything that is not an escape of RFC 8259, and for half of a surrogate pair, which means no character.
pub(super) fn escape(rest: &[u8]) -> Option<(char, usize)> {
    let meant = match rest.get(1)? {
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

fn unicode_escape(rest: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    };
    let first = unit(0)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = unit(6)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)?, 12))
}

/// Whether the escape at the start of `rest` is the one the canonical form uses; its length where it is.
pub(super) fn canonical_escape(rest: &[u8]) -> Option<usize> {
    let (meant, used) = escape(rest)?;
    let mut spelled = Vec::with_capacity(6);
    encode::write_char(meant, &mut spelled);
    (rest.get(..used)? == spelled).then_some(used)
}
