//! Sessions, as their rows tell of them.

use std::collections::HashMap;

use super::{Chain, Next};
use crate::error::Result;
use crate::json::scan::Scanner;
use crate::json::{Text, members};
use crate::row::{Row, SESSIONS};
use crate::time::iso_exact;

/// Days that a transcript is kept where its start does not say.
const RETENTION_DAYS: u64 = 30;

/// What `session.start` says, and the rows that followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Number of the row that started it.
    pub seq: u64,
    /// When it started, as the row says.
    pub started_at: String,
    /// The row's time, in nanoseconds since the Unix epoch.
    pub started_ns: u64,
    /// `confidential` or `restricted`, or what stands there instead; empty where nothing does.
    pub classification: String,
    /// Days that its transcript is kept.
    pub retention_days: u64,
    /// Whose session it is.
    pub actor: String,
    /// Its transcript, relative to the store: upstream gives it another name at the end.
    pub path: String,
    /// Another session that it belongs to.
    pub correlates_with: Option<String>,
    /// Whether it was written whole, after the fact.
    pub recorded: bool,
    /// Whether its turns are encrypted.
    pub encrypted: bool,
    /// Its end.
    pub ended: Option<SessionEnd>,
    /// Its purge.
    pub purged: Option<SessionPurge>,
}

/// What `session.end` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEnd {
    /// Number of the row.
    pub seq: u64,
    /// When it ended.
    pub ended_at: String,
    /// Why.
    pub reason: String,
    /// Number of its turns.
    pub turns_count: u64,
    /// SHA-256 of the sealed transcript; empty without one.
    pub binlog_hash: String,
    /// `chain` of the last turn.
    pub chain_tip: Option<String>,
    path: String,
}

/// What `session.purged` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPurge {
    /// Number of the row.
    pub seq: u64,
    /// When it was purged.
    pub purged_at: String,
    /// Why.
    pub reason: String,
    /// Number of its turns.
    pub turns_count: Option<u64>,
}

impl Chain {
    /// Returns the sessions whose rows are found under `name`: all under [`SESSIONS`], one under its
    /// [`session_name`](crate::row::session_name). Those that started last come first. An end or a purge belongs to the last
    /// start of its session before it; what damage hides is missing.
    pub fn sessions(&self, name: &str) -> Result<Vec<Session>> {
        let mut sessions = Vec::new();
        let (mut ends, mut purges) = (HashMap::new(), HashMap::new());
        self.walk(name, false, u64::MAX, &mut |step| {
            let row = &step.row;
            let told = Told::of(row);
            // Upstream has other rows of the same kinds, with paths elsewhere.
            let is_transcript = row.raw_path().is_empty()
                || row.path().strip_prefix(SESSIONS).is_some_and(|rest| rest.starts_with('/'));
            if let Some(id) = told.session_id.map(decoded).filter(|id| is_transcript && !id.is_empty()) {
                match &*row.op() {
                    "session.start" => {
                        let (end, purge) = (ends.remove(&id), purges.remove(&id));
                        sessions.push(told.start(id, step.seq, row, end, purge));
                    }
                    "session.end" => drop(ends.insert(id, told.end(step.seq, row))),
                    "session.purged" => drop(purges.insert(id, told.purge(step.seq))),
                    _ => {}
                }
            }
            Ok(Next::All)
        })?;
        Ok(sessions)
    }
}

/// What a row's `extra` says of a session; what is of another type than it must be counts as not said.
#[derive(Default)]
struct Told<'a> {
    actor: Option<Text<'a>>,
    binlog_hash: Option<Text<'a>>,
    chain_tip: Option<Text<'a>>,
    classification: Option<Text<'a>>,
    correlates_with: Option<Text<'a>>,
    encrypted: bool,
    ended_at: Option<Text<'a>>,
    ended_reason: Option<Text<'a>>,
    purged_at: Option<Text<'a>>,
    reason: Option<Text<'a>>,
    recorded: bool,
    retention_days: Option<u64>,
    session_id: Option<Text<'a>>,
    started_at: Option<Text<'a>>,
    turns_count: Option<u64>,
}

impl<'a> Told<'a> {
    fn of(row: &Row<'a>) -> Self {
        let mut told = Self::default();
        for (key, value) in members(row.extra()) {
            let text = || Scanner::trusted(value).string();
            match key.raw() {
                b"actor" => told.actor = text(),
                b"binlog_hash" => told.binlog_hash = text(),
                b"chain_tip" => told.chain_tip = text(),
                b"classification" => told.classification = text(),
                b"correlates_with" => told.correlates_with = text(),
                b"encrypted" => told.encrypted = value == b"true",
                b"ended_at" => told.ended_at = text(),
                b"ended_reason" => told.ended_reason = text(),
                b"purged_at" => told.purged_at = text(),
                b"reason" => told.reason = text(),
                b"recorded" => told.recorded = value == b"true",
                b"retention_days" => told.retention_days = number(value),
                b"session_id" => told.session_id = text(),
                b"started_at" => told.started_at = text(),
                b"turns_count" => told.turns_count = number(value),
                _ => {}
            }
        }
        told
    }

    fn start(
        &self,
        id: String,
        seq: u64,
        row: &Row<'_>,
        ended: Option<SessionEnd>,
        purged: Option<SessionPurge>,
    ) -> Session {
        let sealed = ended.as_ref().map(|ended| ended.path.clone()).filter(|path| !path.is_empty());
        Session {
            id,
            seq,
            started_at: self.started_at.map_or_else(|| iso_exact(row.ts_ns()), decoded),
            started_ns: row.ts_ns(),
            classification: self.classification.map(decoded).unwrap_or_default(),
            retention_days: self.retention_days.filter(|&days| days > 0).unwrap_or(RETENTION_DAYS),
            actor: self.actor.map_or_else(|| row.actor().into_owned(), decoded),
            path: sealed.unwrap_or_else(|| row.path().into_owned()),
            correlates_with: self.correlates_with.map(decoded),
            recorded: self.recorded,
            encrypted: self.encrypted,
            ended,
            purged,
        }
    }

    fn end(&self, seq: u64, row: &Row<'_>) -> SessionEnd {
        SessionEnd {
            seq,
            ended_at: self.ended_at.map(decoded).unwrap_or_default(),
            reason: self.ended_reason.map(decoded).unwrap_or_default(),
            turns_count: self.turns_count.unwrap_or_default(),
            binlog_hash: self.binlog_hash.map(decoded).unwrap_or_default(),
            chain_tip: self.chain_tip.map(decoded),
            path: row.path().into_owned(),
        }
    }

    fn purge(&self, seq: u64) -> SessionPurge {
        SessionPurge {
            seq,
            purged_at: self.purged_at.map(decoded).unwrap_or_default(),
            reason: self.reason.map(decoded).unwrap_or_default(),
            turns_count: self.turns_count,
        }
    }
}

fn decoded(text: Text<'_>) -> String {
    text.decode().into_owned()
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
