//! Reading frames backwards.
//!
//! From a known end and the number of the frame that ends there, the frame's start is the one place whose header says so: its
//! length reaches exactly to the end, its number is the expected one and its checksum holds. The last zero byte before the end
//! lies in that header (payloads have none; the number's first byte is zero), which leaves a handful of places to try.

use super::{Frame, Segment, Stop};
use crate::error::Result;
use crate::format::be64;
use crate::format::frame::{HEADER, Header, MAX_PAYLOAD, SEQ};

const FIRST_CHUNK: usize = 16 << 10;
const CHUNK: usize = 256 << 10;

/// Hands out the frames of one segment, newest first.
#[derive(Debug)]
pub struct Reverse {
    segment: Segment,
    /// Bytes of the segment from `start` up to at least `end`.
    buf: Vec<u8>,
    start: u64,
    end: u64,
    seq: u64,
    floor: u64,
    chunk: usize,
}

impl Reverse {
    /// Starts at `end`, where the frame numbered `seq` ends, and goes down to the frame that begins at `floor`.
    pub fn new(segment: &Segment, end: u64, seq: u64, floor: u64) -> Self {
        Self { segment: segment.clone(), buf: Vec::new(), start: end, end, seq, floor, chunk: FIRST_CHUNK }
    }

    /// Number of the frame that comes next.
    pub fn next_seq(&self) -> u64 {
        self.seq
    }

    /// Whether nothing lies between the last frame handed out and the floor.
    pub fn is_at_floor(&self) -> bool {
        self.end <= self.floor
    }

    /// Returns the next older frame; `None` at the floor; a [`Stop`] where what lies before is no such frame.
    #[expect(clippy::should_implement_trait, reason = "the frame borrows the buffer, which an iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Result<Frame<'_>, Stop>>> {
        if self.is_at_floor() {
            return Ok(None);
        }
        let (at, header) = loop {
            match self.locate() {
                Located::At(at, header) => break (at, header),
                Located::NeedsMore if self.start > self.floor && self.have() < MAX_PAYLOAD + HEADER => self.extend()?,
                Located::NeedsMore | Located::Nowhere => {
                    let what = "no frame with the expected number ends here";
                    return Ok(Some(Err(Stop { offset: self.end, expected_seq: self.seq, what })));
                }
            }
        };
        let offset = self.start + at as u64;
        self.end = offset;
        self.seq = header.seq - 1;
        let payload = self.buf.get(at + HEADER..at + header.frame_len()).unwrap_or_default();
        Ok(Some(Ok(Frame { header, offset, payload })))
    }

    /// Number of buffered bytes that lie before the next frame's end.
    fn have(&self) -> usize {
        usize::try_from(self.end - self.start).unwrap_or(usize::MAX)
    }

    fn locate(&self) -> Located {
        let window = self.buf.get(..self.have()).unwrap_or_default();
        let Some(zero) = memchr::memrchr(0, window) else { return Located::NeedsMore };
        let Some(last) = zero.checked_sub(SEQ) else { return Located::NeedsMore };
        for at in (zero.saturating_sub(HEADER - 1)..=last).rev() {
            if be64(window, at + SEQ) == Some(self.seq)
                && let Some(header) = window.get(at..).and_then(Header::decode)
                && header.is_plausible()
                && at + header.frame_len() == window.len()
                && window.get(at + HEADER..).is_some_and(|payload| crc32c::crc32c(payload) == header.crc)
            {
                return Located::At(at, header);
            }
        }
        if zero < HEADER - 1 { Located::NeedsMore } else { Located::Nowhere }
    }

    /// Puts older bytes in front of the ones at hand.
    fn extend(&mut self) -> Result<()> {
        let keep = self.have();
        // At least twice as many as before, so that a large frame takes linear time.
        let low = self.start.saturating_sub(self.chunk.max(keep) as u64).max(self.floor);
        let more = usize::try_from(self.start - low).unwrap_or(0);
        if self.buf.len() < keep + more {
            self.buf.resize(keep + more, 0);
        }
        self.buf.copy_within(..keep, more);
        let read = self.segment.read(self.buf.get_mut(..more).unwrap_or_default(), low)?;
        if read < more {
            // The file was cut while it was being read: what is missing reads as no frame.
            self.buf.get_mut(read..more).unwrap_or_default().fill(0);
        }
        self.start = low;
        self.chunk = (self.chunk * 4).min(CHUNK);
        Ok(())
    }
}

enum Located {
    At(usize, Header),
    NeedsMore,
    Nowhere,
}
