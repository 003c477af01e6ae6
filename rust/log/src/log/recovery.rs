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
use crate::medium::{Medium, Open};
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
    let chain = Row::parse(frame.payload).map(|row| row.chain());
    if chain != Ok(tip.chain) {
        return Err(LogError::corrupt(
            segment.label(),
            frame.offset,
            Some(tip.seq),
            "the last acknowledged row has another chain",
        ));
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
    while let Some(segment) = log.segments().get(end.place) {
        let label = segment.label();
        let mut reader = BatchReader::new(segment, end.offset, end.seq + 1, None)?;
        loop {
            let mut stop = reader.read(&mut batch)?;
            for frame in batch.frames() {
                match frame {
                    Ok(frame) => {
                        chain = check_link(&label, &frame, &chain)?;
                        visit(&frame)?;
                        end.offset = frame.end();
                        end.seq = frame.header.seq;
                    }
                    Err(bad) => {
                        stop = Some(bad);
                        break;
                    }
                }
            }
            if let Some(stop) = stop {
                return Ok(Rolled { end, chain, damage: Some(log.damage_at(segment, end.place, stop)?) });
            }
            if batch.is_empty() {
                break;
            }
        }
        match log.segments().get(end.place + 1) {
            Some(next) if next.first_seq == end.seq + 1 => end = End { place: end.place + 1, offset: 0, seq: end.seq },
            Some(next) => {
                let what = format!("the segment begins with row {}, not {}", next.first_seq, end.seq + 1);
                return Err(LogError::corrupt(next.label(), 0, Some(end.seq + 1), what));
            }
            None => break,
        }
    }
    Ok(Rolled { end, chain, damage: None })
}

/// Writes the rows between `from` and `to` again and syncs them.
///
/// Rows beyond the tip may be those of a failed sync: they read well from memory and will never reach the disk, since the
/// system believes it has written them. Written again they do. Before this they must not be acknowledged.
pub(super) fn make_durable(log: &LogReader, from: &End, to: &End) -> Result<()> {
    if from.seq == to.seq {
        return Ok(());
    }
    for place in from.place..=to.place {
        let Some(segment) = log.segments().get(place).filter(|segment| !segment.name.ends_with(".zst")) else {
            continue;
        };
        let start = if place == from.place { from.offset } else { 0 };
        let end = if place == to.place { to.offset } else { segment.len()? };
        let path = log.segments().dir().join(&segment.name);
        let rewrite = || -> std::io::Result<()> {
            let file = log.segments().medium().open(&path, Open::Write)?;
            let mut chunk = vec![0_u8; 1 << 20];
            let mut at = start;
            while at < end {
                let n = usize::try_from(end - at).unwrap_or(usize::MAX).min(chunk.len());
                let part = chunk.get_mut(..n).unwrap_or_default();
                let read = file.read_full_at(part, at)?;
                if read == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
                file.write_all_at(part.get(..read).unwrap_or_default(), at)?;
                at += read as u64;
            }
            file.sync()
        };
        rewrite().map_err(LogError::io("make durable", &path))?;
    }
    Ok(())
}

/// Moves the bytes from `damage.offset` on into a file of their own, durably, and cuts them off.
pub(super) fn set_aside(medium: &dyn Medium, audit_dir: &Path, damage: &Damage) -> Result<Tail> {
    let name = damage.file.strip_prefix("audit/").unwrap_or(&damage.file);
    let path = audit_dir.join(name);
    let kept_as = format!("torn-{:020}-{}.bin", damage.expected_seq, damage.offset);
    let kept_path = audit_dir.join(&kept_as);
    let bytes = damage.end.saturating_sub(damage.offset);
    let copy = || -> std::io::Result<()> {
        let file = medium.open(&path, Open::Write)?;
        let kept = medium.open(&kept_path, Open::Create)?;
        kept.set_len(0)?;
        let mut chunk = vec![0_u8; 1 << 20];
        let mut done = 0;
        while done < bytes {
            let n = usize::try_from(bytes - done).unwrap_or(usize::MAX).min(chunk.len());
            let part = chunk.get_mut(..n).unwrap_or_default();
            let read = file.read_full_at(part, damage.offset + done)?;
            if read == 0 {
                break;
            }
            kept.write_all_at(part.get(..read).unwrap_or_default(), done)?;
            done += read as u64;
        }
        kept.sync()?;
        medium.sync_dir(audit_dir)?;
        file.set_len(damage.offset)?;
        file.sync()
    };
    copy().map_err(LogError::io("set aside the torn tail of", &path))?;
    Ok(Tail { file: damage.file.clone(), offset: damage.offset, bytes, kept_as })
}
