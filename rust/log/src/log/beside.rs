//! The small files that the writer keeps beside the log for upstream's readers, held against it: HEAD and the Merkle peaks.
//!
//! They are written after a row is acknowledged, so that a crash may leave them behind the log. That is no fault; what is ahead
//! of the log, or says something else, is.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::peaks::{Peaks, leaf};
use super::{Event, LogReader};
use crate::error::{LogError, Result};
use crate::format;

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

/// Compares HEAD with the log.
pub fn check_head(log: &LogReader) -> Result<Agreement> {
    let path = log.segments().dir().parent().map_or_else(|| PathBuf::from(HEAD), |root| root.join(HEAD));
    let Some(bytes) = read(log, &path, format::head::LEN + 1)? else { return Ok(Agreement::Missing) };
    let last = log.last_seq();
    Ok(match format::head::decode(&bytes) {
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
