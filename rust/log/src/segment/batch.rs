//! Reading frames forward, many at a time.

use super::Segment;
use crate::error::Result;
use crate::format::frame::{HEADER, Header};

/// Bytes read at once, at most; so few that they stay in the processor's cache until they are checked.
const CHUNK: usize = 256 << 10;

/// One whole frame whose checksum holds.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The decoded header.
    pub header: Header,
    /// Where the frame begins in its segment.
    pub offset: u64,
    /// The payload.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Where the frame ends in its segment.
    pub fn end(&self) -> u64 {
        self.offset + self.header.frame_len() as u64
    }
}

/// Where and why bytes are not the frame that they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Where the frame should begin.
    pub offset: u64,
    /// Which number it should have.
    pub expected_seq: u64,
    /// What is wrong with it.
    pub what: &'static str,
}

/// Frames that are whole by their headers, in one buffer that is used again and again.
#[derive(Debug, Default)]
pub struct Batch {
    /// Only ever grows, since growing writes zeros.
    bytes: Vec<u8>,
    /// How many of the bytes are the segment's.
    filled: usize,
    start: u64,
    headers: Vec<(usize, Header)>,
}

impl Batch {
    /// The same buffer without frames.
    #[must_use]
    pub fn cleared(mut self) -> Self {
        self.filled = 0;
        self.headers.clear();
        self
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// The bytes of all frames, headers included, back to back.
    pub fn bytes(&self) -> &[u8] {
        let end = self.headers.last().map_or(0, |(at, header)| at + header.frame_len());
        self.bytes.get(..end).unwrap_or_default()
    }

    /// Where the first frame begins in its segment.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Number of the first frame.
    pub fn first_seq(&self) -> Option<u64> {
        self.headers.first().map(|(_, header)| header.seq)
    }

    /// Returns the `index`-th frame after checking its checksum.
    pub fn frame(&self, index: usize) -> Option<Result<Frame<'_>, Stop>> {
        let &(at, header) = self.headers.get(index)?;
        Some(self.check(at, header))
    }

    /// Returns the frames in order, each after its checksum was checked.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame<'_>, Stop>> {
        self.headers.iter().map(|&(at, header)| self.check(at, header))
    }

    /// Returns the place of the frame that holds the byte at `position` of [`Self::bytes`].
    pub fn index_at(&self, position: usize) -> Option<usize> {
        self.headers.partition_point(|&(at, _)| at <= position).checked_sub(1)
    }

    fn check(&self, at: usize, header: Header) -> Result<Frame<'_>, Stop> {
        let offset = self.start + at as u64;
        let payload = self.bytes.get(at + HEADER..at + header.frame_len()).unwrap_or_default();
        if crc32c::crc32c(payload) != header.crc {
            return Err(Stop { offset, expected_seq: header.seq, what: "the checksum does not match the payload" });
        }
        Ok(Frame { header, offset, payload })
    }
}

/// Walks one segment's headers and hands out batches of whole frames.
#[derive(Debug)]
pub struct BatchReader {
    segment: Segment,
    offset: u64,
    end: u64,
    next_seq: u64,
    /// Bytes behind the last batch, read with it: less than a frame.
    carry: Vec<u8>,
}

impl BatchReader {
    /// Reads from `offset`, where row `next_seq` begins, up to `end` or the end of the segment.
    pub fn new(segment: &Segment, offset: u64, next_seq: u64, end: Option<u64>) -> Result<Self> {
        let len = segment.len()?;
        let end = end.map_or(len, |end| end.min(len));
        Ok(Self { segment: segment.clone(), offset, end, next_seq, carry: Vec::new() })
    }

    /// The segment being read.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Where the next frame begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Number of the next frame.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Fills `batch`. An empty batch and no [`Stop`] is the end of the segment.
    ///
    /// A `Stop` says that the bytes behind the batch are not a frame; the reader stays there.
    pub fn read(&mut self, batch: &mut Batch) -> Result<Option<Stop>> {
        batch.headers.clear();
        batch.start = self.offset;
        batch.filled = 0;
        self.fill(batch, CHUNK)?;
        let stop = loop {
            match self.split(batch) {
                Split::NeedsMore(more) if batch.headers.is_empty() => self.fill(batch, more)?,
                Split::NeedsMore(_) | Split::End => break None,
                Split::Bad(what) => break Some(what),
            }
        };
        let used = batch.bytes().len();
        self.carry.extend_from_slice(batch.bytes.get(used..batch.filled).unwrap_or_default());
        self.offset += used as u64;
        self.next_seq += batch.len() as u64;
        Ok(stop.map(|what| Stop { offset: self.offset, expected_seq: self.next_seq, what }))
    }

    /// Reads until the batch holds `wanted` bytes or the segment ends.
    fn fill(&mut self, batch: &mut Batch, wanted: usize) -> Result<()> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let target = wanted.max(self.carry.len()).min(left);
        if batch.bytes.len() < target {
            batch.bytes.resize(target, 0);
        }
        if let Some(place) = batch.bytes.get_mut(batch.filled..batch.filled + self.carry.len()) {
            place.copy_from_slice(&self.carry);
            batch.filled += self.carry.len();
            self.carry.clear();
        }
        let have = batch.filled;
        if let Some(place) = batch.bytes.get_mut(have..target).filter(|place| !place.is_empty()) {
            batch.filled += self.segment.read(place, self.offset + have as u64)?;
            if batch.filled < target {
                // The file became shorter while it was being read.
                self.end = self.offset + batch.filled as u64;
            }
        }
        Ok(())
    }

    fn split(&self, batch: &mut Batch) -> Split {
        let Batch { bytes, filled, headers, .. } = batch;
        let bytes = bytes.get(..*filled).unwrap_or_default();
        let at_end = self.offset + *filled as u64 >= self.end;
        headers.clear();
        let mut at = 0;
        let mut seq = self.next_seq;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if rest.is_empty() && at_end {
                return Split::End;
            }
            let Some(header) = Header::decode(rest) else {
                return if at_end { Split::Bad("the frame's header is cut off") } else { Split::NeedsMore(CHUNK) };
            };
            if !header.length_is_valid() {
                return Split::Bad("the length is impossible");
            }
            if header.seq != seq {
                return Split::Bad("the sequence number is not the next one");
            }
            if rest.len() < header.frame_len() {
                return if at_end {
                    Split::Bad("the frame is cut off")
                } else {
                    Split::NeedsMore(header.frame_len().max(CHUNK))
                };
            }
            headers.push((at, header));
            at += header.frame_len();
            seq += 1;
        }
    }
}

enum Split {
    /// The next frame needs this many bytes in the buffer.
    NeedsMore(usize),
    /// What follows is not a frame.
    Bad(&'static str),
    /// The segment ends with the last frame.
    End,
}
