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
            let candidate = (at + place as u64).checked_sub(HEADER as u64).filter(|&offset| offset >= from);
            let Some(offset) = candidate else { continue };
            if let Some(found) = check(segment, offset, len)?.filter(|found| found.header.seq >= least_seq) {
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
            let candidate = (low + place as u64).checked_sub(HEADER as u64);
            if let Some(found) = candidate.map(|offset| check(segment, offset, len)).transpose()?.flatten() {
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

fn read_chunk(segment: &Segment, buf: &mut Vec<u8>, at: u64, end: u64) -> Result<()> {
    let size = usize::try_from(end - at).unwrap_or(usize::MAX).min(CHUNK);
    buf.resize(size, 0);
    let read = segment.read(buf, at)?;
    buf.truncate(read);
    Ok(())
}

fn check(segment: &Segment, offset: u64, len: u64) -> Result<Option<Found>> {
    let mut head = [0_u8; HEADER];
    if segment.read(&mut head, offset)? < HEADER {
        return Ok(None);
    }
    let Some(header) = Header::decode(&head).filter(|header| header.length_is_valid() && header.seq > 0) else {
        return Ok(None);
    };
    let found = Found { offset, header };
    if found.end() > len {
        return Ok(None);
    }
    let mut payload = vec![0_u8; header.length as usize];
    let read = segment.read(&mut payload, offset + HEADER as u64)?;
    Ok((read == payload.len() && crc32c::crc32c(&payload) == header.crc).then_some(found))
}
