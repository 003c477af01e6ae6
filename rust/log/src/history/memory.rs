//! A path index in memory, for stretches of a log that can only be read forward: those with damage in them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::error::Result;
use crate::index::{Posting, key_of};
use crate::log::{Damage, Event, LogReader, Position};
use crate::row::Row;

/// The rows of a stretch, by path.
#[derive(Debug, Default)]
pub(super) struct MemoryIndex {
    postings: HashMap<u64, Vec<(Posting, u64)>>,
    /// What the stretch does not hold.
    pub damages: Vec<Damage>,
}

impl MemoryIndex {
    /// Reads the rows from `from` on with numbers below `below`.
    pub(super) fn read(log: &LogReader, from: Position, below: u64) -> Result<Self> {
        let mut index = Self::default();
        log.scan(from, |event| {
            match event {
                Event::Frame(_, frame) if frame.header.seq >= below => return Ok(ControlFlow::Break(())),
                Event::Frame(segment, frame) => match Row::parse(frame.payload) {
                    Ok(row) => {
                        let seq = frame.header.seq;
                        for (path, touch) in row.touches() {
                            let posting = Posting { seq, class: touch.code() };
                            index.postings.entry(key_of(path.as_bytes())).or_default().push((posting, frame.offset));
                        }
                    }
                    Err(error) => index.damages.push(Damage::unreadable(segment.label(), &frame, error.to_string())),
                },
                Event::Damage(damage) => index.damages.push(damage),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(index)
    }

    /// Returns the newest row before `below` that carries a key, with its offset.
    pub(super) fn newest(&self, key: u64, below: u64) -> Option<(Posting, u64)> {
        let list = self.postings.get(&key)?;
        list.partition_point(|(posting, _)| posting.seq < below).checked_sub(1).and_then(|at| list.get(at)).copied()
    }
}
