//! Segments: the files that hold the log's frames.
//!
//! `audit/current.binlog` is the active one; sealed ones are `<yyyy-mm>_<nn>.binlog`, compacted ones the same with `.zst`.
//! Their order is that of their first sequence numbers, never of their names. Reading them never writes.

mod batch;
mod compacted;
mod known;
mod list;
mod opening;
mod resync;
mod reverse;

pub use batch::{Batch, BatchReader, Frame, Stop};
pub(crate) use list::free_sealed_name;
pub use list::{Segments, Unreadable};
pub use resync::{Found, find_frame, find_last_frame, holds_unwritten_sector};
pub use reverse::Reverse;

use std::io;
use std::sync::Arc;

use self::opening::{Content, Opening};
use crate::error::{LogError, Result};

/// Name of the active segment.
pub const ACTIVE: &str = "current.binlog";
const PLAIN_SUFFIX: &str = ".binlog";
const COMPACTED_SUFFIX: &str = ".binlog.zst";

/// One segment, to be read. Its file is opened when that is first needed.
#[derive(Debug, Clone)]
pub struct Segment {
    /// File name in `audit/`.
    pub name: String,
    /// Sequence number of its first row.
    pub first_seq: u64,
    file: Arc<Opening>,
}

impl Segment {
    /// Name relative to the store, for messages.
    pub fn label(&self) -> String {
        format!("audit/{}", self.name)
    }

    /// Whether rows are still appended to it.
    pub fn is_active(&self) -> bool {
        self.name == ACTIVE
    }

    /// Whether its file holds the frames compressed.
    pub fn is_compacted(&self) -> bool {
        self.name.ends_with(COMPACTED_SUFFIX)
    }

    /// What is wrong with a compacted segment's compressed bytes, if anything; the frames before can be read.
    pub fn fault(&self) -> Result<Option<&str>> {
        let fault = self.file.get().and_then(Content::fault);
        fault.map_err(|error| self.failed("decompress", error))
    }

    /// Returns the length of its frames in bytes (decompressed).
    pub fn len(&self) -> Result<u64> {
        let len = self.file.get().and_then(Content::len);
        len.map_err(|error| self.failed("measure", error))
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.read(&mut [0], 0)? == 0)
    }

    /// Reads until `buf` is full or the segment ends.
    pub fn read(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        let read = self.file.get().and_then(|content| content.read_full_at(buf, offset));
        read.map_err(|error| self.failed("read", error))
    }

    fn failed(&self, verb: &'static str, error: io::Error) -> LogError {
        let verb = if self.is_compacted() { "decompress" } else { verb };
        LogError::io(verb, self.label())(error)
    }
}
