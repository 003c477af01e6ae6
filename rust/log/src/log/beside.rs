//! The small files that the writer keeps beside the log for upstream's readers, held against it: HEAD and the Merkle peaks.
//!
//! They are written after a row is acknowledged, so that a crash may leave them behind the log. That is no fault; what is ahead
//! of the log, or says something else, is.

use std::ops::ControlFlow;
use std::path::Path;

use super::peaks::{Peaks, leaf};
use super::{Event, LogReader};
use crate::error::{LogError, Result};
use crate::format;
use crate::medium::{Medium, Open};

/// Name of the file in the store that holds the last row's number.
pub const HEAD: &str = "HEAD";

/// How a file agrees with the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// There is no such file.
    Missing,
    /// It says what the log says.
    Current,
    /// It says what the log said after this row.
    Behind(u64),
    /// It says something else.
    Wrong(String),
}

/// What HEAD says: the number of a row, or nothing that can be read.
type Head = Option<u64>;

/// Reads HEAD; `None` where there is none.
fn read_head(log: &LogReader) -> Result<Option<Head>> {
    let bytes = read(log, &log.segments().dir().with_file_name(HEAD), format::head::LEN + 1)?;
    Ok(bytes.map(|bytes| format::head::decode(&bytes)))
}

/// Returns the number of the last row by HEAD; `None` where HEAD does not say.
pub(super) fn head(log: &LogReader) -> Result<Head> {
    read_head(log).map(Option::flatten)
}

/// Writes the number of the last row of the store at `root` into HEAD, without syncing.
pub fn write_head(medium: &dyn Medium, root: &Path, seq: u64) -> Result<()> {
    let path = root.join(HEAD);
    let write = || medium.open(&path, Open::Create)?.write_all_at(&format::head::encode(seq), 0);
    write().map_err(LogError::io("write", &path))
}

/// Compares HEAD with the log.
pub fn check_head(log: &LogReader) -> Result<Agreement> {
    let Some(head) = read_head(log)? else { return Ok(Agreement::Missing) };
    let last = log.last_seq();
    Ok(match head {
        None => Agreement::Wrong(format!("it is not {} bytes long", format::head::LEN)),
        Some(head) if head == last => Agreement::Current,
        Some(head) if head < last => Agreement::Behind(head),
        Some(head) => Agreement::Wrong(format!("it says {head}, and the log ends with row {last}")),
    })
}

/// Compares the stored peaks with those of the whole log.
pub fn check_peaks(log: &LogReader, computed: &Peaks) -> Result<Agreement> {
    let Some(bytes) = read(log, &Peaks::path(log.segments().dir()), format::peaks::MAX_LEN + 1)? else {
        return Ok(Agreement::Missing);
    };
    let Some(mut stored) = Peaks::decode(&bytes) else { return Ok(Agreement::Wrong("it is not well formed".into())) };
    let leaves = stored.leaves();
    if leaves > computed.leaves() {
        return Ok(Agreement::Wrong(format!("it has {leaves} leaves, and the log {} rows", computed.leaves())));
    }
    if leaves < computed.leaves() {
        log.scan(log.start(), |event| {
            if let Event::Frame(_, frame) = event
                && frame.header.seq > leaves
            {
                stored.push(leaf(frame.payload));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(match (stored == *computed, leaves == computed.leaves()) {
        (true, true) => Agreement::Current,
        (true, false) => Agreement::Behind(leaves),
        (false, _) => Agreement::Wrong("its hashes are not those of the log's rows".into()),
    })
}

fn read(log: &LogReader, path: &Path, most: usize) -> Result<Option<Vec<u8>>> {
    log.segments().medium().read_head(path, most).map_err(LogError::io("read", path))
}
