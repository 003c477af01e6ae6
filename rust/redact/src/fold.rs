//! A text as its readers see it: plain digits and letters, without what cannot be seen.
//!
//! Full-width forms, mathematical letters and the digits of other scripts become ASCII, spaces and hyphens of all kinds
//! become ` ` and `-`, and characters without a width are left out, as are combining marks. The rules read that, and what
//! they find is a span of the original.

use std::borrow::Cow;

/// The first of ten digits, in scripts beside ASCII that phones and keyboards write.
const ZEROS: [u32; 14] =
    [0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0BE6, 0x0C66, 0x0E50, 0x0ED0, 0x17E0, 0x1040, 0xFF10];

/// A text to be read, and where its parts stand in the original.
#[derive(Debug)]
pub struct Folded<'a> {
    text: Cow<'a, str>,
    /// Positions from which on the original is further along: (in the folded text, in the original), both ascending.
    jumps: Vec<(usize, usize)>,
}

enum Fold {
    Keep,
    Drop,
    Become(char),
}

impl<'a> Folded<'a> {
    pub fn new(original: &'a str) -> Self {
        if original.is_ascii() {
            return Self { text: Cow::Borrowed(original), jumps: Vec::new() };
        }
        let mut text = String::with_capacity(original.len());
        let mut jumps = Vec::new();
        for (at, char) in original.char_indices() {
            match fold(char) {
                Fold::Keep => {
                    text.push(char);
                    continue;
                }
                Fold::Drop => {}
                Fold::Become(plain) => text.push(plain),
            }
            jumps.push((text.len(), at + char.len_utf8()));
        }
        Self { text: Cow::Owned(text), jumps }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns where a span of the folded text stands in the original.
    pub fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let behind = self.jumps.partition_point(|&(folded, _)| folded <= start);
        let first = self.resolve(behind, start);
        // The first jump to `end` itself is behind the last character of the span.
        let at = self.jumps.partition_point(|&(folded, _)| folded < end);
        let last = match self.jumps.get(at) {
            Some(&(folded, original)) if folded == end => original,
            _ => self.resolve(at, end),
        };
        (first, last)
    }

    fn resolve(&self, behind: usize, position: usize) -> usize {
        let last = behind.checked_sub(1).and_then(|index| self.jumps.get(index));
        last.map_or(position, |&(folded, original)| original + (position - folded))
    }
}

fn fold(char: char) -> Fold {
    let code = u32::from(char);
    if code < 0x80 {
        return Fold::Keep;
    }
    match code {
        0x00A0 | 0x1680 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => Fold::Become(' '),
        0x2010..=0x2015 | 0x2043 | 0x2212 | 0xFE58 | 0xFE63 => Fold::Become('-'),
        0x00AD
        | 0x0300..=0x036F
        | 0x061C
        | 0x115F..=0x1160
        | 0x17B4..=0x17B5
        | 0x180B..=0x180F
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0x3164
        | 0xFE00..=0xFE0F
        | 0xFEFF
        | 0xFFA0
        | 0xE0000..=0xE0FFF => Fold::Drop,
        0xFF01..=0xFF5E => become_ascii(code - 0xFF01 + 0x21),
        0xFE6B => Fold::Become('@'),
        0x3002 | 0xFF61 => Fold::Become('.'),
        0x1D400..=0x1D6A3 => {
            let letter = (code - 0x1D400) % 52;
            become_ascii(if letter < 26 { letter + 0x41 } else { letter - 26 + 0x61 })
        }
        0x1D7CE..=0x1D7FF => become_ascii((code - 0x1D7CE) % 10 + 0x30),
        _ => match ZEROS.iter().find(|&&zero| (zero..zero + 10).contains(&code)) {
            Some(zero) => become_ascii(code - zero + 0x30),
            None => Fold::Keep,
        },
    }
}

fn become_ascii(code: u32) -> Fold {
    char::from_u32(code).map_or(Fold::Keep, Fold::Become)
}

#[cfg(test)]
mod tests {
    use super::Folded;

    #[test]
    fn what_looks_alike_reads_alike() {
        for text in ["４１１１-１１１１", "4\u{200b}111\u{2011}1111", "𝟒𝟏𝟏𝟏\u{2212}𝟏𝟏𝟏𝟏", "٤١١١-١١١١"]
        {
            assert_eq!(Folded::new(text).text(), "4111-1111", "{text}");
        }
        assert_eq!(Folded::new("mật khẩu, a\u{0301}").text(), "mật khẩu, a");
    }

    #[test]
    fn a_span_is_that_of_the_original() {
        let text = "é ４\u{200b}\u{200b}１ x\u{a0}y 1\u{200d}";
        let folded = Folded::new(text);
        let of = |part: &str| {
            let start = folded.text().find(part).unwrap();
            let (start, end) = folded.original(start, start + part.len());
            &text[start..end]
        };
        assert_eq!(of("41"), "４\u{200b}\u{200b}１");
        assert_eq!(of("x y"), "x\u{a0}y");
        assert_eq!(of("é"), "é");
        assert_eq!(of("y 1"), "y 1\u{200d}");
    }
}
