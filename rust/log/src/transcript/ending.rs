//! Where an open transcript ends: found from its end, at the cost of the last append.

use crate::format::transcript::{EMPTY, FIRST, MAGIC, MARKER, Marker};
use crate::medium::MediumFile;

use std::io;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

/// The last whole append of an open transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Where it ends.
    pub end: u64,
    /// What stands there.
    pub marker: Marker,
    /// Bytes behind it: of an append that was cut short.
    pub torn: u64,
}

impl Ending {
    /// Finds it; `None` where the file is no open transcript.
    pub fn find(file: &dyn MediumFile) -> io::Result<Option<Self>> {
        let len = file.len()?;
        if !is_open(file)? {
            return Ok(None);
        }
        let mut before = len;
        while let Some((end, marker)) = last_marker(file, before)? {
            match first_bad(file, end, &marker)? {
                None => return Ok(Some(Self { end, marker, torn: len - end })),
                // Of an append in several frames those before the bad one are whole, if they are.
                Some(start) => before = start,
            }
        }
        Ok(Some(Self { end: FIRST, marker: Marker::NONE, torn: len - FIRST }))
    }
}

/// Whether a file begins as an open transcript does.
pub(super) fn is_open(file: &dyn MediumFile) -> io::Result<bool> {
    let mut start = [0; EMPTY.len() + MARKER];
    let read = file.read_full_at(&mut start, 0)?;
    let (empty, marker) = start.split_at(EMPTY.len());
    Ok(read == start.len() && empty == EMPTY && Marker::decode(marker) == Some(Marker::NONE))
}

/// Returns the last marker that ends at or before `before`, and where it ends.
fn last_marker(file: &dyn MediumFile, before: u64) -> io::Result<Option<(u64, Marker)>> {
    if let Some(marker) = marker_at(file, before)? {
        return Ok(Some((before, marker)));
    }
    let mut to = before;
    let mut buf = vec![0; CHUNK + MARKER];
    while to > FIRST {
        // Pieces overlap by a marker, less a byte.
        let from = to.saturating_sub(CHUNK as u64).max(EMPTY.len() as u64);
        let until = (to + MARKER as u64 - 1).min(before);
        let Some(piece) = usize::try_from(until - from).ok().and_then(|len| buf.get_mut(..len)) else { break };
        let read = file.read_full_at(piece, from)?;
        for at in memchr::memmem::rfind_iter(piece.get(..read).unwrap_or_default(), &MAGIC) {
            let end = from + (at + MARKER) as u64;
            let found = if end <= before { marker_at(file, end)? } else { None };
            if let Some(marker) = found {
                return Ok(Some((end, marker)));
            }
        }
        if from == EMPTY.len() as u64 {
            break;
        }
        to = from;
    }
    Ok(None)
}

fn marker_at(file: &dyn MediumFile, end: u64) -> io::Result<Option<Marker>> {
    let mut bytes = [0; MARKER];
    let Some(at) = end.checked_sub(MARKER as u64) else { return Ok(None) };
    let read = file.read_full_at(&mut bytes, at)?;
    Ok(bytes.get(..read).and_then(Marker::decode).filter(|marker| marker.durable <= at))
}

/// Returns where the first zstd frame that is not whole begins, of those that the append had written that ends at `end`.
///
/// A disk may have kept a later part of what it was never told to keep, and not an earlier one.
fn first_bad(file: &dyn MediumFile, end: u64, last: &Marker) -> io::Result<Option<u64>> {
    let (mut end, mut marker, mut bad) = (end, *last, None);
    loop {
        let at = end - MARKER as u64;
        let Some(start) = at.checked_sub(marker.length).filter(|start| *start >= last.durable) else {
            return Ok(Some(at));
        };
        if crc(file, start, at)? != Some(marker.frame_crc) {
            bad = Some(start);
        }
        if start == last.durable {
            return Ok(bad);
        }
        match marker_at(file, start)? {
            Some(before) if before.durable == last.durable => (end, marker) = (start, before),
            _ => return Ok(Some(start)),
        }
    }
}

fn crc(file: &dyn MediumFile, from: u64, to: u64) -> io::Result<Option<u32>> {
    let (mut at, mut sum) = (from, 0);
    let mut buf = vec![0; usize::try_from(to - from).unwrap_or(CHUNK).min(CHUNK)];
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(CHUNK).min(buf.len());
        let piece = buf.get_mut(..wanted).unwrap_or_default();
        if file.read_full_at(piece, at)? < wanted {
            return Ok(None);
        }
        sum = crc32c::crc32c_append(sum, piece);
        at += wanted as u64;
    }
    Ok(Some(sum))
}
