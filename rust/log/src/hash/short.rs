//! Hashing messages of a few blocks in one step.
//!
//! Rows and pairs of digests are so short that the general hasher spends a good part of its time on its buffer.

use sha2::block_api::compress256;

use super::Digest;

/// The initial value of SHA-256 (FIPS 180-4, 5.3.3).
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Most blocks of a message that is hashed here.
const FEW: usize = 2;
const MANY: usize = 16;

type Block = [u8; 64];

/// Hashes a message; `None` where it is too long.
pub(super) fn one(parts: &[&[u8]]) -> Option<Digest> {
    let hash = |blocks: &[Block]| {
        let mut state = START;
        compress256(&mut state, blocks);
        digest_of(state)
    };
    match blocks_of(parts) {
        blocks if blocks <= FEW => pad::<FEW>(parts, &mut [[0; 64]; FEW]).map(hash),
        blocks if blocks <= MANY => pad::<MANY>(parts, &mut [[0; 64]; MANY]).map(hash),
        _ => None,
    }
}

/// Hashes two messages; `None` where one of them is too long.
pub(super) fn two(first: &[&[u8]], second: &[&[u8]]) -> Option<[Digest; 2]> {
    match blocks_of(first).max(blocks_of(second)) {
        blocks if blocks <= FEW => both::<FEW>(first, second),
        blocks if blocks <= MANY => both::<MANY>(first, second),
        _ => None,
    }
}

fn both<const BLOCKS: usize>(first: &[&[u8]], second: &[&[u8]]) -> Option<[Digest; 2]> {
    let (mut first_blocks, mut second_blocks) = ([[0; 64]; BLOCKS], [[0; 64]; BLOCKS]);
    let first = pad(first, &mut first_blocks)?;
    let second = pad(second, &mut second_blocks)?;
    let common = first.len().min(second.len());
    let (first, first_rest) = first.split_at_checked(common)?;
    let (second, second_rest) = second.split_at_checked(common)?;
    let (mut one, mut other) = (START, START);
    compress_two([&mut one, &mut other], [first, second]);
    compress256(&mut one, first_rest);
    compress256(&mut other, second_rest);
    Some([digest_of(one), digest_of(other)])
}

#[cfg(target_arch = "x86_64")]
fn compress_two(states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
    if super::lanes::are_there() {
        #[expect(unsafe_code, reason = "the processor has the instructions that the function is compiled for")]
        // SAFETY: it was asked whether it has them.
        unsafe {
            super::lanes::compress(states, blocks);
        }
    } else {
        one_by_one(states, blocks);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn compress_two(states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
    one_by_one(states, blocks);
}

fn one_by_one(states: [&mut [u32; 8]; 2], blocks: [&[Block]; 2]) {
    for (state, blocks) in states.into_iter().zip(blocks) {
        compress256(state, blocks);
    }
}

/// Number of blocks that a message takes: behind it stand a 1 bit and 64 bits of length (FIPS 180-4, 5.1.1).
fn blocks_of(parts: &[&[u8]]) -> usize {
    (length(parts) + 9).div_ceil(64)
}

fn length(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

/// Lays a message out in blocks of zeros, with what stands behind it; returns those that it takes, `None` where they are not
/// enough.
fn pad<'b, const BLOCKS: usize>(parts: &[&[u8]], blocks: &'b mut [Block; BLOCKS]) -> Option<&'b [Block]> {
    let mut rest = blocks.as_flattened_mut();
    for part in parts {
        let (place, behind) = rest.split_at_mut_checked(part.len())?;
        place.copy_from_slice(part);
        rest = behind;
    }
    *rest.first_mut()? = 0x80;
    let used = blocks.get_mut(..blocks_of(parts))?;
    *used.last_mut()?.last_chunk_mut()? = (length(parts) as u64 * 8).to_be_bytes();
    Some(used)
}

fn digest_of(state: [u32; 8]) -> Digest {
    let mut digest = Digest::ZERO;
    for (bytes, word) in digest.0.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}
