//! SHA-256 of two messages at a time, with the processor's instructions for it (x86-64 with SHA-NI).
//!
//! Each of these instructions waits for the one before; a second message fills the gaps.

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x, _mm_sha256msg1_epu32,
    _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32, _mm_shuffle_epi8, _mm_shuffle_epi32,
};

/// The constants of the rounds, four at a time (FIPS 180-4, 4.2.2).
const K: [[u32; 4]; 16] = [
    [0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5],
    [0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5],
    [0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3],
    [0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174],
    [0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc],
    [0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da],
    [0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7],
    [0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967],
    [0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13],
    [0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85],
    [0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3],
    [0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070],
    [0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5],
    [0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3],
    [0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208],
    [0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2],
];

/// Whether the processor has the instructions.
pub(super) fn are_there() -> bool {
    is_x86_feature_detected!("sha") && is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("sse4.1")
}

/// One message on its way.
#[derive(Clone, Copy)]
struct Lane {
    /// The state's words, highest first, as the instructions want them.
    abef: __m128i,
    cdgh: __m128i,
    /// Sixteen words of the message schedule, from the next one on.
    schedule: [__m128i; 4],
}

/// Hashes on, each state by its blocks, as many as both have.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) fn compress(states: [&mut [u32; 8]; 2], blocks: [&[[u8; 64]]; 2]) {
    let [first, second] = states;
    let [first_blocks, second_blocks] = blocks;
    let (mut one, mut other) = (Lane::of(first), Lane::of(second));
    for (block, other_block) in first_blocks.iter().zip(second_blocks) {
        let begun = (one, other);
        one.load(block);
        other.load(other_block);
        let (scheduling, last) = K.split_at(12);
        for constants in scheduling {
            let constants = words(*constants);
            one.rounds(one.schedule[0], constants);
            other.rounds(other.schedule[0], constants);
            one.extend();
            other.extend();
        }
        for ((constants, words_of_one), words_of_other) in last.iter().zip(one.schedule).zip(other.schedule) {
            let constants = words(*constants);
            one.rounds(words_of_one, constants);
            other.rounds(words_of_other, constants);
        }
        one.add(&begun.0);
        other.add(&begun.1);
    }
    *first = one.state();
    *second = other.state();
}

impl Lane {
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn of(state: &[u32; 8]) -> Self {
        let &[first, second, third, fourth, fifth, sixth, seventh, eighth] = state;
        let abef = words([sixth, fifth, second, first]);
        let cdgh = words([eighth, seventh, fourth, third]);
        Self { abef, cdgh, schedule: [abef; 4] }
    }

    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn state(self) -> [u32; 8] {
        let Self { abef, cdgh, .. } = self;
        [
            _mm_extract_epi32(abef, 3),
            _mm_extract_epi32(abef, 2),
            _mm_extract_epi32(cdgh, 3),
            _mm_extract_epi32(cdgh, 2),
            _mm_extract_epi32(abef, 1),
            _mm_extract_epi32(abef, 0),
            _mm_extract_epi32(cdgh, 1),
            _mm_extract_epi32(cdgh, 0),
        ]
        .map(i32::cast_unsigned)
    }

    /// Takes in a block: sixteen words, most significant byte first.
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn load(&mut self, block: &[u8; 64]) {
        let swapped = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        let halves = block.as_chunks::<8>().0.as_chunks::<2>().0;
        for (words, [low, high]) in self.schedule.iter_mut().zip(halves) {
            *words = _mm_shuffle_epi8(_mm_set_epi64x(i64::from_le_bytes(*high), i64::from_le_bytes(*low)), swapped);
        }
    }

    /// Replaces the four words that were used by the next four (FIPS 180-4, 6.2.2, step 1).
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn extend(&mut self) {
        let [first, second, third, fourth] = self.schedule;
        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(first, second), _mm_alignr_epi8(fourth, third, 4));
        self.schedule = [second, third, fourth, _mm_sha256msg2_epu32(sum, fourth)];
    }

    /// Does four rounds (FIPS 180-4, 6.2.2, step 3).
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn rounds(&mut self, words: __m128i, constants: __m128i) {
        let sum = _mm_add_epi32(words, constants);
        self.cdgh = _mm_sha256rnds2_epu32(self.cdgh, self.abef, sum);
        self.abef = _mm_sha256rnds2_epu32(self.abef, self.cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }

    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline]
    fn add(&mut self, begun: &Self) {
        self.abef = _mm_add_epi32(self.abef, begun.abef);
        self.cdgh = _mm_add_epi32(self.cdgh, begun.cdgh);
    }
}

/// Four words, lowest first.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
#[inline]
fn words([first, second, third, fourth]: [u32; 4]) -> __m128i {
    _mm_set_epi32(fourth.cast_signed(), third.cast_signed(), second.cast_signed(), first.cast_signed())
}
