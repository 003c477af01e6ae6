//! Writing the tip anew where it is lost.

use std::path::Path;

use super::beside::missing_rows;
use super::recovery::{make_durable, roll_forward};
use super::{End, LogReader, TipFile};
use crate::error::{LogError, Result};
use crate::format::tip::Tip;
use crate::hash::Digest;
use crate::medium::SharedMedium;

/// Writes the tip anew from a log that is whole from its start, and returns the number of its last row.
///
/// For a tip that is missing or unreadable; what one says that can be read is evidence. Nothing is known of the working files
/// then, so that all rows count as not applied to them. The caller holds the store's lock.
pub fn rebuild_tip(medium: &SharedMedium, audit_dir: &Path) -> Result<u64> {
    let log = LogReader::open(medium.clone(), audit_dir.to_path_buf())?;
    if log.tip_state().valid().is_some() {
        return Err(LogError::Refused("the tip can be read, and what it says is evidence".into()));
    }
    log.require()?;
    if let Some(unreadable) = log.segments().unreadable().first() {
        return Err(LogError::corrupt(&unreadable.file, 0, None, &unreadable.what));
    }
    let start = End { place: 0, offset: 0, seq: 0 };
    let rolled = roll_forward(&log, start, Digest::ZERO, &mut |_| Ok(()))?;
    if let Some(damage) = rolled.damage.filter(|damage| !damage.torn_tail) {
        return Err(damage.error());
    }
    if let Some(known) = missing_rows(&log, rolled.end.seq)? {
        return Err(known.error(rolled.end.seq));
    }
    let End { place, offset, seq } = rolled.end;
    make_durable(&log, start, rolled.end, false)?;
    let segment = log.segments().get(place).map_or(seq + 1, |segment| segment.first_seq);
    let (chain, boot) = (rolled.chain, medium.boot());
    let tip = Tip { generation: 0, seq, segment, offset, chain, view_seq: 0, boot, bodies: 0 };
    TipFile::create(medium.as_ref(), audit_dir, tip)?;
    Ok(seq)
}
