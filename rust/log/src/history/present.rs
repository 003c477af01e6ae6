//! The memories there are now, kept up as the log grows: what was read once is not read again.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::filter::is_memory;
use super::state::apply;
use super::{Chain, Version};
use crate::error::Result;
use crate::hash::Digest;
use crate::log::{Damage, Event, Position};
use crate::row::Row;

/// The memories after some row of a log, by name.
#[derive(Debug, Default)]
pub struct Present {
    memories: BTreeMap<String, Version>,
    damages: Vec<Damage>,
    /// The last row that is in it.
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    seq: u64,
    offset: u64,
    chain: Digest,
}

impl Present {
    /// Returns the first `limit` memories behind the path `after` whose path begins with `prefix`.
    pub fn page(&self, prefix: &str, after: &str, limit: usize) -> Vec<&Version> {
        let from = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        let behind = self.memories.range::<str, _>((from, Bound::Unbounded));
        let begun = behind.take_while(|(path, _)| path.starts_with(prefix));
        begun.filter(|(path, _)| is_memory(path)).take(limit).map(|(_, version)| version).collect()
    }

    /// What could not be read: rows in it may be missing.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }
}

impl Chain {
    /// Brings the memories up to the end of the log: reads what was appended, and all rows where the log is another one now,
    /// or is damaged.
    pub fn bring_up(&self, present: &mut Present) -> Result<()> {
        // What is read in part is not kept.
        let held = std::mem::take(present);
        let place = held.last.as_ref().and_then(|last| self.behind(last));
        let (mut found, from) = match place {
            Some(place) => (held, place),
            None => (Present::default(), self.log().start()),
        };
        self.log().scan(from, |event| {
            match event {
                Event::Frame(_, frame) => {
                    if let Ok(row) = Row::parse(frame.payload) {
                        apply(&mut found.memories, frame.header.seq, &row);
                        found.last = Some(Last { seq: frame.header.seq, offset: frame.offset, chain: row.chain() });
                    }
                }
                Event::Damage(damage) if damage.torn_tail => {}
                Event::Damage(damage) => found.damages.push(damage),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !found.damages.is_empty() {
            found.last = None;
        }
        *present = found;
        Ok(())
    }

    /// Returns the place behind a row, if this log has that row.
    fn behind(&self, last: &Last) -> Option<Position> {
        let place = self.log().segments().place_of(last.seq)?;
        let mut buf = Vec::new();
        let frame = self.log().frame_at(last.seq, last.offset, &mut buf).ok()?;
        let row = Row::parse(frame.payload).ok()?;
        (row.chain() == last.chain).then(|| Position { place, offset: frame.end(), seq: last.seq + 1 })
    }
}
