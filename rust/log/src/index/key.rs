//! Keys of byte strings.

/// Returns the index key of a byte string such as a path.
///
/// The same on every platform, for ever: it is part of the format. Words of eight bytes, big-endian, the last one padded
/// with zeros, are folded in one after the other; the length goes in first, so that padding cannot be mistaken for content.
/// Every step is a bijection of the state, so that strings of one length which differ in one word never collide. Not
/// cryptographic: two strings may have one key, and a caller compares what it finds.
pub fn key_of(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut state = mix(FIRST ^ bytes.len() as u64);
    for word in words {
        state = mix(state ^ u64::from_be_bytes(*word));
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        for (place, byte) in word.iter_mut().zip(rest) {
            *place = *byte;
        }
        state = mix(state ^ u64::from_be_bytes(word));
    }
    mix(state.wrapping_mul(SECOND))
}

/// The first 64 bits of the fractional part of the golden ratio, made odd.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
/// The first 64 bits of the fractional part of the square root of two, made odd.
const SECOND: u64 = 0x6a09_e667_f3bc_c909;

const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(FIRST);
    word ^ (word >> 29)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_fixed_for_ever() {
        // FORMAT.md has them too, worked out apart from this code. Another value here is another format.
        assert_eq!(key_of(b""), 0x3aea_e149_3a5b_55e0);
        assert_eq!(key_of(b"memories/a.md"), 0x5a55_7569_e6f4_41a0);
        assert_eq!(key_of("memories/überblick über alles.md".as_bytes()), 0xcc8f_929a_318a_7686);
    }

    fn paths() -> impl Iterator<Item = String> {
        (0..400_000).map(|n| format!("memories/project-{}/topic-{:02}/note-{n:06}.md", n % 7, n % 41))
    }

    #[test]
    fn similar_paths_do_not_collide() {
        let keys: HashSet<u64> = paths().map(|path| key_of(path.as_bytes())).collect();
        assert_eq!(keys.len(), 400_000);
    }

    #[test]
    fn every_bit_of_similar_paths_is_even_handed() {
        let mut ones = [0_i64; 64];
        for path in paths() {
            let key = key_of(path.as_bytes());
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += i64::from((key >> bit) & 1 == 1);
            }
        }
        // Five standard deviations of a fair coin thrown 400,000 times.
        assert!(ones.iter().all(|count| (count - 200_000).abs() < 5 * 317), "{ones:?}");
    }

    #[test]
    fn buckets_of_similar_paths_fill_evenly() {
        let mut buckets = vec![0_i64; 2000];
        for path in paths() {
            buckets[usize::try_from(crate::format::run::bucket(key_of(path.as_bytes()), 2000)).unwrap()] += 1;
        }
        // Chi-squared with 1999 degrees of freedom: mean 1999, standard deviation 63.
        let chi: i64 = buckets.iter().map(|count| (count - 200).pow(2)).sum::<i64>() / 200;
        assert!((1999 - 5 * 63..1999 + 5 * 63).contains(&chi), "{chi}");
    }

    #[test]
    fn padding_is_not_content() {
        assert_ne!(key_of(b"a"), key_of(b"a\0"));
        assert_ne!(key_of(b""), key_of(b"\0"));
        assert_ne!(key_of(b"12345678"), key_of(b"12345678\0"));
    }
}
