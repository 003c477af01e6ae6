//! Rows in order behind the last one that a reader has seen, kept as they lie in the log.

use std::ops::ControlFlow;

use super::{Chain, Filter, Next};
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::log::{Damage, Event, Position};
use crate::row::{Outline, Outlined, Row, Touch};

/// Rows that are looked at in one go, so that whoever waits can be asked whether they still do.
const MOST_LOOKED_AT: u64 = 1 << 17;

/// The last row that a reader has seen; number 0 and a chain of zeros before the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Its number.
    pub seq: u64,
    /// Its chain.
    pub chain: Digest,
}

/// Which rows are kept.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Those of these kinds; of any kind where none is named.
    pub kinds: Vec<String>,
    /// Of those, the ones that meet all of these.
    pub filters: Vec<Filter>,
}

/// How much is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// At most so many rows are kept.
    pub rows: usize,
    /// Reading ends with the row that brings the payloads that are kept to so many bytes.
    pub bytes: usize,
    /// Number of the last row that is looked at.
    pub last: u64,
}

/// Rows that were kept, and how far reading has come.
#[derive(Debug)]
pub struct Stretch {
    /// The rows, oldest first.
    pub rows: Rows,
    /// The last row that was looked at, whether or not it was kept.
    pub cursor: Cursor,
    /// Whether there was nothing behind it.
    pub over: bool,
    /// What could not be read on the way, and at the end.
    pub damages: Vec<Damage>,
}

/// Rows copied out of the log, as they lie in it.
#[derive(Debug, Default)]
pub struct Rows {
    /// Number and time of each, where its payload begins, and its outline.
    rows: Vec<(u64, u64, usize, Outline)>,
    payloads: Vec<u8>,
}

/// A row that was kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// Number of the row.
    pub seq: u64,
    /// Nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
    /// The rest of it.
    pub row: Outlined<'a>,
}

impl Selection {
    fn keeps(&self, row: &Row<'_>) -> bool {
        let kind_fits = self.kinds.is_empty() || {
            let op = row.op();
            self.kinds.iter().any(|kind| *kind == op)
        };
        kind_fits && self.filters.iter().all(|filter| filter.keeps(row))
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns one of the rows.
    pub fn get(&self, place: usize) -> Option<Kept<'_>> {
        let &(seq, ts_ns, start, outline) = self.rows.get(place)?;
        let end = self.rows.get(place + 1).map_or(self.payloads.len(), |next| next.2);
        Some(Kept { seq, ts_ns, row: outline.over(self.payloads.get(start..end)?) })
    }

    fn keep(&mut self, seq: u64, row: &Row<'_>) {
        self.rows.push((seq, row.ts_ns(), self.payloads.len(), row.outline()));
        self.payloads.extend_from_slice(row.payload());
    }

    fn fill(&self, limits: &Limits) -> bool {
        self.rows.len() >= limits.rows || self.payloads.len() >= limits.bytes
    }
}

impl Chain {
    /// Reads the rows behind `cursor`, oldest first, beginning to look at `from`: at that row or before. `pass` is told of each
    /// row on the way and where it begins.
    ///
    /// [`LogError::Diverged`] where the row of the cursor is not, or no longer, in this log, and `Corrupt` where damage keeps
    /// that from being known.
    pub fn follow(
        &self,
        cursor: Cursor,
        from: Position,
        selection: &Selection,
        limits: &Limits,
        mut pass: impl FnMut(u64, u64),
    ) -> Result<Stretch> {
        let last_seq = self.log().last_seq();
        if cursor.seq > last_seq {
            let what = "is not there any more: the log is another one, or an older state of it";
            return Err(LogError::Diverged { seq: cursor.seq, last_seq, what });
        }
        let mut stretch = Stretch { rows: Rows::default(), cursor, over: true, damages: Vec::new() };
        let mut known = cursor.seq == 0;
        let mut looked_at = 0;
        self.log().scan(from, |event| {
            let (segment, frame) = match event {
                Event::Frame(_, frame) if frame.header.seq > limits.last => return Ok(ControlFlow::Break(())),
                Event::Frame(segment, frame) => (segment, frame),
                Event::Damage(damage) => {
                    if damage.next_seq.is_none_or(|next| next > cursor.seq) && damage.expected_seq <= limits.last {
                        stretch.damages.push(damage);
                    }
                    return Ok(ControlFlow::Continue(()));
                }
            };
            let seq = frame.header.seq;
            pass(seq, frame.offset);
            if seq < cursor.seq {
                return Ok(ControlFlow::Continue(()));
            }
            let row = match Row::parse(frame.payload) {
                Ok(row) => row,
                Err(error) => {
                    stretch.damages.push(Damage::unreadable(segment.label(), &frame, error.to_string()));
                    return Ok(ControlFlow::Continue(()));
                }
            };
            if !known {
                known = self.continues(cursor, seq, &row, &stretch.damages)?;
            }
            if seq > cursor.seq {
                looked_at += 1;
                stretch.cursor = Cursor { seq, chain: row.chain() };
                if selection.keeps(&row) {
                    stretch.rows.keep(seq, &row);
                }
            }
            if seq < limits.last && (stretch.rows.fill(limits) || looked_at >= MOST_LOOKED_AT) {
                stretch.over = seq >= last_seq;
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match stretch.damages.first() {
            Some(damage) if !known => Err(damage.error()),
            _ => Ok(stretch),
        }
    }

    /// Returns all rows that touch a name, newest first, however it was used before and after, and the damage that may hide
    /// others.
    pub fn touching(&self, name: &str) -> Result<(Rows, Vec<Damage>)> {
        let (mut rows, mut damages, mut below) = (Rows::default(), Vec::new(), Some(u64::MAX));
        while let Some(end) = below.take() {
            damages.extend(self.walk(name, false, end, &mut |step| {
                rows.keep(step.seq, &step.row);
                // The walk ends where a memory came to the name; another one may have had it before.
                below = (step.touch == Touch::MoveTo).then_some(step.seq);
                Ok(Next::All)
            })?);
        }
        damages.dedup();
        Ok((rows, damages))
    }

    /// Whether the row `seq`, the first one that can be read from the cursor's on, is that row or the one behind it.
    fn continues(&self, cursor: Cursor, seq: u64, row: &Row<'_>, damages: &[Damage]) -> Result<bool> {
        let chain = match seq - cursor.seq {
            0 => row.chain(),
            1 => row.prev_chain(),
            _ => return damages.first().map_or(Ok(false), |damage| Err(damage.error())),
        };
        if chain == cursor.chain {
            return Ok(true);
        }
        let what = "is another one now: the log was written anew, or is another store's";
        Err(LogError::Diverged { seq: cursor.seq, last_seq: self.log().last_seq(), what })
    }
}
