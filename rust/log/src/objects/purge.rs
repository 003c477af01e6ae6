//! Erasing bodies in place.
//!
//! First all data become zeros, and that is synced; then the frames say that they are purged, and that is synced. A frame
//! between the two has data of zeros and a checksum that does not hold, and reads as purged; purging it again finishes.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, key};
use super::packs::{Fixed, Packs, Position, corrupt};
use super::recover::{write_purged, write_zeros};
use super::scan::{self, End, State};
use super::writer::BodyWriter;
use crate::error::{LogError, Result};
use crate::format::frame::HEADER;
use crate::format::pack::{DATA, Kind};
use crate::hash::Digest;

/// What a purge erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Stored copies of bodies.
    pub bodies: u64,
    /// Their stored bytes.
    pub bytes: u64,
}

impl BodyWriter {
    /// Erases every stored copy of these bodies, durably. What has been erased before, or was never there, counts nothing;
    /// a purge that did not finish is finished. What is buffered is flushed first.
    ///
    /// A copy that damage keeps from being found is an error, once everything else is erased.
    pub fn purge(&mut self, shas: &[Digest]) -> Result<PurgeReport> {
        self.flush()?;
        let mut copies = Copies::default();
        for sha in shas {
            self.recent.remove(sha);
            copies.find(&mut self.catalog, sha)?;
        }
        let Copies { frames, lost, .. } = copies;
        let mut report = PurgeReport::default();
        for (at, fixed) in &frames {
            let file = self.catalog.packs.file(at.pack)?;
            let path = self.catalog.packs.path(at.pack);
            write_zeros(&*file, at.offset + DATA as u64, fixed.data_len()).map_err(LogError::io("erase", path))?;
            report.bodies += 1;
            report.bytes += fixed.data_len() as u64;
        }
        let packs: BTreeSet<u32> = frames.keys().map(|at| at.pack).collect();
        self.sync_packs(&packs)?;
        for (at, fixed) in frames {
            let file = self.catalog.packs.file(at.pack)?;
            let path = self.catalog.packs.path(at.pack);
            write_purged(&*file, at.offset, fixed).map_err(LogError::io("mark", path))?;
        }
        self.sync_packs(&packs)?;
        match lost {
            None => Ok(report),
            Some(at) => Err(corrupt(at, None, "a body to be erased lay here, and its frame is damaged")),
        }
    }

    fn sync_packs(&mut self, packs: &BTreeSet<u32>) -> Result<()> {
        for pack in packs {
            let file = self.catalog.packs.file(*pack)?;
            self.sync(&file, *pack)?;
        }
        Ok(())
    }
}

/// Frames to erase.
#[derive(Debug, Default)]
struct Copies {
    frames: BTreeMap<Position, Fixed>,
    /// A place where a copy was and no frame is.
    lost: Option<Position>,
    buffer: Vec<u8>,
}

impl Copies {
    fn find(&mut self, catalog: &mut Catalog, sha: &Digest) -> Result<()> {
        let mut lost = Vec::new();
        catalog.visit(sha, |packs, at| {
            if !self.consider(packs, at, sha)? {
                lost.push(at);
            }
            Ok(false)
        })?;
        if lost.is_empty() {
            return Ok(());
        }
        // The index, or the header by which the pack is found, is wrong.
        let before = self.frames.len();
        catalog.each_frame(End::START, |packs, frame| {
            if frame.fixed.head.sha == *sha {
                self.consider(packs, frame.at, sha)?;
            }
            Ok(false)
        })?;
        if self.frames.len() - before < lost.len() {
            self.lost = lost.first().copied();
        }
        Ok(())
    }

    /// Adds the frame at `at` unless it is another body's or purged in full; returns false where no frame has this key.
    fn consider(&mut self, packs: &mut Packs, at: Position, sha: &Digest) -> Result<bool> {
        let found = packs.frame(at, &mut self.buffer)?;
        let Some(fixed) = found.filter(|fixed| key(&fixed.head.sha) == key(sha)) else { return Ok(false) };
        let state = scan::check(fixed, self.buffer.get(HEADER..).unwrap_or_default());
        let is_done = state == State::Whole && fixed.head.kind == Kind::Purged;
        // A damaged frame with this body's key is taken to be this body's.
        if !is_done && (fixed.head.sha == *sha || state != State::Whole) {
            self.frames.insert(at, fixed);
        }
        Ok(true)
    }
}
