//! History as a list of entries.

use std::ops::ControlFlow;

use super::filter::is_memory;
use super::{Chain, Filter, Next, Step};
use crate::error::{LogError, Result};
use crate::json::Value;
use crate::log::{Damage, Event, ReverseLog};
use crate::row::{Row, Touch};

/// What to list.
#[derive(Debug, Clone)]
pub struct Query {
    /// The path; `None` for all memories.
    pub path: Option<String>,
    /// Go on under the former name at a move.
    pub follow_moves: bool,
    /// At most this many entries.
    pub limit: Option<usize>,
    /// Leave out rows older than this, in nanoseconds since the Unix epoch.
    pub since_ns: Option<u64>,
    /// Leave out rows with this number or a lower one; 0 leaves out none.
    pub above: u64,
    /// Leave out rows with this number or a higher one.
    pub below: Option<u64>,
    /// Leave out rows that do not meet all of these.
    pub filters: Vec<Filter>,
}

/// The version that came before an entry's, for showing what changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Older {
    /// The row writes no content.
    NoContent,
    /// The memory begins with this row.
    First,
    /// The version written by an older row.
    Version {
        /// SHA-256 of its bytes in hexadecimal.
        content_sha256: String,
        /// Its name.
        path: String,
    },
}

/// One row of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the row.
    pub seq: u64,
    /// Nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
    /// The row's `op`.
    pub kind: String,
    /// Who wrote the row.
    pub actor: String,
    /// The row's own path.
    pub path: String,
    /// The memory's name that the row was found under.
    pub name: String,
    /// What the row does to that name.
    pub touch: Touch,
    /// SHA-256 of the memory's bytes in hexadecimal; `None` where the row has none.
    pub content_sha256: Option<String>,
    /// `extra` as canonical JSON.
    pub extra: Vec<u8>,
    /// What the entry's version is compared with.
    pub older: Older,
}

/// A list of entries, newest first, and what could not be read on the way.
#[derive(Debug, Clone, Default)]
pub struct Walked {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Damage in the log: rows in it may be missing.
    pub damages: Vec<Damage>,
}

impl Query {
    fn keeps(&self, seq: u64, row: &Row<'_>) -> bool {
        seq > self.above
            && !self.is_too_new(seq)
            && self.since_ns.is_none_or(|since| row.ts_ns() >= since)
            && self.filters.iter().all(|filter| filter.keeps(row))
    }

    /// The number of the first row that counts.
    fn first(&self) -> u64 {
        self.above.saturating_add(1)
    }

    /// Whether a row and all newer ones are left out.
    fn is_too_new(&self, seq: u64) -> bool {
        self.below.is_some_and(|below| seq >= below)
    }

    fn is_full(&self, entries: &[Entry]) -> bool {
        self.limit.is_some_and(|limit| entries.len() >= limit)
    }
}

impl Chain {
    /// Lists the entries of a query, newest first.
    pub fn history(&self, query: &Query) -> Result<Walked> {
        if query.limit == Some(0) {
            return Ok(Walked::default());
        }
        match &query.path {
            Some(path) => self.path_history(path, query),
            None => self.all_history(query),
        }
    }

    fn path_history(&self, path: &str, query: &Query) -> Result<Walked> {
        let mut entries: Vec<Entry> = Vec::new();
        // Place of the entry whose older version has not been met yet.
        let mut open: Option<usize> = None;
        let damages = self.walk(path, query.follow_moves, u64::MAX, &mut |step| {
            if let Some(older) = older_version(step) {
                if let Some(entry) = open.and_then(|place| entries.get_mut(place)) {
                    entry.older = older;
                }
                open = None;
            }
            if !query.is_full(&entries) && query.keeps(step.seq, &step.row) {
                let mut entry = entry_of(step.seq, &step.row, step.touch, step.name);
                if step.touch == Touch::Write {
                    open = Some(entries.len());
                    entry.older = Older::First;
                }
                entries.push(entry);
            }
            let full = query.is_full(&entries) || step.seq <= query.above;
            Ok(match (full, open) {
                (true, None) => Next::Stop,
                (true, Some(_)) => Next::ContentOnly,
                (false, _) => Next::All,
            })
        })?;
        Ok(Walked { entries, damages })
    }

    fn all_history(&self, query: &Query) -> Result<Walked> {
        let mut walked = Walked::default();
        let take = |seq: u64, row: &Row<'_>, entries: &mut Vec<Entry>| {
            let touched = row.touches().find(|(path, _)| is_memory(path));
            if let Some((name, touch)) = touched.filter(|_| query.keeps(seq, row)) {
                let mut entry = entry_of(seq, row, touch, &name);
                if touch == Touch::Write {
                    entry.older = before_of(&entry).unwrap_or(Older::First);
                }
                entries.push(entry);
            }
        };
        let mut rows = self.newest_first(query)?;
        loop {
            match rows.next() {
                Ok(Some(frame)) => {
                    let seq = frame.header.seq;
                    if let Ok(row) = Row::parse(frame.payload) {
                        take(seq, &row, &mut walked.entries);
                    }
                    if query.is_full(&walked.entries) || seq <= query.above {
                        return Ok(walked);
                    }
                }
                Ok(None) => return Ok(walked),
                Err(LogError::Corrupt { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        // Damage on the way: read the rows forward, and keep the newest.
        let mut entries = Vec::new();
        let mut damages = Vec::new();
        self.log().scan(self.position_of(query.first())?, |event| {
            match event {
                Event::Frame(_, frame) if query.is_too_new(frame.header.seq) => return Ok(ControlFlow::Break(())),
                Event::Frame(_, frame) => {
                    if let Ok(row) = Row::parse(frame.payload) {
                        take(frame.header.seq, &row, &mut entries);
                    }
                }
                Event::Damage(damage) => damages.push(damage),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        entries.reverse();
        entries.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(Walked { entries, damages })
    }

    /// Hands out the rows of a query, and where no index says where they end, the newer ones before them.
    fn newest_first(&self, query: &Query) -> Result<ReverseLog<'_>> {
        let floor = self.position_of(query.first())?;
        let end = query.below.map(|below| self.position_of(below).map(|end| (below, end))).transpose()?;
        Ok(match end {
            Some((below, end)) if end.seq == below => self.log().reverse_below(end, floor),
            _ => self.log().reverse(floor),
        })
    }
}

/// What a step says of the version before the newer ones: `None` where it says nothing.
fn older_version(step: &Step<'_>) -> Option<Older> {
    let sha256 = step.row.content_sha256();
    match step.touch {
        Touch::Annotation => None,
        Touch::Delete | Touch::MoveFrom => Some(Older::First),
        // A legacy move names no content: the version is an older row's.
        Touch::Write | Touch::MoveTo if sha256.is_empty() => None,
        Touch::Write | Touch::MoveTo => {
            Some(Older::Version { content_sha256: sha256.into_owned(), path: step.name.to_owned() })
        }
    }
}

fn before_of(entry: &Entry) -> Option<Older> {
    let before = Value::parse(&entry.extra).ok()?.get("before_sha256")?.as_str()?.to_owned();
    Some(Older::Version { content_sha256: before, path: entry.name.clone() })
}

fn entry_of(seq: u64, row: &Row<'_>, touch: Touch, name: &str) -> Entry {
    let sha256 = row.content_sha256();
    Entry {
        seq,
        ts_ns: row.ts_ns(),
        kind: row.op().into_owned(),
        actor: row.actor().into_owned(),
        path: row.path().into_owned(),
        name: name.to_owned(),
        touch,
        content_sha256: (!sha256.is_empty()).then(|| sha256.into_owned()),
        extra: row.extra().to_vec(),
        older: Older::NoContent,
    }
}
