//! Looking at many bytes of a text at a time: readers of canonical JSON run over every row of a log that is verified.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// Whether all bytes are ASCII and none is a control character below 0x20.
pub(super) fn is_plain(text: &[u8]) -> bool {
    // As signed numbers, the bytes beyond ASCII are below 0x20 too.
    let is_plain = |byte: &u8| byte.cast_signed() >= 0x20;
    let (chunks, rest) = text.as_chunks::<32>();
    // The last chunk overlaps the one before, which is faster than single bytes.
    let Some(last) = text.last_chunk() else { return rest.iter().all(is_plain) };
    // Without a branch for each byte, many are compared at once.
    let are_plain = |chunk: &[u8; 32]| chunk.iter().fold(true, |plain, byte| plain & is_plain(byte));
    chunks.iter().all(are_plain) && are_plain(last)
}

/// Returns the position of the first quote or backslash at or behind `start`; the length of `bytes` where there is none.
#[inline]
pub(super) fn quote_or_backslash(bytes: &[u8], start: usize) -> usize {
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
    // The lowest set bit marks the first zero byte of `word`; bits above it may be wrong.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let (chunks, rest) = bytes.get(start..).unwrap_or_default().as_chunks::<8>();
    let mut at = start;
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        let hits = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + rest.iter().position(|&byte| byte == b'"' || byte == b'\\').unwrap_or(rest.len())
}

/// Reads eight decimal digits; `None` where one of the bytes is another.
#[inline]
pub(super) const fn eight_digits(digits: [u8; 8]) -> Option<u64> {
    const HIGH_NIBBLES: u64 = ONES * 0xf0;
    let word = u64::from_le_bytes(digits);
    // Six more keep the high nibble of a digit, 3, and of no other byte that has it.
    if word & HIGH_NIBBLES | (word.wrapping_add(ONES * 6) & HIGH_NIBBLES) >> 4 != ONES * 0x33 {
        return None;
    }
    // Neighbours join to numbers of two, four and eight digits; the first digit is the lowest byte.
    let values = word & (ONES * 0x0f);
    let twos = (values * 10 + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos * 100 + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours & 0xffff) * 10_000 + (fours >> 32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each byte at each place of an otherwise fitting text, for texts around the sizes of the chunks.
    fn with_each_byte(filler: u8, lengths: std::ops::Range<usize>, mut check: impl FnMut(&[u8])) {
        for len in lengths {
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let mut text = vec![filler; len];
                    text[at] = byte;
                    check(&text);
                }
            }
        }
    }

    #[test]
    fn plain_text_is_told_by_every_byte() {
        assert!(is_plain(b""));
        with_each_byte(b'~', 1..70, |text| {
            assert_eq!(is_plain(text), text.iter().all(|byte| (0x20..0x80).contains(byte)), "{text:?}");
        });
    }

    #[test]
    fn eight_digits_are_those_of_decimal() {
        with_each_byte(b'9', 8..9, |text| {
            let right = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let read = eight_digits(text.try_into().unwrap());
            assert_eq!(read, right.map(|text| text.parse().unwrap()), "{text:?}");
        });
    }

    proptest! {
        #[test]
        fn eight_digits_read_as_any_number(number in 0..100_000_000_u64) {
            prop_assert_eq!(eight_digits(format!("{number:08}").as_bytes().try_into().unwrap()), Some(number));
        }

        #[test]
        fn a_quote_or_backslash_is_found_where_the_first_one_stands(
            bytes in prop::collection::vec(prop_oneof![4 => any::<u8>(), 1 => prop::sample::select(b"\"\\!#[]".to_vec())], 0..60),
            start in 0..60_usize,
        ) {
            let start = start.min(bytes.len());
            let found = bytes[start..].iter().position(|byte| b"\"\\".contains(byte));
            prop_assert_eq!(quote_or_backslash(&bytes, start), found.map_or(bytes.len(), |at| start + at));
        }
    }
}
