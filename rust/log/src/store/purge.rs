//! What a purge erases, and whom it would hurt.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::writer::Core;
use crate::error::Result;
use crate::hash::Digest;
use crate::history::Next;
use crate::json::Value;
use crate::log::Event;
use crate::row::{Row, Touch};

impl Core {
    /// Every version that the history of `path` names, newest first: also those under former names.
    pub(super) fn lineage(&mut self, path: &str) -> Result<Vec<Digest>> {
        self.chain.refresh()?;
        let mut versions = Vec::new();
        self.chain.walk(path, true, u64::MAX, &mut |step| {
            if matches!(step.touch, Touch::Write | Touch::MoveTo | Touch::Delete) {
                versions.extend(Digest::from_hex(step.row.content_sha256().as_bytes()));
            }
            Ok(Next::ContentOnly)
        })?;
        Ok(versions)
    }

    /// The versions that the newest purge of `path` covers, for carrying it out again.
    pub(super) fn lineage_at_purge(&mut self, path: &str) -> Result<Vec<Digest>> {
        let mut versions = Vec::new();
        let mut inside = false;
        self.chain.walk(path, true, u64::MAX, &mut |step| {
            let extra = Value::parse(step.row.extra()).ok();
            let mode = extra.as_ref().and_then(|extra| extra.get("mode")?.as_str());
            inside |= step.touch == Touch::Delete && mode == Some("purge");
            if inside && matches!(step.touch, Touch::Write | Touch::MoveTo | Touch::Delete) {
                versions.extend(Digest::from_hex(step.row.content_sha256().as_bytes()));
            }
            Ok(Next::ContentOnly)
        })?;
        Ok(versions)
    }

    /// Other living memories that have one of `bodies` among their versions. Reads the whole log.
    pub(super) fn sharing(&mut self, path: &str, bodies: &[Digest]) -> Result<Vec<String>> {
        self.chain.refresh()?;
        // For each name, which of the bodies the memory that now has that name ever had.
        let mut had: BTreeMap<String, BTreeSet<Digest>> = BTreeMap::new();
        let log = self.chain.log();
        log.scan(log.start(), |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
            let Ok(row) = Row::parse(frame.payload) else { return Ok(ControlFlow::Continue(())) };
            let body =
                Digest::from_hex(row.content_sha256().as_bytes()).filter(|sha| bodies.binary_search(sha).is_ok());
            let carried = row.move_ends().and_then(|(source, _)| had.remove(source.as_ref()));
            for (name, touch) in row.touches() {
                match touch {
                    Touch::Write => {
                        if let Some(body) = body {
                            had.entry(name.into_owned()).or_default().insert(body);
                        }
                    }
                    Touch::MoveTo => drop(carried.clone().and_then(|bodies| had.insert(name.into_owned(), bodies))),
                    Touch::Delete => drop(had.remove(name.as_ref())),
                    Touch::MoveFrom | Touch::Annotation => {}
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        had.remove(path);
        Ok(had.into_iter().filter(|(_, bodies)| !bodies.is_empty()).map(|(name, _)| name).collect())
    }
}
