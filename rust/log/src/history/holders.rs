//! Which living memories have a body among their versions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::Chain;
use crate::error::Result;
use crate::hash::Digest;
use crate::log::Event;
use crate::row::{Row, Touch};

impl Chain {
    /// The living memories that have one of `bodies`, which are sorted, among their versions, each with those it has.
    pub fn holders(&self, bodies: &[Digest]) -> Result<BTreeMap<String, BTreeSet<Digest>>> {
        // For each name, which of the bodies the memory that now has that name ever had.
        let mut had: BTreeMap<String, BTreeSet<Digest>> = BTreeMap::new();
        let log = self.log();
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
        had.retain(|_, bodies| !bodies.is_empty());
        Ok(had)
    }
}
