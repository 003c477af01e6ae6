//! Reading the log forward, over all segments and past damage.

use std::ops::ControlFlow;

use super::{LogReader, beside};
use crate::error::{LogError, Result};
use crate::segment::{Batch, BatchReader, Frame, Segment, Stop, find_frame, holds_unwritten_sector};

/// A place between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Place of the segment in [`crate::segment::Segments::list`].
    pub place: usize,
    /// Offset in that segment.
    pub offset: u64,
    /// Number of the row that begins there.
    pub seq: u64,
}

/// A stretch of a segment that does not hold the rows it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// File, relative to the store.
    pub file: String,
    /// Where it begins.
    pub offset: u64,
    /// Where the next whole frame begins, or the segment ends.
    pub end: u64,
    /// Number of the first row that is not there.
    pub expected_seq: u64,
    /// Number of the next row that is there.
    pub next_seq: Option<u64>,
    /// What is wrong, in one clause.
    pub what: String,
    /// Whether it is what a crash may leave of the last group: bytes behind everything that was acknowledged, with no whole
    /// frame among them, or only such as were part of that group.
    pub torn_tail: bool,
}

impl Damage {
    /// A whole frame whose payload is not a row.
    pub fn unreadable(file: String, frame: &Frame<'_>, what: String) -> Self {
        let (seq, offset, end) = (frame.header.seq, frame.offset, frame.end());
        Self { file, offset, end, expected_seq: seq, next_seq: Some(seq + 1), what, torn_tail: false }
    }

    /// The damage as an error.
    pub fn error(&self) -> LogError {
        LogError::corrupt(&self.file, self.offset, Some(self.expected_seq), &self.what)
    }
}

/// What a scan meets.
#[derive(Debug)]
pub enum Event<'a> {
    /// A whole row.
    Frame(&'a Segment, Frame<'a>),
    /// Something else; the scan goes on behind it.
    Damage(Damage),
}

impl LogReader {
    /// Calls `visit` for each row from `from` up to the end of the log and for each damage between. Numbers only go up: rows
    /// that a second segment holds again are passed over.
    pub fn scan(&self, from: Position, mut visit: impl FnMut(Event<'_>) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut batch = Batch::default();
        let mut cursor = Cursor::new(from);
        loop {
            let least = cursor.at.seq;
            let Some(mut reader) = cursor.segment(self, &mut visit)? else { break };
            loop {
                let mut stop = reader.read(&mut batch)?;
                for frame in batch.frames() {
                    match frame {
                        Ok(frame) => {
                            if frame.header.seq >= least && visit(Event::Frame(reader.segment(), frame))?.is_break() {
                                return Ok(());
                            }
                        }
                        Err(bad) => {
                            stop = Some(bad);
                            break;
                        }
                    }
                }
                let Some(stop) = stop else {
                    if batch.is_empty() {
                        cursor.leave(reader.next_seq().max(least));
                        break;
                    }
                    continue;
                };
                let damage = self.damage_at(reader.segment(), cursor.at.place, stop)?;
                let (next, end) = (damage.next_seq, damage.end);
                if visit(Event::Damage(damage))?.is_break() {
                    return Ok(());
                }
                let Some(next) = next else {
                    cursor.leave(stop.expected_seq.max(least));
                    break;
                };
                reader = BatchReader::new(reader.segment(), end, next, None)?;
            }
        }
        Ok(())
    }

    /// Describes what begins at `stop`, looking for the next whole frame behind it.
    pub(super) fn damage_at(&self, segment: &Segment, place: usize, stop: Stop) -> Result<Damage> {
        let found = find_frame(segment, stop.offset + 1, stop.expected_seq)?;
        let last = place + 1 == self.segments().list().len() && !segment.is_compacted();
        // By place too: behind a damaged length the numbers expected are not the right ones.
        let acknowledged = self.tip().is_some_and(|tip| {
            tip.seq >= stop.expected_seq || (tip.segment == segment.first_seq && tip.offset > stop.offset)
        });
        let torn_tail = last
            && !acknowledged
            // A whole frame with another number is no torn write: somebody wrote it there.
            && find_frame(segment, stop.offset, 1)?.map(|any| any.offset) == found.map(|found| found.offset)
            && found.map_or(Ok(true), |found| self.only_in_flight(segment, stop.offset, found.offset))?;
        let next = found.filter(|_| !torn_tail);
        Ok(Damage {
            file: segment.label(),
            offset: stop.offset,
            end: next.map_or(segment.len()?, |found| found.offset),
            expected_seq: stop.expected_seq,
            next_seq: next.map(|found| found.header.seq),
            what: segment.fault()?.unwrap_or(stop.what).into(),
            torn_tail,
        })
    }

    /// Whether all rows beyond the tip can only be a group that was being written when the system went down.
    ///
    /// A disk writes the parts of a group in any order, so that whole frames may lie behind what is not one, from `start` to
    /// `end`. Another program's rows would have moved HEAD beyond the tip.
    fn only_in_flight(&self, segment: &Segment, start: u64, end: u64) -> Result<bool> {
        let Some(tip) = self.tip() else { return Ok(false) };
        let medium = self.segments().medium();
        let went_down = match (tip.boot, medium.boot()) {
            (0, _) | (_, 0) => holds_unwritten_sector(segment, start, end)?,
            (then, now) => then != now,
        };
        if !went_down {
            return Ok(false);
        }
        Ok(beside::head(self)?.is_none_or(|head| head <= tip.seq))
    }
}

/// Where a scan is between segments.
struct Cursor {
    at: Position,
    fresh: bool,
}

impl Cursor {
    fn new(at: Position) -> Self {
        Self { at, fresh: true }
    }

    fn leave(&mut self, next_seq: u64) {
        self.at = Position { place: self.at.place + 1, offset: 0, seq: next_seq };
        self.fresh = false;
    }

    /// Opens the segment that the cursor stands in; a gap between two segments is reported first.
    fn segment(
        &mut self,
        log: &LogReader,
        visit: &mut impl FnMut(Event<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<Option<BatchReader>> {
        let Some(segment) = log.segments().get(self.at.place) else { return Ok(None) };
        if !self.fresh && segment.first_seq != self.at.seq {
            let damage = Damage {
                file: segment.label(),
                offset: 0,
                end: 0,
                expected_seq: self.at.seq,
                next_seq: Some(segment.first_seq),
                what: format!("the segment begins with row {}", segment.first_seq),
                torn_tail: false,
            };
            self.at.seq = segment.first_seq;
            if visit(Event::Damage(damage))?.is_break() {
                return Ok(None);
            }
        }
        Ok(Some(BatchReader::new(segment, self.at.offset, self.at.seq, None)?))
    }
}
