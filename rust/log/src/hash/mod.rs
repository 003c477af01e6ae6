//! SHA-256 digests and their hexadecimal form.

mod hex;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod short;

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
        short::one(parts).unwrap_or_else(|| Self::of_any(parts))
    }

    /// Hashes two messages, each the concatenation of its parts. Where the processor has instructions for SHA-256 that takes
    /// little longer than one of them.
    pub fn of_two(first: &[&[u8]], second: &[&[u8]]) -> [Self; 2] {
        short::two(first, second).unwrap_or_else(|| [Self::of(first), Self::of(second)])
    }

    fn of_any(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Reads 64 lower-case hexadecimal digits; anything else is `None`.
    #[inline]
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        hex::decode(hex.try_into().ok()?).map(Self)
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

/// Computes a digest piece by piece.
#[derive(Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
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

    #[test]
    fn every_other_byte_than_a_digit_is_refused_at_every_place() {
        let hex = Digest::of(&[b"x"]).to_hex_bytes();
        for place in 0..64 {
            for byte in 0..=u8::MAX {
                let mut changed = hex;
                changed[place] = byte;
                let valid = byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                let digest = Digest::from_hex(&changed);
                assert_eq!(digest.is_some(), valid, "{byte:#x} at {place}");
                assert!(digest.is_none_or(|digest| digest.to_hex_bytes() == changed));
            }
        }
    }
    #[test]
    fn messages_of_every_length_hash_like_the_general_hasher() {
        let message: Vec<u8> = (0..1200_u32).map(|n| n.wrapping_mul(n).to_le_bytes()[0]).collect();
        for len in 0..message.len() {
            let (first, second) = message[..len].split_at(len / 3);
            for parts in [&[&message[..len]][..], &[first, second], &[&[], first, &[], second]] {
                assert_eq!(Digest::of(parts), Digest::of_any(parts), "{len} bytes");
            }
        }
    }

    #[test]
    fn two_messages_of_any_lengths_hash_like_each_alone() {
        let message: Vec<u8> = (0..1200_u32).map(|n| n.wrapping_mul(n).to_le_bytes()[0]).collect();
        for first in (0..message.len()).step_by(7) {
            for second in (0..message.len()).step_by(13) {
                let (one, two) = (&message[..first], &message[message.len() - second..]);
                let (head, tail) = one.split_at(first / 2);
                let found = Digest::of_two(&[head, tail], &[two]);
                assert_eq!(found, [Digest::of_any(&[one]), Digest::of_any(&[two])], "{first} and {second} bytes");
            }
        }
    }
}
