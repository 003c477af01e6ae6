//! SHA-256 digests and their hexadecimal form.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of nothing yet: `prev_chain` of the first row.
    pub const ZERO: Self = Self([0; 32]);

    /// Hashes the concatenation of `parts`.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Reads 64 lower-case hexadecimal digits; anything else is `None`.
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let hex: &[u8; 64] = hex.try_into().ok()?;
        let mut out = [0_u8; 32];
        for (byte, pair) in out.iter_mut().zip(hex.as_chunks::<2>().0) {
            let [high, low] = pair.map(nibble);
            *byte = (high? << 4) | low?;
        }
        Some(Self(out))
    }

    /// Returns the 64 lower-case hexadecimal digits as bytes.
    pub fn to_hex_bytes(self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0_u8; 64];
        for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            let digit = |n: u8| DIGITS.get(usize::from(n)).copied().unwrap_or(b'?');
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        out
    }

    /// Returns the 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.to_hex_bytes().iter().map(|&byte| char::from(byte)).collect()
    }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_refuses_upper_case() {
        let digest = Digest::of(&[b"ab", b"c"]);
        assert_eq!(digest.to_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::from_hex(digest.to_hex().as_bytes()), Some(digest));
        assert_eq!(Digest::from_hex(digest.to_hex().to_uppercase().as_bytes()), None);
        assert_eq!(Digest::from_hex(b"ab"), None);
    }
}
