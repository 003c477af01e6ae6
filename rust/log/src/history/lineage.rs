//! The versions that a memory ever had.

use super::{Chain, Next};
use crate::error::Result;
use crate::hash::Digest;
use crate::row::Touch;

impl Chain {
    /// Every version that the history of `path` before row `below` names, newest first: also those under former names.
    pub fn lineage(&self, path: &str, below: u64) -> Result<Vec<Digest>> {
        let mut versions = Vec::new();
        self.walk(path, true, below, &mut |step| {
            if matches!(step.touch, Touch::Write | Touch::MoveTo | Touch::Delete) {
                versions.extend(Digest::from_hex(step.row.content_sha256().as_bytes()));
            }
            Ok(Next::ContentOnly)
        })?;
        Ok(versions)
    }
}
