//! `index/tree/nodes`: roots of complete subtrees of 256, 65,536, … rows, in the order in which they become complete.

use super::{be32, be64};
use crate::hash::Digest;

/// First bytes of the file; the digit is the version.
pub const MAGIC: &[u8; 8] = b"CYBTREE1";
/// A subtree of one level has 2^this of the level below; level 0 are the rows.
pub const BITS: u32 = 8;
/// Subtrees of one level in one of the next.
pub const WIDTH: u64 = 1 << BITS;
const HASH: usize = 0;
const MARK: usize = HASH + 32;
const CRC: usize = MARK + 32;
/// Length of one record in bytes.
pub const RECORD: usize = CRC + 4;

/// The root of one complete subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its root.
    pub hash: Digest,
    /// Chain of its last row: of which log it is.
    pub mark: Digest,
}

/// Returns the number of the record, counted from 0, that holds subtree `index` of `level` (at least 1).
pub const fn number(level: u32, index: u64) -> u64 {
    // Behind the last of its subtrees of level 1 come those of levels 2, 3, … that end there.
    let mut rest = ((index + 1) << (BITS * (level - 1))) - 1;
    let mut number = rest;
    loop {
        rest >>= BITS;
        if rest == 0 {
            return number + (level - 1) as u64;
        }
        number += rest;
    }
}

/// Returns how many records hold everything about the first `blocks` subtrees of level 1.
pub const fn records(blocks: u64) -> u64 {
    let (mut rest, mut records) = (blocks, 0);
    while rest > 0 {
        records += rest;
        rest >>= BITS;
    }
    records
}

/// Returns where record `number` begins.
pub const fn offset(number: u64) -> u64 {
    MAGIC.len() as u64 + number * RECORD as u64
}

/// Appends record `number`.
pub fn encode(out: &mut Vec<u8>, number: u64, record: &Record) {
    out.extend_from_slice(&record.hash.0);
    out.extend_from_slice(&record.mark.0);
    out.extend_from_slice(&checksum(record, number).to_be_bytes());
}

/// Decodes record `number`; `None` where it is cut short or damaged.
pub fn decode(bytes: &[u8], number: u64) -> Option<Record> {
    let digest = |at: usize| Some(Digest(bytes.get(at..at + 32)?.try_into().ok()?));
    let record = Record { hash: digest(HASH)?, mark: digest(MARK)? };
    (be32(bytes, CRC)? == checksum(&record, number)).then_some(record)
}

/// A record out of its place is damaged too.
fn checksum(record: &Record, number: u64) -> u32 {
    let crc = crc32c::crc32c(&record.hash.0);
    let crc = crc32c::crc32c_append(crc, &record.mark.0);
    crc32c::crc32c_append(crc, &number.to_be_bytes())
}

/// Whether the file begins as it must.
pub fn is_ours(head: &[u8]) -> bool {
    be64(head, 0) == Some(u64::from_be_bytes(*MAGIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_has_the_place_at_which_it_becomes_complete() {
        let mut expected = 0;
        for block in 0..70_000_u64 {
            assert_eq!(records(block), expected);
            assert_eq!(number(1, block), expected);
            expected += 1;
            if (block + 1) % WIDTH == 0 {
                assert_eq!(number(2, (block + 1) / WIDTH - 1), expected);
                expected += 1;
            }
            if (block + 1) % (WIDTH * WIDTH) == 0 {
                assert_eq!(number(3, (block + 1) / (WIDTH * WIDTH) - 1), expected);
                expected += 1;
            }
        }
    }

    #[test]
    fn a_record_that_is_changed_or_moved_is_refused() {
        let record = Record { hash: Digest([1; 32]), mark: Digest([2; 32]) };
        let mut bytes = Vec::new();
        encode(&mut bytes, 7, &record);
        assert_eq!(bytes.len(), RECORD);
        assert_eq!(decode(&bytes, 7), Some(record));
        assert_eq!(decode(&bytes, 8), None);
        assert_eq!(decode(&bytes[..RECORD - 1], 7), None);
        assert_eq!(decode(&[0; RECORD], 0), None);
        for bit in 0..RECORD * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&changed, 7), None);
        }
    }
}
