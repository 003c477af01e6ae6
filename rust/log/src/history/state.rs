//! What a memory was at a moment: the newest version that is not newer.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::filter::is_memory;
use super::{Chain, Next};
use crate::error::{LogError, Result};
use crate::log::{Damage, Event};
use crate::row::{Row, Touch};

/// A moment in the log: what it had come to after one of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The present.
    Now,
    /// Just after this row.
    Seq(u64),
    /// Just after the last row whose time is not later than this, in nanoseconds since the Unix epoch.
    ///
    /// Clocks step back, so older rows may be later than it; they count all the same.
    Time(u64),
}

/// One version of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The row that wrote it, or that moved it to its name.
    pub seq: u64,
    /// The row's time in nanoseconds since the Unix epoch.
    pub ts_ns: u64,
    /// Its name then.
    pub path: String,
    /// SHA-256 of its bytes in hexadecimal; empty where no row says.
    pub content_sha256: String,
}

impl Chain {
    /// Returns the number of the last row that a moment includes; 0 where it includes none. A time takes reading the log back
    /// to it.
    pub fn last_row(&self, at: At) -> Result<u64> {
        let time = match at {
            At::Now => return Ok(u64::MAX),
            At::Seq(last) => return Ok(last),
            At::Time(time) => time,
        };
        let mut rows = self.log().reverse(self.log().start());
        loop {
            match rows.next() {
                Ok(Some(frame)) if frame.header.ts_ns <= time => return Ok(frame.header.seq),
                Ok(Some(_)) => {}
                Ok(None) => return Ok(0),
                Err(LogError::Corrupt { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        // Damage on the way: read all rows forward.
        let mut last = 0;
        self.log().scan(self.log().start(), |event| {
            if let Event::Frame(_, frame) = event
                && frame.header.ts_ns <= time
            {
                last = frame.header.seq;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(last)
    }

    /// Returns the version of the memory called `path` at a moment; `None` where it did not exist then.
    ///
    /// With `follow`, `path` is its name now and former names count; without, it is its name then.
    pub fn version_at(&self, path: &str, at: At, follow: bool) -> Result<Option<Version>> {
        let last = self.last_row(at)?;
        let mut version: Option<Version> = None;
        let below = if follow { u64::MAX } else { last.saturating_add(1) };
        self.walk(path, true, below, &mut |step| {
            let sha256 = step.row.content_sha256();
            if let Some(version) = &mut version {
                // A legacy move named no content: an older row does.
                if sha256.is_empty() && matches!(step.touch, Touch::MoveTo | Touch::Annotation) {
                    return Ok(Next::ContentOnly);
                }
                if matches!(step.touch, Touch::Write | Touch::MoveTo) {
                    version.content_sha256 = sha256.into_owned();
                }
                return Ok(Next::Stop);
            }
            if step.seq > last {
                return Ok(Next::ContentOnly);
            }
            match step.touch {
                Touch::Annotation => Ok(Next::ContentOnly),
                Touch::Delete | Touch::MoveFrom => Ok(Next::Stop),
                Touch::Write | Touch::MoveTo => {
                    let carried = sha256.is_empty() && step.touch == Touch::MoveTo;
                    let (path, content_sha256) = (step.name.to_owned(), sha256.into_owned());
                    version = Some(Version { seq: step.seq, ts_ns: step.row.ts_ns(), path, content_sha256 });
                    Ok(if carried { Next::ContentOnly } else { Next::Stop })
                }
            }
        })?;
        Ok(version)
    }

    /// Returns every memory that existed at a moment, by name. Reads the log up to that moment.
    pub fn memories_at(&self, at: At) -> Result<(BTreeMap<String, Version>, Vec<Damage>)> {
        let mut memories: BTreeMap<String, Version> = BTreeMap::new();
        let mut damages = Vec::new();
        let last = self.last_row(at)?;
        self.log().scan(self.log().start(), |event| {
            let (seq, row) = match event {
                Event::Frame(_, frame) => match Row::parse(frame.payload) {
                    Ok(row) => (frame.header.seq, row),
                    Err(_) => return Ok(ControlFlow::Continue(())),
                },
                Event::Damage(damage) => {
                    damages.push(damage);
                    return Ok(ControlFlow::Continue(()));
                }
            };
            if seq > last {
                return Ok(ControlFlow::Break(()));
            }
            apply(&mut memories, seq, &row);
            Ok(ControlFlow::Continue(()))
        })?;
        memories.retain(|path, _| is_memory(path));
        Ok((memories, damages))
    }
}

/// Changes the set of memories as one row says.
pub(crate) fn apply(memories: &mut BTreeMap<String, Version>, seq: u64, row: &Row<'_>) {
    let mut carried = None;
    if let Some((source, _)) = row.move_ends() {
        carried = memories.remove(source.as_ref()).map(|version| version.content_sha256);
    }
    for (path, touch) in row.touches() {
        match touch {
            Touch::Write | Touch::MoveTo => {
                let named = row.content_sha256();
                let content_sha256 =
                    if named.is_empty() { carried.clone().unwrap_or_default() } else { named.into_owned() };
                let path = path.into_owned();
                memories.insert(path.clone(), Version { seq, ts_ns: row.ts_ns(), path, content_sha256 });
            }
            Touch::Delete | Touch::MoveFrom => drop(memories.remove(path.as_ref())),
            Touch::Annotation => {}
        }
    }
}
