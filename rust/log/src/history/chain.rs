//! The log together with its path index, open for reading.

use std::ops::ControlFlow;
use std::path::Path;

use crate::error::Result;
use crate::index::{IndexSet, RunBuilder, key_of};
use crate::log::{Event, LogReader, Position};
use crate::medium::SharedMedium;
use crate::row::Row;
use crate::segment::Frame;

/// Rows in one run when many are indexed at once.
const RUN: usize = 1 << 18;

/// A log with the index of the paths that its rows touch. The index makes answers faster; it never changes them.
#[derive(Debug)]
pub struct Chain {
    log: LogReader,
    index: IndexSet,
    floor: Position,
}

impl Chain {
    /// Opens the log and the path index of the store at `root`. Never writes.
    pub fn open(medium: &SharedMedium, root: &Path) -> Result<Self> {
        let log = LogReader::open_remembered(medium.clone(), root.join("audit"))?;
        log.require()?;
        Self::over(log, medium, root)
    }

    /// Adds the path index to a log that is open, be it one that is gone.
    pub fn over(log: LogReader, medium: &SharedMedium, root: &Path) -> Result<Self> {
        let index = IndexSet::open(medium.clone(), root.join("index").join("history"))?;
        let floor = log.start();
        let mut chain = Self { log, index, floor };
        chain.bind();
        Ok(chain)
    }

    /// Looks again; returns whether anything has changed.
    pub fn refresh(&mut self) -> Result<bool> {
        let log = self.log.refresh()?;
        // The index follows the log: while the log stands still, a fresher index would only repeat what is known.
        if log {
            self.log.require()?;
            self.index.refresh()?;
            self.bind();
        }
        Ok(log)
    }

    /// Leaves out what the index says of rows that this log does not have: it is then another log's, or an older state's.
    ///
    /// The index may also be younger than this view of the log, which then looks again.
    fn bind(&mut self) {
        let mut looked_again = false;
        let mut known = None;
        let boundaries: Vec<_> = self.index.boundaries().collect();
        for (last, mark) in boundaries {
            known = self.position_after(last, |chain| chain == mark);
            if known.is_none() && !looked_again {
                looked_again = true;
                if self.log.refresh().is_ok_and(|changed| changed) {
                    known = self.position_after(last, |chain| chain == mark);
                }
            }
            if known.is_some() {
                break;
            }
        }
        self.floor = known.unwrap_or_else(|| self.log.start());
        self.index.forget_after(self.floor.seq - 1);
    }

    /// The place behind row `seq`, found through the index, if the row's chain is the right one.
    fn position_after(&self, seq: u64, chain_is_right: impl Fn(crate::hash::Digest) -> bool) -> Option<Position> {
        let offset = self.index.offset(seq).ok()??;
        let place = self.log.segments().place_of(seq)?;
        let mut buf = Vec::new();
        let frame = self.log.frame_at(seq, offset, &mut buf).ok()?;
        let row = Row::parse(frame.payload).ok()?;
        chain_is_right(row.chain()).then(|| Position { place, offset: frame.end(), seq: seq + 1 })
    }

    /// The log.
    pub fn log(&self) -> &LogReader {
        &self.log
    }

    /// The path index, as far as it belongs to this log.
    pub fn index(&self) -> &IndexSet {
        &self.index
    }

    /// The first row that the index does not cover.
    pub fn floor(&self) -> Position {
        self.floor
    }

    /// Returns a position from which a scan meets row `seq` first, or rows shortly before it.
    pub fn position_of(&self, seq: u64) -> Result<Position> {
        if seq >= self.floor.seq {
            return Ok(self.floor);
        }
        let found = self.index.offset(seq).ok().flatten().zip(self.log.segments().place_of(seq));
        Ok(found.map_or_else(|| self.log.start(), |(offset, place)| Position { place, offset, seq }))
    }

    /// Indexes the rows that are not indexed yet, up to the end of the log or the first damage; returns how many.
    ///
    /// The caller holds the store's lock.
    pub fn catch_up(&mut self) -> Result<u64> {
        self.log.refresh()?;
        self.index.refresh()?;
        self.bind();
        self.index.remove_after(self.floor.seq - 1)?;
        let Self { log, index, floor } = self;
        let mut run = index.builder();
        let (mut added, mut mark) = (0, None);
        log.scan(*floor, |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Break(())) };
            mark = push_row(&mut run, &frame);
            added += 1;
            if let Some(mark) = mark.filter(|_| run.len() >= RUN) {
                let next = RunBuilder::new(frame.header.seq + 1, mark);
                index.add(std::mem::replace(&mut run, next), mark)?;
            }
            Ok(if mark.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if let Some(mark) = mark.filter(|_| !run.is_empty()) {
            index.add(run, mark)?;
        }
        self.bind();
        Ok(added)
    }

    /// Writes down what the sealed segments begin with. The caller holds the store's lock.
    pub fn remember_segments(&self) -> Result<()> {
        self.log.segments().remember()
    }

    /// Does every merge of the index that is due. The caller holds the store's lock.
    pub fn merge_index(&mut self) -> Result<()> {
        while self.index.merge_step()? {}
        // A merged run that cannot be opened covers nothing.
        self.bind();
        Ok(())
    }

    /// Throws the index away. The caller holds the store's lock.
    pub fn drop_index(&mut self) -> Result<()> {
        self.index.remove_after(0)?;
        self.bind();
        Ok(())
    }
}

/// Adds one row to a run: its offset and the paths it touches. Returns the row's chain; `None`, adding nothing, where the
/// payload is not a row.
pub fn push_row(run: &mut RunBuilder, frame: &Frame<'_>) -> Option<crate::hash::Digest> {
    let row = Row::parse(frame.payload).ok()?;
    run.push(frame.offset, row.touches().map(|(path, touch)| (key_of(path.as_bytes()), touch.code())));
    Some(row.chain())
}
