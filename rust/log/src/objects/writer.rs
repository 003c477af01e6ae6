//! Appending bodies.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::catalog::Catalog;
use super::codec::{self, Compressed};
use super::packs::{Fixed, Position};
use crate::error::{LogError, Result};
use crate::format::{frame, pack};
use crate::hash::Digest;
use crate::index::Merge;
use crate::medium::{MediumFile, Open, SharedMedium};

/// A pack that is this long in bytes gets no further group.
pub const PACK_LIMIT: u64 = 256 << 20;
/// Bodies remembered so as not to store them twice: those appended since the last refresh, this many at most.
const REMEMBERED: usize = 1 << 13;

/// Appends bodies to the packs. For the holder of the store's lock.
///
/// Bodies are buffered by [`append`](Self::append) and durable when [`flush`](Self::flush) returns. After an error in a
/// write, the flush can be tried again or [discarded](Self::discard). After an error in a sync, everything fails with
/// [`LogError::Poisoned`]; opening anew finds out what is there.
#[derive(Debug)]
pub struct BodyWriter {
    pub(super) medium: SharedMedium,
    pub(super) catalog: Catalog,
    limit: u64,
    /// Whole frames.
    buffer: Vec<u8>,
    /// Where they begin.
    frames: Vec<usize>,
    payload: Vec<u8>,
    pub(super) recent: HashSet<Digest>,
    poison: Option<String>,
    /// Frames written by someone else may not be durable yet.
    pub(super) unsynced: bool,
}

impl BodyWriter {
    /// Opens the packs in `objects_dir` with their index in `index_dir` and creates the folders where they are missing.
    ///
    /// Reads what lies behind the index, cuts off what a crash left behind the last whole frame, and voids what it left
    /// unfinished in between.
    pub fn open(medium: SharedMedium, objects_dir: PathBuf, index_dir: PathBuf) -> Result<Self> {
        Self::with_limit(medium, objects_dir, index_dir, PACK_LIMIT)
    }

    /// Like [`BodyWriter::open`], with another length than [`PACK_LIMIT`] at which a pack is closed.
    pub fn with_limit(medium: SharedMedium, objects_dir: PathBuf, index_dir: PathBuf, limit: u64) -> Result<Self> {
        if medium.stat(&objects_dir).map_err(LogError::io("look at", &objects_dir))?.is_none() {
            medium.create_dir_all(&objects_dir).map_err(LogError::io("create", &objects_dir))?;
            if let Some(parent) = objects_dir.parent() {
                medium.sync_dir(parent).map_err(LogError::io("sync", parent))?;
            }
        }
        let catalog = Catalog::open(medium.clone(), objects_dir, index_dir, Open::Write)?;
        let mut writer = Self {
            medium,
            catalog,
            limit,
            buffer: Vec::new(),
            frames: Vec::new(),
            payload: Vec::new(),
            recent: HashSet::new(),
            poison: None,
            unsynced: false,
        };
        writer.recover()?;
        Ok(writer)
    }

    /// Reads what other processes have appended. To be called when the store's lock has been taken again, with nothing
    /// buffered.
    pub fn refresh(&mut self) -> Result<()> {
        self.check()?;
        if !self.frames.is_empty() {
            return Err(LogError::Invalid("bodies are buffered: flush or discard them first".to_owned()));
        }
        // Another process may have purged them.
        self.recent.clear();
        if self.catalog.has_grown()? { self.recover() } else { Ok(()) }
    }

    /// Buffers a body. `sha` is its SHA-256.
    ///
    /// A body that was appended since the last refresh is not stored again; how many are remembered is bounded.
    pub fn append(&mut self, body: &[u8], sha: Digest) -> Result<()> {
        self.check()?;
        if self.remember(sha) {
            let mut payload = std::mem::take(&mut self.payload);
            let encoded = codec::encode(body, sha, &mut payload);
            if encoded.is_ok() {
                self.push(&mut payload);
            } else {
                self.recent.remove(&sha);
            }
            self.payload = payload;
            encoded?;
        }
        Ok(())
    }

    /// Buffers a body that was compressed elsewhere.
    pub fn append_compressed(&mut self, body: Compressed) -> Result<()> {
        self.check()?;
        if self.remember(body.sha()) {
            self.push(&mut body.into_payload());
        }
        Ok(())
    }

    /// Returns whether the body is new.
    fn remember(&mut self, sha: Digest) -> bool {
        if self.recent.len() >= REMEMBERED {
            self.recent.clear();
        }
        self.recent.insert(sha)
    }

    fn push(&mut self, payload: &mut [u8]) {
        if self.frames.is_empty() {
            pack::start_group(payload);
        }
        let seq = self.catalog.end.seq + self.frames.len() as u64;
        self.frames.push(self.buffer.len());
        frame::encode(&mut self.buffer, seq, now_ns(), payload);
    }

    /// Returns the number of buffered bytes.
    pub const fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Makes the buffered bodies durable: one write, one sync, and a sync of the folder where the pack is new.
    pub fn flush(&mut self) -> Result<()> {
        self.check()?;
        if self.frames.is_empty() {
            return Ok(());
        }
        let at = self.place();
        let file = self.catalog.packs.create(at.pack)?;
        let path = self.catalog.packs.path(at.pack);
        if let Err(error) = file.write_all_at(&self.buffer, at.offset) {
            // Nothing may be left for the next group to be written into.
            if let Err(worse) = file.set_len(at.offset) {
                return Err(self.poisoned(LogError::io("cut", path)(worse)));
            }
            return Err(LogError::io("write", path)(error));
        }
        self.sync(&file, at.pack)?;
        if at.offset == 0 {
            self.sync_dir()?;
        }
        self.catalog.end.at = at;
        for from in &self.frames {
            if let Some(fixed) = self.buffer.get(*from..).and_then(Fixed::decode) {
                self.catalog.push(Position { offset: at.offset + *from as u64, ..at }, &fixed);
            }
        }
        self.buffer.clear();
        self.frames.clear();
        Ok(())
    }

    /// Returns where the buffer stands, for [`rewind`](Self::rewind).
    pub const fn mark(&self) -> usize {
        self.frames.len()
    }

    /// Drops the bodies that were buffered since `mark`.
    pub fn rewind(&mut self, mark: usize) {
        if let Some(&from) = self.frames.get(mark) {
            self.buffer.truncate(from);
            self.frames.truncate(mark);
            self.recent.clear();
        }
    }

    /// Drops the buffered bodies.
    pub fn discard(&mut self) {
        self.buffer.clear();
        self.frames.clear();
        self.recent.clear();
    }

    /// Returns where the next group goes.
    fn place(&self) -> Position {
        let at = self.catalog.end.at;
        if at.offset < self.limit { at } else { Position { pack: at.pack + 1, offset: 0 } }
    }

    /// Hands the bodies that are only in memory to the index if there are at least `min_rows`; returns whether it did.
    ///
    /// A reader that looks for one of the bodies behind the index reads them all: about 0.2 ms for a thousand. The index may be
    /// due a [merge](Self::merge_index) afterwards.
    pub fn publish_index(&mut self, min_rows: usize) -> Result<bool> {
        self.check()?;
        if self.catalog.tail.len() < min_rows.max(1) {
            return Ok(false);
        }
        if self.unsynced {
            // An index must not outlive in a crash what it points to.
            let pack = self.catalog.end.at.pack;
            let file = self.catalog.packs.file(pack)?;
            self.sync(&file, pack)?;
        }
        if !self.catalog.publish()? {
            // Somebody deleted the index.
            self.catalog.trust_index()?;
            self.recover()?;
            self.catalog.publish()?;
        }
        Ok(true)
    }

    /// Returns the merge of the index that is due, to be run on another thread.
    pub fn merge_due(&self) -> Option<Merge> {
        self.catalog.index.merge_due()
    }

    /// Does one merge of the index that is due, here; returns whether there was one.
    pub fn merge_index(&mut self) -> Result<bool> {
        self.catalog.index.merge_step()
    }

    pub(super) fn check(&self) -> Result<()> {
        self.poison.as_ref().map_or(Ok(()), |why| Err(LogError::Poisoned(why.clone())))
    }

    fn poisoned(&mut self, error: LogError) -> LogError {
        self.poison = Some(error.to_string());
        error
    }

    pub(super) fn sync(&mut self, file: &Arc<dyn MediumFile>, pack: u32) -> Result<()> {
        let path = self.catalog.packs.path(pack);
        file.sync().map_err(|error| self.poisoned(LogError::io("sync", path)(error)))?;
        if pack == self.catalog.end.at.pack {
            self.unsynced = false;
        }
        Ok(())
    }

    pub(super) fn sync_dir(&mut self) -> Result<()> {
        let dir = self.catalog.packs.dir().to_owned();
        self.medium.sync_dir(&dir).map_err(|error| self.poisoned(LogError::io("sync", dir)(error)))
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
