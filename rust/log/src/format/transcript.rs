//! `sessions/<date>/<id>.binlog.zst` while it is open: an empty zstd frame, then zstd frames that each have a marker behind them.

use super::{Digest, be32, be64};

/// A zstd frame without content: what an open transcript begins with.
pub const EMPTY: [u8; 9] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00];
/// First bytes of a marker: those of a skippable zstd frame, little-endian as zstd has it.
pub const MAGIC: [u8; 4] = 0x184d_2a5c_u32.to_le_bytes();
/// First bytes of every zstd frame that is not skippable.
pub const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
const SIZE: usize = MAGIC.len();
const LENGTH: usize = SIZE + 4;
const TURNS: usize = LENGTH + 8;
const PLAIN: usize = TURNS + 8;
const DURABLE: usize = PLAIN + 8;
const FRAME_CRC: usize = DURABLE + 8;
const CHAIN: usize = FRAME_CRC + 4;
const CRC: usize = CHAIN + 32;
/// Length of a marker.
pub const MARKER: usize = CRC + 4;
/// What zstd skips: a marker without its magic and size.
#[expect(clippy::cast_possible_truncation, reason = "it is a small constant")]
const SKIPPED: u32 = (MARKER - LENGTH) as u32;
/// Length of a transcript without turns.
pub const FIRST: u64 = (EMPTY.len() + MARKER) as u64;

/// What stands behind each zstd frame, so that the end of a transcript says where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Length of the zstd frame before the marker.
    pub length: u64,
    /// Number of turns up to here.
    pub turns: u64,
    /// Length of their frames, decompressed.
    pub plain: u64,
    /// Length of the file when the append that wrote this began: all before was durable.
    pub durable: u64,
    /// CRC-32C of the zstd frame.
    pub frame_crc: u32,
    /// `chain` of the last turn; zeros without one.
    pub chain: Digest,
}

impl Marker {
    /// The marker of a transcript without turns.
    pub const NONE: Self =
        Self { length: 0, turns: 0, plain: 0, durable: EMPTY.len() as u64, frame_crc: 0, chain: Digest::ZERO };

    /// Encodes the whole skippable frame.
    pub fn encode(&self) -> [u8; MARKER] {
        let mut bytes = [0; MARKER];
        let mut put = |at: usize, field: &[u8]| {
            if let Some(place) = bytes.get_mut(at..at + field.len()) {
                place.copy_from_slice(field);
            }
        };
        put(0, &MAGIC);
        put(SIZE, &SKIPPED.to_le_bytes());
        put(LENGTH, &self.length.to_be_bytes());
        put(TURNS, &self.turns.to_be_bytes());
        put(PLAIN, &self.plain.to_be_bytes());
        put(DURABLE, &self.durable.to_be_bytes());
        put(FRAME_CRC, &self.frame_crc.to_be_bytes());
        put(CHAIN, &self.chain.0);
        let crc = crc32c::crc32c(bytes.split_at(CRC).0);
        if let Some(place) = bytes.get_mut(CRC..) {
            place.copy_from_slice(&crc.to_be_bytes());
        }
        bytes
    }

    /// Decodes a marker; `None` where the bytes are none, or damaged.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; MARKER] = bytes.try_into().ok()?;
        let marker = Self {
            length: be64(bytes, LENGTH)?,
            turns: be64(bytes, TURNS)?,
            plain: be64(bytes, PLAIN)?,
            durable: be64(bytes, DURABLE)?,
            frame_crc: be32(bytes, FRAME_CRC)?,
            chain: Digest(bytes.get(CHAIN..CRC)?.try_into().ok()?),
        };
        // Encoding again also checks the magic, the size and the checksum.
        (marker.encode() == *bytes).then_some(marker)
    }
}
