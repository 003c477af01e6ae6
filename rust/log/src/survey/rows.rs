//! What the rows of a log say, in one pass.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use crate::error::Result;
use crate::hash::Digest;
use crate::history::{Version, apply, is_memory};
use crate::json::Value;
use crate::log::{Event, LogReader};
use crate::row::{Row, Touch};

/// How often a kind of row occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Number of such rows.
    pub rows: u64,
    /// The first one.
    pub first_seq: u64,
}

/// One row that purged a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// The row.
    pub seq: u64,
    /// The memory.
    pub path: String,
    /// Whether it says why.
    pub has_reason: bool,
}

/// Which rows wrote a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The first one.
    pub first_seq: u64,
    /// The last one.
    pub last_seq: u64,
}

/// What the rows say, taken together.
#[derive(Debug, Default)]
pub struct Rows {
    /// The memories there are, by path.
    pub memories: BTreeMap<String, Version>,
    /// The kinds of row there are.
    pub kinds: BTreeMap<String, Kind>,
    /// Rows that purged a memory, in order.
    pub purges: Vec<Purge>,
    /// Every version that was ever written.
    pub written: HashMap<Digest, Written>,
    /// For each path that a row beyond the view's watermark touched, the versions that its working file may still hold.
    pub lagging: BTreeMap<String, BTreeSet<Digest>>,
}

impl Rows {
    /// Reads the log. Rows up to `applied` are known to have been applied to the working files.
    pub(super) fn read(log: &LogReader, applied: u64) -> Result<Self> {
        let mut rows = Self::default();
        log.scan(log.start(), |event| {
            if let Event::Frame(_, frame) = event
                && let Ok(row) = Row::parse(frame.payload)
            {
                rows.take(frame.header.seq, &row, applied);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        rows.memories.retain(|path, _| is_memory(path));
        Ok(rows)
    }

    fn take(&mut self, seq: u64, row: &Row<'_>, applied: u64) {
        let op = row.op();
        match self.kinds.get_mut(op.as_ref()) {
            Some(kind) => kind.rows += 1,
            None => drop(self.kinds.insert(op.clone().into_owned(), Kind { rows: 1, first_seq: seq })),
        }
        let sha = Digest::from_hex(row.content_sha256().as_bytes());
        if seq > applied {
            self.lag(row, sha);
        }
        for (path, touch) in row.touches() {
            match (touch, sha) {
                (Touch::Write, Some(sha)) => {
                    let written = self.written.entry(sha).or_insert(Written { first_seq: seq, last_seq: seq });
                    written.last_seq = seq;
                }
                (Touch::Delete, _) if text(row, "mode").as_deref() == Some("purge") => {
                    let has_reason = text(row, "reason").is_some_and(|reason| !reason.trim().is_empty());
                    self.purges.push(Purge { seq, path: path.into_owned(), has_reason });
                }
                _ => {}
            }
        }
        apply(&mut self.memories, seq, row);
    }

    /// Notes what the working files that a row changes may hold while it is not applied.
    fn lag(&mut self, row: &Row<'_>, sha: Option<Digest>) {
        for (path, _) in row.touches().filter(|(path, touch)| *touch != Touch::Annotation && is_memory(path)) {
            let before =
                self.memories.get(path.as_ref()).and_then(|held| Digest::from_hex(held.content_sha256.as_bytes()));
            let versions = self.lagging.entry(path.into_owned()).or_default();
            versions.extend(before.into_iter().chain(sha));
        }
    }
}

fn text(row: &Row<'_>, name: &str) -> Option<String> {
    let extra = Value::parse(row.extra()).ok()?;
    extra.get(name)?.as_str().map(str::to_owned)
}
