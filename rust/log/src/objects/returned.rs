//! Bodies that are stored again although they were erased.

use std::collections::BTreeSet;

use super::catalog::Catalog;
use super::packs::Position;
use super::scan;
use super::writer::BodyWriter;
use crate::error::Result;
use crate::format::frame::HEADER;
use crate::format::pack::Kind;
use crate::hash::Digest;

impl BodyWriter {
    /// Number of the last body in the packs; 0 for none.
    pub const fn last(&self) -> u64 {
        self.catalog.end.seq - 1
    }

    /// Returns the bodies behind number `seq` of which another copy was erased.
    pub fn returned_since(&mut self, seq: u64) -> Result<BTreeSet<Digest>> {
        let mut returned = BTreeSet::new();
        for seq in seq + 1..self.catalog.end.seq {
            let Some(at) = place_of(&mut self.catalog, seq)? else { continue };
            let Some(fixed) = self.catalog.packs.fixed(at)?.filter(|fixed| fixed.header.seq == seq) else { continue };
            let sha = fixed.head.sha;
            if fixed.head.kind != Kind::Purged && was_erased(&mut self.catalog, &sha)? {
                returned.insert(sha);
            }
        }
        Ok(returned)
    }
}

/// Where the frame with this number should be.
fn place_of(catalog: &mut Catalog, seq: u64) -> Result<Option<Position>> {
    let first = catalog.end.seq - catalog.tail.len() as u64;
    if let Some(skip) = seq.checked_sub(first).and_then(|skip| usize::try_from(skip).ok()) {
        return Ok(catalog.tail.rows(skip).next().map(|(_, at)| at));
    }
    let pack = catalog.packs.holding(seq)?;
    // Where the index is damaged, this is left to whoever examines the store.
    let offset = catalog.index.offset(seq).unwrap_or_default();
    Ok(pack.zip(offset).map(|(pack, offset)| Position { pack, offset }))
}

fn was_erased(catalog: &mut Catalog, sha: &Digest) -> Result<bool> {
    let (mut buffer, mut erased) = (Vec::new(), false);
    catalog.visit(sha, |packs, at| {
        if let Some(fixed) = packs.frame(at, &mut buffer)?.filter(|fixed| fixed.head.sha == *sha) {
            let state = scan::check(fixed, buffer.get(HEADER..).unwrap_or_default());
            erased |= scan::is_purged(fixed, state);
        }
        Ok(erased)
    })?;
    Ok(erased)
}
