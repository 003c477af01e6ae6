//! What a writer does about the end of a log before it appends.
//!
//! Whole rows beyond the tip are accepted, since other programs write too. Bytes behind the last whole row with no whole frame
//! behind them, beyond the tip, are a torn tail: they are moved aside, never thrown away. Everything else that is not as the
//! tip says is corruption: nothing is written and the error says where.

use std::path::Path;

use super::scan::Damage;
use super::{End, LogReader};
use crate::error::{LogError, Result};
use crate::format::tip::Tip;
use crate::hash::Digest;
use crate::medium::{Medium, MediumFile, Open};
use crate::row::Row;
use crate::segment::{Batch, BatchReader, Frame, Reverse};

/// A torn tail that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// File it was cut from, relative to the store.
    pub file: String,
    /// Where it began.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// File in `audit/` that holds the bytes now.
    pub kept_as: String,
}

/// What opening a writer found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whole rows beyond the tip that were accepted.
    pub accepted: u64,
    /// The torn tail that was moved aside.
    pub tail: Option<Tail>,
    /// Whether there was no tip yet and the whole log was checked.
    pub adopted: bool,
}

/// Checks that the row that `tip` names ends where it says, with its number and chain.
pub(super) fn check_tip(log: &LogReader, tip: &Tip) -> Result<End> {
    let corrupt = |what: &str| LogError::corrupt("audit/tip", 0, Some(tip.seq), what);
    if tip.seq == 0 {
        return Ok(End { place: 0, offset: 0, seq: 0 });
    }
    let place = log.segments().list().iter().position(|segment| segment.first_seq == tip.segment);
    let Some((place, segment)) = place.and_then(|place| Some((place, log.segments().get(place)?))) else {
        return Err(corrupt("the segment that holds the last acknowledged row is not there"));
    };
    let len = segment.len()?;
    if len < tip.offset {
        let what = format!("the log is shorter than what was acknowledged (row {} ended at {})", tip.seq, tip.offset);
        return Err(LogError::corrupt(segment.label(), len, Some(tip.seq), what));
    }
    let mut reverse = Reverse::new(segment, tip.offset, tip.seq, 0);
    let Some(Ok(frame)) = reverse.next()? else {
        return Err(LogError::corrupt(
            segment.label(),
            tip.offset,
            Some(tip.seq),
            "the last acknowledged row does not end here",
        ));
    };
    let at_row = |what: &str| LogError::corrupt(segment.label(), frame.offset, Some(tip.seq), what);
    let row = Row::parse(frame.payload).map_err(|error| at_row(&error.to_string()))?;
    if row.chain() != tip.chain {
        return Err(at_row("the last acknowledged row has another chain"));
    }
    if row.ts_ns() != frame.header.ts_ns {
        return Err(at_row("the header's time is not the payload's"));
    }
    if !row.chain_is_right() {
        return Err(at_row("the chain does not match the payload"));
    }
    Ok(End { place, offset: tip.offset, seq: tip.seq })
}

/// Checks one frame as the successor of `previous`; returns its chain.
pub(super) fn check_link(file: &str, frame: &Frame<'_>, previous: &Digest) -> Result<Digest> {
    let seq = Some(frame.header.seq);
    let corrupt = |what: String| LogError::corrupt(file, frame.offset, seq, what);
    let row = Row::parse(frame.payload).map_err(|error| corrupt(error.to_string()))?;
    if row.ts_ns() != frame.header.ts_ns {
        return Err(corrupt("the header's time is not the payload's".into()));
    }
    if row.prev_chain() != *previous {
        return Err(corrupt("prev_chain is not the chain of the row before".into()));
    }
    if !row.chain_is_right() {
        return Err(corrupt("the chain does not match the payload".into()));
    }
    Ok(row.chain())
}

/// Where a log ends after [`roll_forward`], and what lies behind.
pub(super) struct Rolled {
    pub end: End,
    pub chain: Digest,
    pub damage: Option<Damage>,
}

/// Accepts whole, well-linked rows behind `end`, calling `visit` for each, and describes what stops it.
pub(super) fn roll_forward(
    log: &LogReader,
    mut end: End,
    mut chain: Digest,
    visit: &mut dyn FnMut(&Frame<'_>) -> Result<()>,
) -> Result<Rolled> {
    let mut batch = Batch::default();
    let mut place = end.place;
    while let Some(segment) = log.segments().get(place) {
        let label = segment.label();
        let from = if place == end.place { end.offset } else { 0 };
        let mut reader = BatchReader::new(segment, from, end.seq + 1, None)?;
        loop {
            let mut stop = reader.read(&mut batch)?;
            for frame in batch.frames() {
                match frame {
                    Ok(frame) => {
                        chain = check_link(&label, &frame, &chain)?;
                        visit(&frame)?;
                        end = End { place, offset: frame.end(), seq: frame.header.seq };
                    }
                    Err(bad) => {
                        stop = Some(bad);
                        break;
                    }
                }
            }
            if let Some(stop) = stop {
                return Ok(Rolled { end, chain, damage: Some(log.damage_at(segment, place, stop)?) });
            }
            if batch.is_empty() {
                break;
            }
        }
        match log.segments().get(place + 1) {
            Some(next) if next.first_seq == end.seq + 1 => place += 1,
            Some(next) => {
                let what = format!("the segment begins with row {}, not {}", next.first_seq, end.seq + 1);
                return Err(LogError::corrupt(next.label(), 0, Some(end.seq + 1), what));
            }
            None => break,
        }
    }
    Ok(Rolled { end, chain, damage: None })
}

/// Moves the bytes from `damage.offset` on into a file of their own, durably, and cuts them off.
pub(super) fn set_aside(medium: &dyn Medium, audit_dir: &Path, damage: &Damage) -> Result<Tail> {
    let name = damage.file.strip_prefix("audit/").unwrap_or(&damage.file);
    let path = audit_dir.join(name);
    let bytes = damage.end.saturating_sub(damage.offset);
    let (kept, kept_as) = create_side_file(medium, audit_dir, damage).map_err(LogError::io("create in", audit_dir))?;
    let set_aside = || -> std::io::Result<()> {
        let file = medium.open(&path, Open::Write)?;
        copy(file.as_ref(), damage.offset..damage.end, kept.as_ref(), 0)?;
        kept.sync()?;
        medium.sync_dir(audit_dir)?;
        file.set_len(damage.offset)?;
        file.sync()
    };
    set_aside().map_err(LogError::io("set aside the torn tail of", &path))?;
    Ok(Tail { file: damage.file.clone(), offset: damage.offset, bytes, kept_as })
}

/// Creates a file with a name of its own: an earlier tail may have been torn at the same place.
fn create_side_file(
    medium: &dyn Medium,
    audit_dir: &Path,
    damage: &Damage,
) -> std::io::Result<(Box<dyn MediumFile>, String)> {
    let mut n = 1_u64;
    loop {
        let name = format!("torn-{:020}-{}-{n}.bin", damage.expected_seq, damage.offset);
        match medium.open(&audit_dir.join(&name), Open::CreateNew) {
            Ok(file) => return Ok((file, name)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Makes the rows between `from` and `to` durable, which are not acknowledged yet.
///
/// With `again` those in the active segment are written once more, as they are. They may be those of a failed sync: they read
/// well from memory and would never reach the disk, since the system believes it has written them.
pub(super) fn make_durable(log: &LogReader, from: End, to: End, again: bool) -> Result<()> {
    if from.seq == to.seq {
        return Ok(());
    }
    let (medium, dir) = (log.segments().medium(), log.segments().dir());
    let segments = log.segments().list().iter().enumerate().take(to.place + 1).skip(from.place);
    for (place, segment) in segments.filter(|(_, segment)| !segment.is_compacted()) {
        let start = if place == from.place { from.offset } else { 0 };
        let end = if place == to.place { to.offset } else { segment.len()? };
        let path = dir.join(&segment.name);
        let again = again && segment.is_active();
        let make_durable = || -> std::io::Result<()> {
            // A sealed segment may be read-only.
            let file = medium.open(&path, if again { Open::Write } else { Open::Read })?;
            if again {
                copy(file.as_ref(), start..end, file.as_ref(), start)?;
            }
            file.sync()
        };
        make_durable().map_err(LogError::io("make durable", &path))?;
    }
    medium.sync_dir(dir).map_err(LogError::io("sync", dir))
}

/// Copies the bytes at `range` of one file to `at` in another.
fn copy(from: &dyn MediumFile, range: std::ops::Range<u64>, to: &dyn MediumFile, at: u64) -> std::io::Result<()> {
    let mut chunk = vec![0_u8; 1 << 20];
    let mut done = 0;
    while range.start + done < range.end {
        let most = usize::try_from(range.end - range.start - done).unwrap_or(usize::MAX).min(chunk.len());
        let read = from.read_full_at(chunk.get_mut(..most).unwrap_or_default(), range.start + done)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all_at(chunk.get(..read).unwrap_or_default(), at + done)?;
        done += read as u64;
    }
    Ok(())
}
