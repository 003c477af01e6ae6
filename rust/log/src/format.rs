//! Byte positions of everything binary in a store. `FORMAT.md` is the specification; this file is its only implementation.
//!
//! Offsets are chained (previous offset plus previous size), so that a field cannot move without the rest moving too.

use crate::hash::Digest;

pub mod pack;
pub mod run;
pub mod segments;
pub mod transcript;
pub mod tree;

/// One frame: `u32 BE length | u32 BE crc32c(payload) | u64 BE seq | u64 BE ts_ns | payload`.
pub mod frame {
    use super::{be32, be64};

    const LENGTH: usize = 0;
    const CRC: usize = LENGTH + 4;
    /// Offset of the sequence number.
    pub const SEQ: usize = CRC + 4;
    const TS: usize = SEQ + 8;
    /// Bytes before the payload.
    pub const HEADER: usize = TS + 8;
    /// A payload is shorter than this; so the first byte of every header is zero.
    pub const MAX_PAYLOAD: usize = 1 << 24;
    /// Sequence numbers are smaller than this; so the first byte of every number is zero.
    pub const MAX_SEQ: u64 = 1 << 56;

    /// The fixed part of a frame, decoded but not yet trusted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Header {
        /// Length of the payload in bytes.
        pub length: u32,
        /// CRC-32C (Castagnoli) of the payload.
        pub crc: u32,
        /// Sequence number, contiguous from 1.
        pub seq: u64,
        /// Nanoseconds since the Unix epoch, UTC.
        pub ts_ns: u64,
    }

    impl Header {
        /// Decodes the first [`HEADER`] bytes of `bytes`; `None` where there are fewer.
        pub fn decode(bytes: &[u8]) -> Option<Self> {
            Some(Self {
                length: be32(bytes, LENGTH)?,
                crc: be32(bytes, CRC)?,
                seq: be64(bytes, SEQ)?,
                ts_ns: be64(bytes, TS)?,
            })
        }

        /// Encodes the fixed part.
        pub fn encode(&self) -> [u8; HEADER] {
            let mut bytes = [0; HEADER];
            let (length_crc, seq_ts) = bytes.split_at_mut(SEQ);
            let (length, crc) = length_crc.split_at_mut(CRC);
            let (seq, ts_ns) = seq_ts.split_at_mut(TS - SEQ);
            length.copy_from_slice(&self.length.to_be_bytes());
            crc.copy_from_slice(&self.crc.to_be_bytes());
            seq.copy_from_slice(&self.seq.to_be_bytes());
            ts_ns.copy_from_slice(&self.ts_ns.to_be_bytes());
            bytes
        }

        /// Returns the length of the whole frame, header included.
        pub const fn frame_len(&self) -> usize {
            HEADER + self.length as usize
        }

        /// Whether the length is one that a writer may produce.
        pub const fn length_is_valid(&self) -> bool {
            self.length > 0 && (self.length as usize) < MAX_PAYLOAD
        }

        /// Whether length and number are ones that a writer may produce.
        pub const fn is_plausible(&self) -> bool {
            self.length_is_valid() && 0 < self.seq && self.seq < MAX_SEQ
        }
    }

    /// Appends one whole frame to `out`. The caller has checked that the payload is shorter than [`MAX_PAYLOAD`].
    pub fn encode(out: &mut Vec<u8>, seq: u64, ts_ns: u64, payload: &[u8]) {
        out.reserve(HEADER + payload.len());
        encode_header(out, seq, ts_ns, payload);
        out.extend_from_slice(payload);
    }

    /// Appends the header of a frame to `out`, under the same condition.
    pub fn encode_header(out: &mut Vec<u8>, seq: u64, ts_ns: u64, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        debug_assert!(payload.len() < MAX_PAYLOAD, "the row builder bounds payloads");
        let crc = crc32c::crc32c(payload);
        out.extend_from_slice(&Header { length, crc, seq, ts_ns }.encode());
    }
}

/// `HEAD`: the number of the last row, for upstream's readers.
pub mod head {
    /// Length of the file in bytes.
    pub const LEN: usize = 8;

    /// Encodes the file.
    pub const fn encode(seq: u64) -> [u8; LEN] {
        seq.to_le_bytes()
    }

    /// Decodes the file; `None` where it has another length.
    pub fn decode(bytes: &[u8]) -> Option<u64> {
        bytes.try_into().ok().map(u64::from_le_bytes)
    }
}

/// `audit/tip`: two slots, written in turn; the valid one with the higher generation counts.
pub mod tip {
    use super::{Digest, be32, be64, frame};

    /// Size of one slot in bytes.
    pub const SLOT: usize = 512;
    /// First bytes of a slot.
    pub const MAGIC: &[u8; 8] = b"CYBTIP1\n";
    const GENERATION: usize = MAGIC.len();
    const SEQ: usize = GENERATION + 8;
    const SEGMENT: usize = SEQ + 8;
    const OFFSET: usize = SEGMENT + 8;
    const CHAIN: usize = OFFSET + 8;
    const VIEW_SEQ: usize = CHAIN + 32;
    const BOOT: usize = VIEW_SEQ + 8;
    const BODIES: usize = BOOT + 8;
    const USED: usize = BODIES + 8;
    const CRC: usize = SLOT - 4;

    /// What is acknowledged: everything up to and including row `seq`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Tip {
        /// Counts tip writes; the slot is `generation % 2`.
        pub generation: u64,
        /// Sequence number of the last acknowledged row; 0 for an empty log.
        pub seq: u64,
        /// First sequence number of the segment that holds the row.
        pub segment: u64,
        /// End of the row's frame in that segment.
        pub offset: u64,
        /// The row's `chain`; zero for an empty log.
        pub chain: Digest,
        /// Working files, bodies to erase and Merkle peaks reflect every row up to this one, durably.
        pub view_seq: u64,
        /// Tells one run of the operating system from another (see [`crate::medium::Medium::boot`]); 0 where unknown.
        pub boot: u64,
        /// Number of the last body in the packs that a row was written for, or that is known not to bring back what was purged;
        /// 0 where unknown.
        pub bodies: u64,
    }

    impl Tip {
        /// Encodes one slot.
        pub fn encode(&self) -> [u8; SLOT] {
            let mut slot = [0_u8; SLOT];
            let mut put = |at: usize, bytes: &[u8]| {
                if let Some(place) = slot.get_mut(at..at + bytes.len()) {
                    place.copy_from_slice(bytes);
                }
            };
            put(0, MAGIC);
            put(GENERATION, &self.generation.to_be_bytes());
            put(SEQ, &self.seq.to_be_bytes());
            put(SEGMENT, &self.segment.to_be_bytes());
            put(OFFSET, &self.offset.to_be_bytes());
            put(CHAIN, &self.chain.0);
            put(VIEW_SEQ, &self.view_seq.to_be_bytes());
            put(BOOT, &self.boot.to_be_bytes());
            put(BODIES, &self.bodies.to_be_bytes());
            let crc = crc32c::crc32c(slot.split_at(CRC).0);
            if let Some(place) = slot.get_mut(CRC..) {
                place.copy_from_slice(&crc.to_be_bytes());
            }
            slot
        }

        /// Decodes one slot; `None` where it is not whole, not ours or fails its checksum.
        pub fn decode(slot: &[u8]) -> Option<Self> {
            let slot: &[u8; SLOT] = slot.try_into().ok()?;
            let covered = slot.split_at(CRC).0;
            if slot.get(..MAGIC.len())? != MAGIC || be32(slot, CRC)? != crc32c::crc32c(covered) {
                return None;
            }
            const { assert!(USED <= CRC, "the fields fit in a slot") };
            let tip = Self {
                generation: be64(slot, GENERATION)?,
                seq: be64(slot, SEQ)?,
                segment: be64(slot, SEGMENT)?,
                offset: be64(slot, OFFSET)?,
                chain: Digest(slot.get(CHAIN..CHAIN + 32)?.try_into().ok()?),
                view_seq: be64(slot, VIEW_SEQ)?,
                boot: be64(slot, BOOT)?,
                bodies: be64(slot, BODIES)?,
            };
            // Counting on from these never overflows.
            (tip.seq < frame::MAX_SEQ && tip.generation < u64::MAX).then_some(tip)
        }
    }
}

/// `audit/mmr/peaks.bin`: the compact range of the RFC 6962 tree over all payloads.
pub mod peaks {
    use super::{Digest, be32, be64};

    /// First bytes of the file.
    pub const MAGIC: &[u8; 21] = b"CYBEROS-MMR-PEAKS-v1\n";
    const LEAVES: usize = MAGIC.len();
    const COUNT: usize = LEAVES + 8;
    const FIRST: usize = COUNT + 4;
    const HEIGHT: usize = 4;
    const PEAK: usize = HEIGHT + 32;
    /// The file is at most this long: one peak for each bit of the number of leaves.
    pub const MAX_LEN: usize = FIRST + 64 * PEAK;

    /// Encodes the file: number of leaves, then `(height, digest)` per peak, left to right.
    pub fn encode(leaves: u64, peaks: &[(u32, Digest)]) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIRST + peaks.len() * PEAK);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&leaves.to_be_bytes());
        out.extend_from_slice(&u32::try_from(peaks.len()).unwrap_or(u32::MAX).to_be_bytes());
        for (height, digest) in peaks {
            out.extend_from_slice(&height.to_be_bytes());
            out.extend_from_slice(&digest.0);
        }
        out
    }

    /// Decodes the file; `None` where its shape is wrong.
    pub fn decode(bytes: &[u8]) -> Option<(u64, Vec<(u32, Digest)>)> {
        if bytes.get(..MAGIC.len())? != MAGIC {
            return None;
        }
        let leaves = be64(bytes, LEAVES)?;
        let count = be32(bytes, COUNT)? as usize;
        let rest = bytes.get(FIRST..)?;
        if bytes.len() > MAX_LEN || rest.len() != count * PEAK {
            return None;
        }
        let peak = |at: &[u8]| Some((be32(at, 0)?, Digest(at.get(HEIGHT..PEAK)?.try_into().ok()?)));
        let peaks = rest.chunks_exact(PEAK).map(peak).collect::<Option<Vec<_>>>()?;
        Some((leaves, peaks))
    }
}

/// Reads a big-endian `u32` at `at`.
pub fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Reads a big-endian `u64` at `at`.
pub fn be64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
