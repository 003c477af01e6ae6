//! Segments: the files that hold the log's frames.
//!
//! `audit/current.binlog` is the active one; sealed ones are `<yyyy-mm>_<nn>.binlog`, compacted ones the same with `.zst`.
//! Their order is that of their first sequence numbers, never of their names. Reading them never writes.

mod batch;
mod compacted;
mod list;
mod resync;
mod reverse;

pub use batch::{Batch, BatchReader, Frame, Stop};
pub(crate) use list::free_sealed_name;
pub use list::{Segments, Unreadable};
pub use resync::{Found, find_frame, find_last_frame, holds_unwritten_sector};
pub use reverse::Reverse;

use std::sync::Arc;

use self::compacted::Compacted;
use crate::error::{LogError, Result};
use crate::medium::MediumFile;

/// Name of the active segment.
pub const ACTIVE: &str = "current.binlog";

/// One opened segment.
#[derive(Debug, Clone)]
pub struct Segment {
    /// File name in `audit/`.
    pub name: String,
    /// Sequence number of its first row.
    pub first_seq: u64,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Plain(Arc<dyn MediumFile>),
    Compacted(Arc<Compacted>),
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
        matches!(self.content, Content::Compacted(_))
    }

    /// What is wrong with a compacted segment's compressed bytes, if anything; the frames before can be read.
    pub fn fault(&self) -> Result<Option<&str>> {
        match &self.content {
            Content::Plain(_) => Ok(None),
            Content::Compacted(file) => file.fault().map_err(LogError::io("decompress", self.label())),
        }
    }

    /// Returns the length of its frames in bytes (decompressed).
    pub fn len(&self) -> Result<u64> {
        match &self.content {
            Content::Plain(file) => file.len().map_err(LogError::io("measure", self.label())),
            Content::Compacted(file) => file.len().map_err(LogError::io("decompress", self.label())),
        }
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.read(&mut [0], 0)? == 0)
    }

    /// Reads until `buf` is full or the segment ends.
    pub fn read(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        match &self.content {
            Content::Plain(file) => file.read_full_at(buf, offset).map_err(LogError::io("read", self.label())),
            Content::Compacted(file) => {
                file.read_full_at(buf, offset).map_err(LogError::io("decompress", self.label()))
            }
        }
    }
}
