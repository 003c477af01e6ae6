//! Segments: the files that hold the log's frames.
//!
//! `audit/current.binlog` is the active one; sealed ones are `<yyyy-mm>_<nn>.binlog`, compacted ones the same with `.zst`.
//! Their order is that of their first sequence numbers, never of their names. Reading them never writes.

mod batch;
mod compacted;
mod resync;
mod reverse;

pub use batch::{Batch, BatchReader, Frame, Stop};
pub use resync::{Found, find_frame, find_last_frame};
pub use reverse::Reverse;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{LogError, Result};
use crate::format::frame::{HEADER, Header};
use crate::medium::{Medium, MediumFile, Open, SharedMedium};

/// Name of the active segment.
pub const ACTIVE: &str = "current.binlog";
const PLAIN_SUFFIX: &str = ".binlog";
const COMPACTED_SUFFIX: &str = ".binlog.zst";

/// One opened segment.
#[derive(Debug, Clone)]
pub struct Segment {
    /// File name in `audit/`.
    pub name: String,
    /// Sequence number of its first row.
    pub first_seq: u64,
    /// Its bytes, decompressed where it is compacted.
    pub file: Arc<dyn MediumFile>,
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

    /// Returns the length of its frames in bytes (decompressed).
    pub fn len(&self) -> Result<u64> {
        self.file.len().map_err(LogError::io("measure", self.label()))
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.read(&mut [0], 0)? == 0)
    }

    /// Reads until `buf` is full or the segment ends.
    pub fn read(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.file.read_full_at(buf, offset).map_err(LogError::io("read", self.label()))
    }
}

/// All segments of a log that hold at least one byte, in order.
#[derive(Debug, Clone)]
pub struct Segments {
    medium: SharedMedium,
    dir: PathBuf,
    list: Vec<Segment>,
}

impl Segments {
    /// Opens the segments in `dir` (the store's `audit/`). A folder without any is an empty log.
    pub fn open(medium: SharedMedium, dir: PathBuf) -> Result<Self> {
        // A segment may be renamed (sealed) between the listing and the opening: then list again.
        for _ in 0..8 {
            if let Some(list) = try_open(medium.as_ref(), &dir)? {
                return Ok(Self { medium, dir, list });
            }
        }
        Err(LogError::NotFound(format!("the segments in {} move faster than they can be opened", dir.display())))
    }

    /// The segments, oldest first.
    pub fn list(&self) -> &[Segment] {
        &self.list
    }

    /// The folder that holds them.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The medium they lie on.
    pub fn medium(&self) -> &SharedMedium {
        &self.medium
    }

    /// Returns the segment at `place` of [`Self::list`].
    pub fn get(&self, place: usize) -> Option<&Segment> {
        self.list.get(place)
    }

    /// Returns the place in [`Self::list`] of the segment that holds row `seq`, were it there.
    pub fn place_of(&self, seq: u64) -> Option<usize> {
        self.list.partition_point(|segment| segment.first_seq <= seq).checked_sub(1)
    }

    /// Whether the folder still shows what was opened: the same segments under the same names.
    pub fn is_current(&self) -> Result<bool> {
        let names = segment_names(self.medium.as_ref(), &self.dir)?;
        Ok(names.len() == self.list.len() && self.list.iter().all(|segment| names.contains(&segment.name)))
    }
}

fn segment_names(medium: &dyn Medium, dir: &Path) -> Result<Vec<String>> {
    let mut names = medium.list(dir).map_err(LogError::io("list", dir))?;
    names.retain(|name| name.ends_with(PLAIN_SUFFIX) || name.ends_with(COMPACTED_SUFFIX));
    names.sort_unstable();
    // An interrupted compaction leaves both forms; the plain one is the original.
    let all = names.clone();
    names.retain(|name| name.strip_suffix(".zst").is_none_or(|plain| all.iter().all(|other| other != plain)));
    Ok(names)
}

/// `None` where a listed segment has vanished.
fn try_open(medium: &dyn Medium, dir: &Path) -> Result<Option<Vec<Segment>>> {
    let mut list = Vec::new();
    for name in segment_names(medium, dir)? {
        let path = dir.join(&name);
        let file: Arc<dyn MediumFile> = match medium.open(&path, Open::Read) {
            Ok(file) if name.ends_with(COMPACTED_SUFFIX) => {
                Arc::new(compacted::Compacted::open(file).map_err(LogError::io("decompress", path))?)
            }
            Ok(file) => Arc::from(file),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::io("open", path)(error)),
        };
        let mut segment = Segment { name, first_seq: 0, file };
        if let Some(first_seq) = probe_first_seq(&segment)? {
            segment.first_seq = first_seq;
            list.push(segment);
        }
    }
    list.sort_by_key(|segment| (segment.is_active(), segment.first_seq));
    Ok(Some(list))
}

/// Reads the first row's number, doubting a first header that the second contradicts: the checksum does not cover it.
fn probe_first_seq(segment: &Segment) -> Result<Option<u64>> {
    let mut head = [0_u8; HEADER];
    let mut header_at = |offset: u64| -> Result<Option<Header>> {
        let read = segment.read(&mut head, offset)?;
        Ok(head.get(..read).and_then(Header::decode).filter(|header| header.length_is_valid() && header.seq > 0))
    };
    if segment.is_empty()? {
        return Ok(None);
    }
    let Some(first) = header_at(0)? else {
        return Ok(Some(find_frame(segment, 0, 1)?.map_or(1, |found| found.header.seq)));
    };
    let second_at = first.frame_len() as u64;
    match header_at(second_at)? {
        Some(second) if second.seq != first.seq.wrapping_add(1) => {
            // Either header may be the damaged one; a whole frame found behind both decides.
            let third = find_frame(segment, second_at + HEADER as u64, 1)?;
            let second_is_right = third.is_some_and(|third| third.header.seq == second.seq.wrapping_add(1));
            Ok(Some(if second_is_right { second.seq.saturating_sub(1).max(1) } else { first.seq }))
        }
        _ => Ok(Some(first.seq)),
    }
}
