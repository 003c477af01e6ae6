//! What a memory was at a moment: the newest version that is not newer.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::filter::is_memory;
use super::{Chain, Next};
use crate::error::Result;
use crate::log::{Damage, Event};
use crate::row::{Row, Touch};

/// A moment in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The present.
    Now,
    /// Just after this row.
    Seq(u64),
    /// The newest row that is not later than this, in nanoseconds since the Unix epoch.
    Time(u64),
}

impl At {
    fn includes(self, seq: u64, ts_ns: u64) -> bool {
        match self {
            Self::Now => true,
            Self::Seq(last) => seq <= last,
            Self::Time(last) => ts_ns <= last,
        }
    }
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
    pub sha256: String,
}

impl Chain {
    /// Returns the version of the memory called `path` at a moment; `None` where it did not exist then.
    ///
    /// With `follow`, `path` is its name now and former names count; without, it is its name then.
    pub fn version_at(&self, path: &str, at: At, follow: bool) -> Result<Option<Version>> {
        let mut below = match at {
            At::Seq(last) if !follow => last.saturating_add(1),
            _ => u64::MAX,
        };
        loop {
            let (version, came) = self.newest_version(path, at, follow, below)?;
            match came {
                // Before a memory came to the name, another one may have had it.
                Some(seq) if version.is_none() => below = seq,
                _ => return Ok(version),
            }
        }
    }

    /// Returns the newest version below row `below` that the moment includes. Without `follow`, a row that brought the memory
    /// to the name and that the moment does not include ends the search; its number is the second result.
    fn newest_version(&self, path: &str, at: At, follow: bool, below: u64) -> Result<(Option<Version>, Option<u64>)> {
        let mut version: Option<Version> = None;
        let mut came = None;
        self.walk(path, true, below, &mut |step| {
            let (ts_ns, sha256) = (step.row.ts_ns(), step.row.content_sha256());
            if let Some(version) = &mut version {
                // A legacy move named no content: an older row does.
                if sha256.is_empty() && matches!(step.touch, Touch::MoveTo | Touch::Annotation) {
                    return Ok(Next::ContentOnly);
                }
                if matches!(step.touch, Touch::Write | Touch::MoveTo) {
                    version.sha256 = sha256.into_owned();
                }
                return Ok(Next::Stop);
            }
            if !at.includes(step.seq, ts_ns) {
                if !follow && step.touch == Touch::MoveTo {
                    came = Some(step.seq);
                    return Ok(Next::Stop);
                }
                return Ok(Next::ContentOnly);
            }
            match step.touch {
                Touch::Annotation => Ok(Next::ContentOnly),
                Touch::Delete | Touch::MoveFrom => Ok(Next::Stop),
                Touch::Write | Touch::MoveTo => {
                    let path = step.name.to_owned();
                    let known = !sha256.is_empty();
                    version = Some(Version { seq: step.seq, ts_ns, path, sha256: sha256.into_owned() });
                    Ok(if known { Next::Stop } else { Next::ContentOnly })
                }
            }
        })?;
        Ok((version, came))
    }

    /// Returns every memory that existed at a moment, by name. Reads the log up to that moment.
    pub fn memories_at(&self, at: At) -> Result<(BTreeMap<String, Version>, Vec<Damage>)> {
        let mut memories: BTreeMap<String, Version> = BTreeMap::new();
        let mut damages = Vec::new();
        let last = match at {
            At::Now => u64::MAX,
            At::Seq(last) => last,
            At::Time(_) => self.newest_row(at)?,
        };
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

    /// Returns the number of the newest row that a moment includes; 0 where there is none.
    fn newest_row(&self, at: At) -> Result<u64> {
        let mut newest = 0;
        self.log().scan(self.log().start(), |event| {
            if let Event::Frame(_, frame) = event
                && at.includes(frame.header.seq, frame.header.ts_ns)
            {
                newest = frame.header.seq;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(newest)
    }
}

/// Changes the set of memories as one row says.
pub(crate) fn apply(memories: &mut BTreeMap<String, Version>, seq: u64, row: &Row<'_>) {
    let mut carried = None;
    if let Some((source, _)) = row.move_ends() {
        carried = memories.remove(source.as_ref()).map(|version| version.sha256);
    }
    for (path, touch) in row.touches() {
        match touch {
            Touch::Write | Touch::MoveTo => {
                let named = row.content_sha256();
                let sha256 = if named.is_empty() { carried.clone().unwrap_or_default() } else { named.into_owned() };
                let path = path.into_owned();
                memories.insert(path.clone(), Version { seq, ts_ns: row.ts_ns(), path, sha256 });
            }
            Touch::Delete | Touch::MoveFrom => drop(memories.remove(path.as_ref())),
            Touch::Annotation => {}
        }
    }
}
