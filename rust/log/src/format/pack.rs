//! `audit/objects/<nnn>.pack`: version bodies, one a frame, numbered from 1 over all packs.

use super::{be32, frame};
use crate::hash::Digest;

const KIND: usize = 0;
const DIGEST: usize = KIND + 1;
const LENGTH: usize = DIGEST + 32;
/// Bytes of a payload before the data.
pub const HEAD: usize = LENGTH + 4;
/// Bytes of a frame before the data.
pub const DATA: usize = frame::HEADER + HEAD;
/// Set in the kind byte of the first frame that one flush wrote.
const STARTS_GROUP: u8 = 0x80;

/// What a frame's data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Zeros, where a body was erased.
    Purged = 0,
    /// One zstd frame.
    Zstd = 1,
    /// The body itself.
    Stored = 2,
}

/// The fixed part of a payload: `u8 kind | 32 bytes SHA-256 of the body | u32 BE length of the body`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the data is.
    pub kind: Kind,
    /// Whether this is the first frame that one flush wrote.
    pub starts_group: bool,
    /// SHA-256 of the body.
    pub sha: Digest,
    /// Length of the body in bytes, uncompressed.
    pub length: u32,
}

impl Head {
    /// Encodes the fixed part.
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let (fixed, length) = bytes.split_at_mut(LENGTH);
        length.copy_from_slice(&self.length.to_be_bytes());
        if let Some((kind, digest)) = fixed.split_first_mut() {
            *kind = self.kind as u8 | if self.starts_group { STARTS_GROUP } else { 0 };
            digest.copy_from_slice(&self.sha.0);
        }
        bytes
    }

    /// Decodes the fixed part at the start of a payload; `None` where it is cut short or of an unknown kind.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let kind = *payload.get(KIND)?;
        Some(Self {
            kind: match kind & !STARTS_GROUP {
                0 => Kind::Purged,
                1 => Kind::Zstd,
                2 => Kind::Stored,
                _ => return None,
            },
            starts_group: kind & STARTS_GROUP != 0,
            sha: Digest(payload.get(DIGEST..LENGTH)?.try_into().ok()?),
            length: be32(payload, LENGTH)?,
        })
    }
}

/// Marks a payload as the first of a group.
pub fn start_group(payload: &mut [u8]) {
    if let Some(kind) = payload.get_mut(KIND) {
        *kind |= STARTS_GROUP;
    }
}

/// Identifies a frame for as long as it exists: what a purge changes (kind, data, checksum) is not part of it.
pub fn mark(header: &frame::Header, head: &Head) -> Digest {
    let (length, seq, ts_ns) = (header.length.to_be_bytes(), header.seq.to_be_bytes(), header.ts_ns.to_be_bytes());
    Digest::of(&[&length, &seq, &ts_ns, &head.sha.0])
}

/// Returns the name of a pack's file: at least three digits.
pub fn name(number: u32) -> String {
    format!("{number:03}.pack")
}

/// Reads the name of a pack's file; `None` where it is another file's.
pub fn number(file_name: &str) -> Option<u32> {
    let number = file_name.strip_suffix(".pack")?.parse().ok()?;
    (number > 0 && name(number) == file_name).then_some(number)
}
