//! What a purge erases, and whom it would hurt.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::writer::Core;
use crate::error::Result;
use crate::hash::Digest;
use crate::history::Next;
use crate::json::Value;
use crate::log::Event;
use crate::objects::Body;
use crate::row::{Row, Touch};

impl Core {
    /// Every version that a purge of `path` covers, if it is done now.
    pub(super) fn lineage(&mut self, path: &str) -> Result<Vec<Digest>> {
        self.chain.refresh()?;
        self.chain.lineage(path, u64::MAX)
    }

    /// Whether nothing has happened to `path` since a purge that left nothing of `bodies`, its versions, but what is others'.
    pub(super) fn is_purged(&mut self, path: &str, bodies: &[Digest]) -> Result<bool> {
        let mut purged = false;
        self.chain.walk(path, true, u64::MAX, &mut |step| {
            if step.touch == Touch::Annotation {
                return Ok(Next::ContentOnly);
            }
            purged = step.touch == Touch::Delete && is_purge(&step.row);
            Ok(Next::Stop)
        })?;
        if !purged {
            return Ok(false);
        }
        let stored = self.stored(bodies);
        self.chain.refresh()?;
        let held = if stored.is_empty() { BTreeMap::new() } else { self.chain.holders(&stored)? };
        Ok(stored.iter().all(|sha| held.values().any(|versions| versions.contains(sha))))
    }

    fn stored(&mut self, bodies: &[Digest]) -> Vec<Digest> {
        let mut stored = bodies.to_vec();
        stored.retain(|sha| matches!(self.read_body(sha), Ok(Body::Found(_))));
        stored
    }

    /// Carries out again the purge of `path` that row `seq` tells of. `rewritten` has versions that were written since, each
    /// with the last row that did: those are others' by now, and stay.
    pub(super) fn purge_again(&mut self, path: &str, seq: u64, rewritten: &BTreeMap<Digest, u64>) -> Result<()> {
        let mut bodies = self.chain.lineage(path, seq + 1)?;
        bodies.retain(|sha| rewritten.get(sha).is_none_or(|&last| last < seq));
        self.purge_unless_held(bodies)
    }

    /// Erases again what purges erased and a write brought back whose rows never came: it was killed or failed between its
    /// bodies and them. Nothing but a look at two numbers where every body is accounted for; else it may read the whole log.
    pub(super) fn erase_returned(&mut self) -> Result<()> {
        let last = self.bodies.last();
        if self.log.bodies() >= last {
            return Ok(());
        }
        let returned = self.bodies.returned_since(self.log.bodies())?;
        if !returned.is_empty() {
            let bodies = self.purged_for_good(returned)?;
            self.purge_unless_held(bodies)?;
        }
        self.log.set_bodies(last);
        Ok(())
    }

    /// Those of `bodies` that no row has written since a purge that covers them.
    fn purged_for_good(&mut self, mut bodies: BTreeSet<Digest>) -> Result<Vec<Digest>> {
        self.chain.refresh()?;
        let mut written: BTreeMap<Digest, u64> = BTreeMap::new();
        let mut purges: Vec<(String, u64)> = Vec::new();
        let log = self.chain.log();
        log.scan(log.start(), |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
            let Ok(row) = Row::parse(frame.payload) else { return Ok(ControlFlow::Continue(())) };
            for (path, touch) in row.touches() {
                match touch {
                    Touch::Write => {
                        let body = Digest::from_hex(row.content_sha256().as_bytes());
                        let body = body.filter(|sha| bodies.contains(sha));
                        written.extend(body.map(|sha| (sha, frame.header.seq)));
                    }
                    Touch::Delete if is_purge(&row) => purges.push((path.into_owned(), frame.header.seq)),
                    _ => {}
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let mut gone = Vec::new();
        for (path, seq) in purges.iter().rev() {
            if bodies.iter().all(|sha| written.get(sha).is_some_and(|last| last > seq)) {
                break;
            }
            for sha in self.chain.lineage(path, seq + 1)? {
                if written.get(&sha).is_none_or(|last| last < seq) && bodies.remove(&sha) {
                    gone.push(sha);
                }
            }
        }
        Ok(gone)
    }

    fn purge_unless_held(&mut self, mut bodies: Vec<Digest>) -> Result<()> {
        bodies.sort_unstable();
        bodies.dedup();
        // Where the purge was finished nothing is stored any more, and nobody needs to be asked.
        let stored = self.stored(&bodies);
        if !stored.is_empty() {
            // A program that purges without asking whose else they are may have written the row.
            self.chain.refresh()?;
            let held: BTreeSet<Digest> = self.chain.holders(&stored)?.into_values().flatten().collect();
            bodies.retain(|sha| !held.contains(sha));
        }
        self.bodies.purge(&bodies).map(drop)
    }

    /// Other living memories that have one of `bodies`, which are sorted, among their versions. Reads the whole log.
    pub(super) fn sharing(&mut self, path: &str, bodies: &[Digest]) -> Result<Vec<String>> {
        self.chain.refresh()?;
        let mut holders = self.chain.holders(bodies)?;
        holders.remove(path);
        Ok(holders.into_keys().collect())
    }
}

/// Whether a row that deletes does so for good.
fn is_purge(row: &Row<'_>) -> bool {
    Value::parse(row.extra()).is_ok_and(|extra| extra.get("mode").and_then(Value::as_str) == Some("purge"))
}
