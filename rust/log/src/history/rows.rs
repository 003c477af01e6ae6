//! The walk itself: rows that touch a name, newest first, the name changing where a move brought the memory to it.

use memchr::memmem::Finder;

use super::Chain;
use super::memory::MemoryIndex;
use crate::error::{LogError, Result};
use crate::index::{Unusable, key_of};
use crate::json::write_string;
use crate::log::{Damage, Position};
use crate::row::{Row, SESSIONS, Touch};
use crate::segment::Frame;

/// One row on the way.
#[derive(Debug)]
pub struct Step<'a> {
    /// The name that the walk follows at this row.
    pub name: &'a str,
    /// What the row does to that name.
    pub touch: Touch,
    /// Number of the row.
    pub seq: u64,
    /// The row.
    pub row: Row<'a>,
}

/// What the visitor wants to see next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Every row.
    All,
    /// Rows that change content or name; annotations are passed over without being read.
    ContentOnly,
    /// Nothing more.
    Stop,
}

/// State of a walk over one chain.
struct Walk<'w> {
    chain: &'w Chain,
    follow: bool,
    name: String,
    needle: Finder<'static>,
    below: u64,
    next: Next,
    visit: &'w mut dyn FnMut(&Step<'_>) -> Result<Next>,
    damages: Vec<Damage>,
}

/// Why a stretch ended.
enum Ended {
    /// Everything down to the floor was seen, or enough.
    Done,
    /// The log cannot be read backwards below row `.0`.
    Damaged(u64),
}

impl Chain {
    /// Calls `visit` for each row below `below` that touches `path`, newest first. With `follow`, the walk goes on under the
    /// source's name at a move that brought the memory to the name; without, it ends there.
    ///
    /// Returns the damage that was met: rows in it may be missing from the walk.
    pub fn walk(
        &self,
        path: &str,
        follow: bool,
        below: u64,
        visit: &mut dyn FnMut(&Step<'_>) -> Result<Next>,
    ) -> Result<Vec<Damage>> {
        let (name, needle) = (path.to_owned(), needle(path));
        let mut walk = Walk { chain: self, follow, name, needle, below, next: Next::All, visit, damages: Vec::new() };
        walk.unindexed(self.floor())?;
        if walk.indexed()?.is_err() {
            // The index broke on the way; the log itself says the rest.
            walk.unindexed(self.log().start())?;
        }
        Ok(walk.damages)
    }
}

/// Returns bytes without which no payload touches `path`.
fn needle(path: &str) -> Finder<'static> {
    if path == SESSIONS {
        return Finder::new("session").into_owned();
    }
    // What a session's name is made of stands in the row, not the name: the first part behind `sessions/` is in both.
    let id =
        path.strip_prefix(SESSIONS).and_then(|rest| rest.strip_prefix('/')).and_then(|rest| rest.split('/').next());
    let mut quoted = Vec::with_capacity(path.len() + 2);
    write_string(id.unwrap_or(path), &mut quoted);
    let needle = if id.is_some() { quoted.get(1..quoted.len() - 1).unwrap_or_default() } else { &quoted };
    Finder::new(needle).into_owned()
}

impl Walk<'_> {
    fn is_over(&self) -> bool {
        self.next == Next::Stop
    }

    /// Walks the rows from the end of the log down to `floor` without an index.
    fn unindexed(&mut self, floor: Position) -> Result<()> {
        if self.is_over() || self.below <= floor.seq {
            return Ok(());
        }
        match self.backwards(floor)? {
            Ended::Done => Ok(()),
            Ended::Damaged(seq) => self.with_memory_index(floor, seq),
        }
    }

    fn backwards(&mut self, floor: Position) -> Result<Ended> {
        let mut rows = self.chain.log().reverse(floor);
        let mut seq = self.chain.log().last_seq();
        loop {
            let frame = match rows.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(Ended::Done),
                Err(LogError::Corrupt { .. }) => return Ok(Ended::Damaged(seq)),
                Err(error) => return Err(error),
            };
            seq = frame.header.seq - 1;
            if frame.header.seq < self.below && self.needle.find(frame.payload).is_some() {
                self.offer(&frame)?;
                if self.is_over() {
                    return Ok(Ended::Done);
                }
            }
        }
    }

    fn with_memory_index(&mut self, floor: Position, last: u64) -> Result<()> {
        let index = MemoryIndex::read(self.chain.log(), floor, last.saturating_add(1))?;
        self.damages.extend(index.damages.iter().cloned());
        let mut buf = Vec::new();
        while let Some((posting, offset)) = index.newest(key_of(self.name.as_bytes()), self.below) {
            self.below = posting.seq;
            if !self.passes_over(posting.class) {
                self.read_and_offer(posting.seq, offset, &mut buf)?;
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Walks the rows that the index covers.
    fn indexed(&mut self) -> Result<Result<(), Unusable>> {
        let mut buf = Vec::new();
        'names: while !self.is_over() {
            let name = self.name.clone();
            let index = self.chain.index();
            for posting in index.postings(key_of(name.as_bytes()), self.below) {
                let located = posting.and_then(|posting| Ok((posting, index.offset(posting.seq)?)));
                let (posting, offset) = match located {
                    Ok((posting, Some(offset))) => (posting, offset),
                    Ok((_, None)) => continue,
                    Err(unusable) => return Ok(Err(unusable)),
                };
                self.below = posting.seq;
                if self.passes_over(posting.class) {
                    continue;
                }
                self.read_and_offer(posting.seq, offset, &mut buf)?;
                if self.is_over() {
                    break 'names;
                }
                if self.name != name {
                    continue 'names;
                }
            }
            break;
        }
        Ok(Ok(()))
    }

    fn passes_over(&self, class: u8) -> bool {
        self.next == Next::ContentOnly && class == Touch::Annotation.code()
    }

    /// Reads one row that an index points at; a damaged one is noted and passed over.
    fn read_and_offer(&mut self, seq: u64, offset: u64, buf: &mut Vec<u8>) -> Result<()> {
        match self.chain.log().frame_at(seq, offset, buf) {
            Ok(frame) => self.offer(&frame),
            Err(LogError::Corrupt { file, offset, what, .. }) => {
                self.note(file, offset, offset, seq, what);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn note(&mut self, file: String, offset: u64, end: u64, seq: u64, what: String) {
        let next_seq = Some(seq + 1);
        self.damages.push(Damage { file, offset, end, expected_seq: seq, next_seq, what, torn_tail: false });
    }

    /// Shows one row to the visitor if it touches the name.
    fn offer(&mut self, frame: &Frame<'_>) -> Result<()> {
        let seq = frame.header.seq;
        let row = match Row::parse(frame.payload) {
            Ok(row) => row,
            Err(error) => {
                let segments = self.chain.log().segments();
                let file = segments.place_of(seq).map(|place| segments.label(place)).unwrap_or_default();
                self.note(file, frame.offset, frame.end(), seq, error.to_string());
                return Ok(());
            }
        };
        let Some((_, touch)) = row.touches().find(|(path, _)| *path == self.name) else { return Ok(()) };
        self.below = seq;
        if self.passes_over(touch.code()) {
            return Ok(());
        }
        self.next = (self.visit)(&Step { name: &self.name, touch, seq, row })?;
        if touch == Touch::MoveTo && !self.is_over() {
            match row.move_ends() {
                Some((source, _)) if self.follow => {
                    self.name = source.into_owned();
                    self.needle = needle(&self.name);
                }
                _ => self.next = Next::Stop,
            }
        }
        Ok(())
    }
}
