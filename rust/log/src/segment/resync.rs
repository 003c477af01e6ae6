//! Finding whole frames behind damage.
//!
//! No payload byte is below 0x20, every payload begins with `{"actor":` and every header begins with 0x00, so a frame can be
//! found by its payload's first bytes and is believed only when its checksum holds.

use memchr::memmem;

use super::Segment;
use crate::error::Result;
use crate::format::frame::{HEADER, Header};

const START: &[u8] = br#"{"actor":"#;
const CHUNK: usize = 1 << 20;
/// The unit in which a disk writes.
const SECTOR: usize = 512;

/// A whole frame, found by searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Where the frame begins.
    pub offset: u64,
    /// Its header.
    pub header: Header,
}

impl Found {
    /// Where the frame ends.
    pub fn end(&self) -> u64 {
        self.offset + self.header.frame_len() as u64
    }
}

/// Returns the first whole frame that begins at `from` or later and has at least the number `least_seq`.
pub fn find_frame(segment: &Segment, from: u64, least_seq: u64) -> Result<Option<Found>> {
    let len = segment.len()?;
    let finder = memmem::Finder::new(START);
    let mut buf = Vec::new();
    let mut at = from;
    while at < len {
        read_chunk(segment, &mut buf, at, len)?;
        for place in finder.find_iter(&buf) {
            let Some(offset) = (at + place as u64).checked_sub(HEADER as u64).filter(|&offset| offset >= from) else {
                continue;
            };
            if let Some(found) = check(segment, offset, (&buf, place), len)?
                && found.header.seq >= least_seq
            {
                return Ok(Some(found));
            }
        }
        if buf.len() < CHUNK {
            break;
        }
        // The overlap keeps a start that lies across two chunks.
        at += (buf.len() - START.len() + 1) as u64;
    }
    Ok(None)
}

/// Returns the last whole frame of the segment that ends at `end` or earlier.
pub fn find_last_frame(segment: &Segment, end: u64) -> Result<Option<Found>> {
    let len = segment.len()?.min(end);
    let finder = memmem::FinderRev::new(START);
    let mut buf = Vec::new();
    let mut high = len;
    while high > 0 {
        let low = high.saturating_sub(CHUNK as u64);
        read_chunk(segment, &mut buf, low, high)?;
        let mut window = buf.as_slice();
        while let Some(place) = finder.rfind(window) {
            if let Some(offset) = (low + place as u64).checked_sub(HEADER as u64)
                && let Some(found) = check(segment, offset, (&buf, place), len)?
            {
                return Ok(Some(found));
            }
            window = window.get(..place + START.len() - 1).unwrap_or_default();
        }
        if low == 0 {
            break;
        }
        high = low + START.len() as u64 - 1;
    }
    Ok(None)
}

/// Whether a piece of `from..to`, as large as the sector it lies in allows, is nothing but zeros.
///
/// Frames have no such piece (the first two bytes of a header may be zero, where a sector ends behind them), and no flipped
/// bit makes one: it is a part of a write that never reached the disk, although later parts of the same write did.
pub fn holds_unwritten_sector(segment: &Segment, from: u64, to: u64) -> Result<bool> {
    let mut buf = [0_u8; SECTOR];
    let mut at = from;
    while at < to {
        let end = (at + 1).next_multiple_of(SECTOR as u64).min(to);
        let piece = buf.get_mut(..usize::try_from(end - at).unwrap_or(0)).unwrap_or_default();
        let read = segment.read(piece, at)?;
        if read > 2 && read == piece.len() && piece.iter().all(|&byte| byte == 0) {
            return Ok(true);
        }
        at = end;
    }
    Ok(false)
}

fn read_chunk(segment: &Segment, buf: &mut Vec<u8>, at: u64, end: u64) -> Result<()> {
    let size = usize::try_from(end - at).unwrap_or(usize::MAX).min(CHUNK);
    buf.resize(size, 0);
    let read = segment.read(buf, at)?;
    buf.truncate(read);
    Ok(())
}

/// Checks the frame at `offset`, whose payload begins at a place in a buffer that may hold only a part of it.
fn check(segment: &Segment, offset: u64, (buf, place): (&[u8], usize), len: u64) -> Result<Option<Found>> {
    let header = if let Some(at) = place.checked_sub(HEADER) {
        buf.get(at..).and_then(Header::decode)
    } else {
        let mut head = [0_u8; HEADER];
        let read = segment.read(&mut head, offset)?;
        head.get(..read).and_then(Header::decode)
    };
    let Some(header) = header.filter(Header::is_plausible) else { return Ok(None) };
    let found = Found { offset, header };
    let length = header.length as usize;
    let begun = buf.get(place..).unwrap_or_default();
    let begun = begun.get(..length).unwrap_or(begun);
    // A payload ends before the next header at the latest, so that all these looks together take linear time.
    if found.end() > len || begun.iter().any(|&byte| byte < 0x20) {
        return Ok(None);
    }
    if begun.len() == length {
        return Ok((crc32c::crc32c(begun) == header.crc).then_some(found));
    }
    let mut payload = vec![0_u8; length];
    let read = segment.read(&mut payload, offset + HEADER as u64)?;
    Ok((read == length && crc32c::crc32c(&payload) == header.crc).then_some(found))
}
