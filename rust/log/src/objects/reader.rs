//! Reading bodies.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Body;
use super::bodies::{Bodies, Stored};
use super::catalog::{Catalog, Met, body_at};
use super::scan::End;
use crate::error::Result;
use crate::hash::Digest;
use crate::medium::{Open, SharedMedium};

/// Rows kept in memory of what no index covers (24 bytes each); what is beyond is read again for every search.
const MAX_TAIL: usize = 1 << 20;
/// With this many rows in memory, the index is looked at again: it may have grown.
const LONG_TAIL: usize = 1 << 16;

/// Finds bodies by their SHA-256. Never writes, and sees what is appended after it was opened.
#[derive(Debug)]
pub struct BodyReader {
    catalog: Mutex<Catalog>,
}

impl BodyReader {
    /// Opens the packs in `objects_dir` and their index in `index_dir`; neither need exist.
    pub fn open(medium: SharedMedium, objects_dir: PathBuf, index_dir: PathBuf) -> Result<Self> {
        let catalog = Catalog::open(medium, objects_dir, index_dir, Open::Read)?;
        Ok(Self { catalog: Mutex::new(catalog) })
    }

    /// Returns the body with this SHA-256. A body that is there but not as it was written is
    /// [`LogError::Corrupt`](crate::LogError::Corrupt).
    pub fn get(&self, sha: &Digest) -> Result<Body> {
        let mut catalog = self.catalog();
        let mut met = Met::default();
        if let Some(body) = catalog.search(sha, &mut met)? {
            return Ok(Body::Found(body));
        }
        if catalog.tail.len() > LONG_TAIL && catalog.index.refresh()? {
            catalog.trust_index()?;
        }
        // What looks damaged may have been in the middle of being purged.
        let grown = catalog.has_grown()?;
        if grown {
            catalog.extend(false, MAX_TAIL, |_| {})?;
        }
        if grown || met.damaged.is_some() {
            met = Met::default();
            if let Some(body) = catalog.search(sha, &mut met)? {
                return Ok(Body::Found(body));
            }
        }
        let from = match (met.misplaced, catalog.tail.len() >= MAX_TAIL) {
            (true, _) => Some(End::START),
            (false, true) => Some(catalog.end),
            (false, false) => None,
        };
        if let Some(from) = from
            && let Some(body) = catalog.sweep(from, sha, &mut met)?
        {
            return Ok(Body::Found(body));
        }
        met.result()
    }

    /// Reads every frame there is now, in order and with its checksum.
    pub fn iterate(&self) -> Result<Bodies<'_>> {
        let mut catalog = self.catalog();
        catalog.packs.list()?;
        Ok(Bodies::new(self, catalog.packs.from(1).collect()))
    }

    /// Decompresses and hashes the body of a frame that [`BodyReader::iterate`] returned.
    pub fn check(&self, stored: &Stored) -> Result<Body> {
        let mut met = Met::default();
        let found = body_at(&mut self.catalog().packs, stored.at, &stored.sha, &mut Vec::new(), &mut met)?;
        found.map_or_else(|| met.result(), |body| Ok(Body::Found(body)))
    }

    pub(super) fn catalog(&self) -> MutexGuard<'_, Catalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
