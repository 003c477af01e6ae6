//! A strict reader of canonical JSON that builds no tree.
//!
//! It runs over every row of a log that is verified, so what holds for all bytes (valid UTF-8, nothing below 0x20) is
//! established once, before.

use super::bytes::{eight_digits, is_plain, quote_or_backslash};
use super::encode::{is_canonical_float, is_canonical_integer};
use super::text::{Text, canonical_escape};
use super::{JsonError, MAX_DEPTH, TOO_DEEP};
use crate::hash::Digest;

/// Checks that `text` is one value in canonical form and nothing else.
pub fn check(text: &[u8]) -> Result<(), JsonError> {
    read(text, |scanner| scanner.value().map(drop))
}

/// Reads the whole of `text` with `reader`.
pub(crate) fn read<'a, T>(text: &'a [u8], reader: impl FnOnce(&mut Scanner<'a>) -> Option<T>) -> Result<T, JsonError> {
    if !is_plain(text) {
        check_characters(text)?;
    }
    let mut scanner = Scanner::trusted(text);
    reader(&mut scanner).filter(|_| scanner.end().is_some()).ok_or(scanner.fault)
}

/// Checks that `text` is valid UTF-8 without control characters below 0x20.
#[cold]
fn check_characters(text: &[u8]) -> Result<(), JsonError> {
    if let Some(offset) = text.iter().position(|&byte| byte < 0x20) {
        return Err(JsonError { offset, what: "a control character" });
    }
    std::str::from_utf8(text)
        .map(drop)
        .map_err(|error| JsonError { offset: error.valid_up_to(), what: "bytes that are not UTF-8" })
}

/// Iterates over the members of a canonical object: the key, and the value as it lies there.
///
/// Stops at the first thing that is not canonical; on anything else than an object it yields nothing.
pub fn members(object: &[u8]) -> Members<'_> {
    Members(List::new(object, "{"))
}

/// Iterates over the items of a canonical array, as they lie there; otherwise like [`members`].
pub fn items(array: &[u8]) -> Items<'_> {
    Items(List::new(array, "["))
}

/// See [`members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(List<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Text<'a>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let scanner = self.0.advance()?;
        let key = scanner.string()?;
        scanner.literal(":")?;
        Some((key, scanner.value()?))
    }
}

/// See [`items`].
#[derive(Debug, Clone)]
pub struct Items<'a>(List<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        self.0.advance()?.value()
    }
}

#[derive(Debug, Clone)]
struct List<'a> {
    scanner: Scanner<'a>,
    separator: &'static str,
}

impl<'a> List<'a> {
    const fn new(text: &'a [u8], opening: &'static str) -> Self {
        Self { scanner: Scanner::trusted(text), separator: opening }
    }

    /// Moves to where an element stands, if the list is not empty; `None` behind the last one.
    fn advance(&mut self) -> Option<&mut Scanner<'a>> {
        self.scanner.literal(self.separator)?;
        self.separator = ",";
        Some(&mut self.scanner)
    }
}

/// A position in a text that is valid UTF-8 without control characters.
///
/// Its methods return `None` where the text is not what they read, and leave the reason in `fault`: so what they return
/// stays small enough for registers.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    fault: JsonError,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte of a text that was part of a scanned one.
    pub(crate) const fn trusted(text: &'a [u8]) -> Self {
        Self { text, at: 0, depth: 0, fault: JsonError { offset: 0, what: "" } }
    }

    /// Returns the offset of the next byte.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    const fn fail<T>(&mut self, what: &'static str) -> Option<T> {
        self.fail_at(self.at, what)
    }

    #[cold]
    const fn fail_at<T>(&mut self, offset: usize, what: &'static str) -> Option<T> {
        self.fault = JsonError { offset, what };
        None
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads exactly `expected`.
    #[inline]
    pub(crate) fn literal(&mut self, expected: &'static str) -> Option<()> {
        let end = self.at + expected.len();
        if self.text.get(self.at..end) != Some(expected.as_bytes()) {
            return self.fail("another token, key or order than the canonical one");
        }
        self.at = end;
        Some(())
    }

    /// Reads the end of the text.
    pub(crate) fn end(&mut self) -> Option<()> {
        if self.at == self.text.len() { Some(()) } else { self.fail("bytes behind the value") }
    }

    /// Reads a string with its quotes.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Text<'a>> {
        if self.text.get(self.at) != Some(&b'"') {
            return self.fail("no string where one must stand");
        }
        let start = self.at + 1;
        let end = quote_or_backslash(self.text, start);
        if self.text.get(end) != Some(&b'"') {
            return self.escaped_string(start, end);
        }
        self.at = end + 1;
        Some(Text::new(self.text.get(start..end).unwrap_or_default()))
    }

    /// Reads the rest of a string that starts at `start` and has its first backslash at `end`, if it is not cut off there.
    #[cold]
    fn escaped_string(&mut self, start: usize, end: usize) -> Option<Text<'a>> {
        self.at = end;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(_) => {
                    let Some(used) = canonical_escape(self.rest()) else {
                        return self.fail("an escape that is not canonical");
                    };
                    self.at = quote_or_backslash(self.text, self.at + used);
                }
                None => return self.fail("an unfinished string"),
            }
        }
        let raw = self.since(start);
        self.at += 1;
        Some(Text::new(raw))
    }

    /// Reads 64 hexadecimal digits and the quote behind them; the quote before them has been read.
    #[inline]
    pub(crate) fn digest(&mut self) -> Option<Digest> {
        let end = self.at + 64;
        let Some(digest) = self.text.get(self.at..end).and_then(Digest::from_hex) else {
            return self.fail("no digest of 64 lower-case hexadecimal digits where one must stand");
        };
        self.at = end;
        self.literal("\"")?;
        Some(digest)
    }

    /// Reads an integer from 0 to 2^64 - 1.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let rest = self.rest();
        let mut number = 0_u64;
        let mut overflow = false;
        let mut count = 0;
        // Sixteen digits never overflow.
        for eight in rest.as_chunks().0.iter().take(2).map_while(|digits| eight_digits(*digits)) {
            number = number * 100_000_000 + eight;
            count += 8;
        }
        let single = rest.get(count..).unwrap_or_default().iter().map(|byte| byte.wrapping_sub(b'0'));
        for digit in single.take_while(|digit| *digit < 10) {
            let (tens, first) = number.overflowing_mul(10);
            let (sum, second) = tens.overflowing_add(digit.into());
            number = sum;
            overflow |= first | second;
            count += 1;
        }
        let padded = count > 1 && rest.first() == Some(&b'0');
        if count == 0 || overflow || padded {
            return self.fail("no unsigned integer of 64 bits where one must stand");
        }
        self.at += count;
        Some(number)
    }

    /// Reads any value and returns it as it lies there.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string().map(drop)?,
            Some(b'{') => return self.object(),
            Some(b'[') => self.array()?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            Some(b'-' | b'0'..=b'9') => return self.number(),
            _ => return self.fail("no value where one must stand"),
        }
        Some(self.since(start))
    }

    /// Reads an object, whose keys ascend, and returns it as it lies there.
    pub(crate) fn object(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.open("{")?;
        let mut last: Option<Text<'a>> = None;
        while self.peek() != Some(b'}') {
            if last.is_some() {
                self.literal(",")?;
            }
            let at = self.at;
            let key = self.string()?;
            if last.is_some_and(|last| last.compare(key).is_ge()) {
                return self.fail_at(at, "a key that is repeated or out of order");
            }
            last = Some(key);
            self.literal(":")?;
            self.value()?;
        }
        self.close();
        Some(self.since(start))
    }

    fn array(&mut self) -> Option<()> {
        self.open("[")?;
        let mut first = true;
        while self.peek() != Some(b']') {
            if !first {
                self.literal(",")?;
            }
            first = false;
            self.value()?;
        }
        self.close();
        Some(())
    }

    fn open(&mut self, opening: &'static str) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return self.fail(TOO_DEEP);
        }
        self.literal(opening)?;
        self.depth += 1;
        Some(())
    }

    const fn close(&mut self) {
        self.at += 1;
        self.depth -= 1;
    }

    fn number(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let rest = self.rest();
        self.at +=
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let number = self.since(start);
        if is_canonical_integer(number) || is_canonical_float(number) {
            return Some(number);
        }
        self.fail_at(start, "a number that is not canonical")
    }
}
