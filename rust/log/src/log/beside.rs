//! The small files that the writer keeps beside the log for upstream's readers, held against it: HEAD and the Merkle peaks.
//!
//! They are written after a row is acknowledged, so that a crash may leave them behind the log. That is no fault. What is ahead
//! of the log is evidence that rows are missing at its end, and what says something else is wrong.

use std::ops::ControlFlow;
use std::path::Path;

use super::peaks::{Peaks, leaf};
use super::{Event, LogReader, Position};
use crate::error::{LogError, Result};
use crate::format;
use crate::medium::{Medium, Open};

/// Name of the file in the store that holds the last row's number.
pub const HEAD: &str = "HEAD";
/// Name of the file in the store that holds the peaks.
pub const PEAKS: &str = "audit/mmr/peaks.bin";

/// How a file agrees with the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// There is no such file.
    Missing,
    /// It says what the log says.
    Current,
    /// It says what the log said after this row.
    Behind(u64),
    /// It knows rows up to this one, which the log does not have.
    Ahead(u64),
    /// It says something else.
    Wrong(String),
}

/// What HEAD says: the number of a row, or nothing that can be read.
type Head = Option<u64>;

/// Reads HEAD; `None` where there is none.
fn read_head(medium: &dyn Medium, audit_dir: &Path) -> Result<Option<Head>> {
    let path = audit_dir.with_file_name(HEAD);
    let bytes = medium.read_head(&path, format::head::LEN + 1).map_err(LogError::io("read", path))?;
    Ok(bytes.map(|bytes| format::head::decode(&bytes)))
}

/// Returns the number of the last row by HEAD; `None` where HEAD does not say.
pub(super) fn head(log: &LogReader) -> Result<Head> {
    read_head(log.segments().medium().as_ref(), log.segments().dir()).map(Option::flatten)
}

/// What HEAD or the peaks know of the log's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// The file that knows it, relative to the store.
    pub file: &'static str,
    /// The last row there was.
    pub seq: u64,
}

impl Known {
    /// Reads both files; the one that knows more rows counts.
    pub(super) fn read(medium: &dyn Medium, audit_dir: &Path) -> Result<Self> {
        let head = read_head(medium, audit_dir)?.flatten().unwrap_or(0);
        let leaves = Peaks::read(medium, audit_dir)?.map_or(0, |peaks| peaks.leaves());
        Ok(if leaves > head { Self { file: PEAKS, seq: leaves } } else { Self { file: HEAD, seq: head } })
    }

    /// What the file says of a log that ends with row `last`, as an error.
    pub(super) fn error(self, last: u64) -> LogError {
        let what = format!("it knows {} rows, and the log ends with row {last}: rows are missing at its end", self.seq);
        LogError::corrupt(self.file, 0, Some(last + 1), what)
    }
}

/// Returns what says that rows behind row `last`, with which this log ends, are missing.
///
/// Without a lock rows may be appended meanwhile, so that the log is looked at again before it is believed.
pub(super) fn missing_rows(log: &LogReader, last: u64) -> Result<Option<Known>> {
    let (medium, dir) = (log.segments().medium(), log.segments().dir());
    let known = Known::read(medium.as_ref(), dir)?;
    let is_missing = known.seq > last && known.seq > again(log)?.last_seq();
    Ok(is_missing.then_some(known))
}

/// The log as it is by now.
fn again(log: &LogReader) -> Result<LogReader> {
    LogReader::open(log.segments().medium().clone(), log.segments().dir().to_path_buf())
}

/// Writes the number of the last row of the store at `root` into HEAD, without syncing.
pub fn write_head(medium: &dyn Medium, root: &Path, seq: u64) -> Result<()> {
    let path = root.join(HEAD);
    let write = || {
        let file = medium.open(&path, Open::Create)?;
        if file.len()? > format::head::LEN as u64 {
            file.set_len(0)?;
        }
        file.write_all_at(&format::head::encode(seq), 0)
    };
    write().map_err(LogError::io("write", &path))
}

/// Compares HEAD with the log.
pub fn check_head(log: &LogReader) -> Result<Agreement> {
    let head = read_head(log.segments().medium().as_ref(), log.segments().dir())?;
    let Some(head) = head else { return Ok(Agreement::Missing) };
    let last = match head {
        Some(head) if head > log.last_seq() => again(log)?.last_seq(),
        _ => log.last_seq(),
    };
    Ok(match head {
        None => Agreement::Wrong(format!("it is not {} bytes long", format::head::LEN)),
        Some(head) if head == last => Agreement::Current,
        Some(head) if head < last => Agreement::Behind(head),
        Some(head) => Agreement::Ahead(head),
    })
}

/// Compares the stored peaks with those of the whole log.
pub fn check_peaks(log: &LogReader, computed: &Peaks) -> Result<Agreement> {
    let (medium, dir) = (log.segments().medium(), log.segments().dir());
    let path = Peaks::path(dir);
    let bytes = medium.read_head(&path, format::peaks::MAX_LEN + 1).map_err(LogError::io("read", path))?;
    let Some(bytes) = bytes else { return Ok(Agreement::Missing) };
    let Some(mut stored) = Peaks::decode(&bytes) else { return Ok(Agreement::Wrong("it is not well formed".into())) };
    let leaves = stored.leaves();
    let mut computed = computed.clone();
    if leaves > computed.leaves() {
        // Rows may have been appended since these peaks were computed.
        let log = again(log)?;
        if leaves > log.last_seq() {
            return Ok(Agreement::Ahead(leaves));
        }
        push_rows(&log, &mut computed, leaves)?;
    } else if leaves < computed.leaves() {
        push_rows(log, &mut stored, computed.leaves())?;
    }
    Ok(match (stored == computed, leaves == computed.leaves()) {
        (true, true) => Agreement::Current,
        (true, false) => Agreement::Behind(leaves),
        (false, _) => Agreement::Wrong("its hashes are not those of the log's rows".into()),
    })
}

/// Adds the rows behind those that `peaks` has, up to row `last`.
fn push_rows(log: &LogReader, peaks: &mut Peaks, last: u64) -> Result<()> {
    let place = log.segments().place_of(peaks.leaves() + 1).unwrap_or(0);
    let seq = log.segments().get(place).map_or(1, |segment| segment.first_seq);
    log.scan(Position { place, offset: 0, seq }, |event| {
        let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
        if frame.header.seq > last {
            return Ok(ControlFlow::Break(()));
        }
        if frame.header.seq > peaks.leaves() {
            peaks.push(leaf(frame.payload));
        }
        Ok(ControlFlow::Continue(()))
    })
}
