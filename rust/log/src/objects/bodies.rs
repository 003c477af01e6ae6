//! All bodies in order: for verifying them, and for what else needs every one.

use std::collections::VecDeque;

use super::packs::{Position, corrupt};
use super::reader::BodyReader;
use super::scan::{End, Frame, Item, Scan, State, is_purged};
use crate::error::Result;
use crate::format::pack;
use crate::hash::Digest;

/// One frame of a pack whose checksum holds.
#[derive(Debug, Clone, Copy)]
pub struct Stored {
    pub(super) at: Position,
    /// The frame's number, from 1 over all packs.
    pub seq: u64,
    /// When it was written: nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
    /// SHA-256 of the body; zeros for the place of a body that a crash left unfinished.
    pub sha: Digest,
    /// Length of the body in bytes, uncompressed.
    pub length: u32,
    /// Whether the body was erased.
    pub purged: bool,
}

impl Stored {
    /// Returns the pack's file name.
    pub fn pack(&self) -> String {
        pack::name(self.at.pack)
    }

    /// Returns the offset of the frame in its pack.
    pub const fn offset(&self) -> u64 {
        self.at.offset
    }
}

/// Iterates over all frames. See [`BodyReader::iterate`].
///
/// Damage is an error in its place, and iterating goes on behind it. At the end of the last pack, behind the last flush that
/// is known to have been synced, it is left out instead: a crash leaves such damage, and nothing there was acknowledged.
#[derive(Debug)]
pub struct Bodies<'r> {
    reader: &'r BodyReader,
    packs: VecDeque<u32>,
    seq: u64,
    scan: Option<Scan>,
    ready: VecDeque<Result<Stored>>,
    /// What was found from the first damage on, while no later group has been found behind it.
    doubtful: VecDeque<Result<Stored>>,
}

impl<'r> Bodies<'r> {
    pub(super) fn new(reader: &'r BodyReader, packs: VecDeque<u32>) -> Self {
        Self { reader, packs, seq: End::START.seq, scan: None, ready: VecDeque::new(), doubtful: VecDeque::new() }
    }

    /// Reads one item; returns whether there was one.
    fn read(&mut self) -> Result<bool> {
        let scan = match &mut self.scan {
            Some(scan) => scan,
            slot @ None => {
                let Some(pack) = self.packs.pop_front() else { return Ok(false) };
                let start = End { at: Position { pack, offset: 0 }, seq: self.seq };
                slot.insert(self.reader.catalog().scan(start, true)?)
            }
        };
        let Some(item) = scan.next()? else {
            self.seq = scan.seq();
            self.scan = None;
            if self.packs.is_empty() {
                self.doubtful.retain(Result::is_ok);
            }
            self.ready.append(&mut self.doubtful);
            return Ok(true);
        };
        let found = match item {
            Item::Frame(frame) if frame.state == State::Damaged => {
                Err(corrupt(frame.at, Some(frame.seq()), "the frame's checksum does not hold"))
            }
            Item::Frame(frame) => {
                if frame.state == State::Whole && frame.fixed.head.starts_group {
                    self.ready.append(&mut self.doubtful);
                }
                Ok(stored(&frame))
            }
            Item::Gap { at, end, frames } => {
                Err(corrupt(at, None, format!("{} bytes are not frames; {frames} frames are missing", end - at.offset)))
            }
            Item::Tail { at, end } => Err(corrupt(at, None, format!("{} bytes are not frames", end - at.offset))),
        };
        let to = if found.is_err() || !self.doubtful.is_empty() { &mut self.doubtful } else { &mut self.ready };
        to.push_back(found);
        Ok(true)
    }
}

fn stored(frame: &Frame) -> Stored {
    Stored {
        at: frame.at,
        seq: frame.seq(),
        ts_ns: frame.fixed.header.ts_ns,
        sha: frame.fixed.head.sha,
        length: frame.fixed.head.length,
        purged: is_purged(frame.fixed, frame.state),
    }
}

impl Iterator for Bodies<'_> {
    type Item = Result<Stored>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    // Reading on would fail again.
                    (self.scan, self.packs) = (None, VecDeque::new());
                    return Some(Err(error));
                }
            }
        }
    }
}
