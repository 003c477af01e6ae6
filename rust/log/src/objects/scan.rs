//! Reading a pack from front to back, over damage.

use std::path::PathBuf;
use std::sync::Arc;

use super::packs::{Fixed, Position, read_at};
use crate::error::{LogError, Result};
use crate::format::frame::HEADER;
use crate::format::pack::{DATA, HEAD, Kind};
use crate::medium::MediumFile;

/// What is read at once.
const WINDOW: usize = 256 << 10;

/// The most frames that may be missing before a pack: what fits in one.
const MAX_MISSING: u64 = 1 << 22;

/// Where the next frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: Position,
    pub(super) seq: u64,
}

impl End {
    /// The first frame of all.
    pub(super) const START: Self = Self { at: Position { pack: 1, offset: 0 }, seq: 1 };

    /// The frame behind one.
    pub(super) const fn behind(at: Position, fixed: &Fixed) -> Self {
        let offset = at.offset + fixed.frame_len();
        Self { at: Position { pack: at.pack, offset }, seq: fixed.header.seq + 1 }
    }
}

/// How far a frame's checksum holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Not looked at.
    Unchecked,
    /// It holds.
    Whole,
    /// It does not, and the data are all zeros, as no body's are: a purge was interrupted. The body is gone.
    HalfPurged,
    /// It does not.
    Damaged,
}

/// One frame as found by a [`Scan`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) at: Position,
    pub(super) fixed: Fixed,
    pub(super) state: State,
}

impl Frame {
    pub(super) const fn seq(&self) -> u64 {
        self.fixed.header.seq
    }

    pub(super) const fn end(&self) -> u64 {
        self.at.offset + self.fixed.frame_len()
    }
}

/// What comes next in a pack.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    /// A frame, whose beginning and end are certain.
    Frame(Frame),
    /// Bytes that are no frames, with a whole frame behind them; `frames` are missing.
    Gap { at: Position, end: u64, frames: u64 },
    /// Bytes that are no frames and have none behind them. Nothing follows.
    Tail { at: Position, end: u64 },
}

/// Reads one pack in order.
///
/// The header of a frame is not covered by its checksum, so its length is believed only where the checksum holds or the
/// next frame is there; where neither is, the scan looks for the next whole frame.
#[derive(Debug)]
pub(super) struct Scan {
    window: Window,
    at: Position,
    seq: u64,
    len: u64,
    /// Whether to check every checksum, not only those that decide where frames end.
    check: bool,
    /// Whether there is a later pack, so that this one was synced to its end.
    more_follow: bool,
}

impl Scan {
    /// Begins where the next frame should be.
    pub(super) fn new(
        file: Arc<dyn MediumFile>,
        path: PathBuf,
        End { at, seq }: End,
        check: bool,
        more_follow: bool,
    ) -> Result<Self> {
        let len = file.len().map_err(LogError::io("look at", &path))?;
        Ok(Self { window: Window { file, path, len, start: 0, bytes: Vec::new() }, at, seq, len, check, more_follow })
    }

    /// Returns the number of the frame that would come next.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the next item; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>> {
        if self.at.offset >= self.len {
            return Ok(None);
        }
        let found = self.fixed(self.at.offset, self.seq, self.seq)?;
        if let Some(fixed) = found {
            let follows = self.follows(self.at.offset, fixed)?;
            let state = if self.check || !follows { self.state(self.at.offset, fixed)? } else { State::Unchecked };
            if follows || state == State::Whole {
                return Ok(Some(self.pass(fixed, state)));
            }
        }
        if let Some((offset, fixed)) = self.next_whole()? {
            let gap = Item::Gap { at: self.at, end: offset, frames: fixed.header.seq - self.seq };
            self.at.offset = offset;
            self.seq = fixed.header.seq;
            return Ok(Some(gap));
        }
        if let Some(fixed) = found
            && self.at.offset + fixed.frame_len() == self.len
        {
            let state = self.state(self.at.offset, fixed)?;
            if self.more_follow || state == State::HalfPurged {
                return Ok(Some(self.pass(fixed, state)));
            }
        }
        let tail = Item::Tail { at: self.at, end: self.len };
        self.len = self.at.offset;
        Ok(Some(tail))
    }

    /// Returns the payload of a frame that was just passed.
    pub(super) fn payload(&mut self, frame: &Frame) -> Result<&[u8]> {
        let bytes = self.window.get(frame.at.offset, frame.fixed.header.frame_len())?;
        Ok(bytes.get(HEADER..).unwrap_or_default())
    }

    fn pass(&mut self, fixed: Fixed, state: State) -> Item {
        let frame = Frame { at: self.at, fixed, state };
        self.at.offset = frame.end();
        self.seq += 1;
        Item::Frame(frame)
    }

    /// Decodes what could be a frame at `offset`: it fits in the file, and its number is in the range.
    fn fixed(&mut self, offset: u64, lowest: u64, highest: u64) -> Result<Option<Fixed>> {
        let len = self.len;
        Ok(Fixed::decode(self.window.get(offset, DATA)?).filter(|fixed| {
            (lowest..=highest).contains(&fixed.header.seq) && fixed.frame_len() <= len.saturating_sub(offset)
        }))
    }

    /// Whether the next frame is where this one ends.
    fn follows(&mut self, offset: u64, fixed: Fixed) -> Result<bool> {
        let next = fixed.header.seq + 1;
        Ok(self.fixed(offset + fixed.frame_len(), next, next)?.is_some())
    }

    fn state(&mut self, offset: u64, fixed: Fixed) -> Result<State> {
        let payload = self.window.get(offset, fixed.header.frame_len())?.get(HEADER..).unwrap_or_default();
        Ok(check(fixed, payload))
    }

    /// Looks for the nearest whole frame that may follow from here on.
    fn next_whole(&mut self) -> Result<Option<(u64, Fixed)>> {
        if self.at.offset == 0
            && let Some(fixed) = self.fixed(0, self.seq + 1, self.seq + MAX_MISSING)?
            && (fixed.frame_len() == self.len || self.follows(0, fixed)?)
            && self.state(0, fixed)? == State::Whole
        {
            // An earlier pack lacks its end. No checksum covers the number, so the next frame has to agree with it.
            return Ok(Some((0, fixed)));
        }
        let last = self.len.saturating_sub(DATA as u64);
        for offset in self.at.offset + 1..=last {
            // At least the frame that should begin here is missing, and no more than fit in between.
            let room = (offset - self.at.offset) / DATA as u64;
            if let Some(fixed) = self.fixed(offset, self.seq + 1, self.seq + room)?
                && self.state(offset, fixed)? == State::Whole
            {
                return Ok(Some((offset, fixed)));
            }
        }
        Ok(None)
    }
}

/// Checks a payload that was read in full.
pub(super) fn check(fixed: Fixed, payload: &[u8]) -> State {
    let data = payload.get(HEAD..).unwrap_or_default();
    if crc32c::crc32c(payload) == fixed.header.crc {
        State::Whole
    } else if !data.is_empty() && data.iter().all(|byte| *byte == 0) {
        State::HalfPurged
    } else {
        State::Damaged
    }
}

/// Whether the body of such a frame is gone by a purge, finished or not.
pub(super) fn is_purged(fixed: Fixed, state: State) -> bool {
    state == State::HalfPurged || (state == State::Whole && fixed.head.kind == Kind::Purged)
}

/// A part of a file, read ahead.
#[derive(Debug)]
struct Window {
    file: Arc<dyn MediumFile>,
    path: PathBuf,
    /// What counts as the end of the file, whatever is appended meanwhile.
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns `wanted` bytes at `offset`, fewer only at the end of the file.
    fn get(&mut self, offset: u64, wanted: usize) -> Result<&[u8]> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = wanted.min(left);
        let end = self.start + self.bytes.len() as u64;
        if offset < self.start || offset + wanted as u64 > end {
            self.bytes.resize(wanted.max(WINDOW.min(left)), 0);
            self.start = offset;
            let read = read_at(&*self.file, &self.path, &mut self.bytes, offset)?;
            self.bytes.truncate(read);
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        let rest = self.bytes.get(from..).unwrap_or_default();
        Ok(rest.get(..wanted).unwrap_or(rest))
    }
}
