//! Reading digests in hexadecimal: every row of a log that is verified has two.

/// Decodes 64 lower-case hexadecimal digits; anything else is `None`.
///
/// Two digits, one byte each, are worked on in one `u16`, without branches: so the compiler does eight or more of them at once.
#[inline]
pub(super) fn decode(digits: &[u8; 64]) -> Option<[u8; 32]> {
    const ONES: u16 = u16::from_le_bytes([1; 2]);
    let mut wrong = 0;
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(digits.as_chunks().0) {
        let pair = u16::from_le_bytes(*pair);
        // A digit's value is in its low four bits; a letter's is nine more.
        let values = (pair & (ONES * 0x0f)) + 9 * ((pair >> 6) & ONES);
        let is_letter = ((values + ONES * 6) >> 4) & ONES;
        let spelled = values + ONES * 0x30 + is_letter * 0x27;
        wrong |= (spelled ^ pair) | (values & (ONES * 0x10));
        [*byte, _] = (values << 4 | values >> 8).to_le_bytes();
    }
    (wrong == 0).then_some(out)
}
