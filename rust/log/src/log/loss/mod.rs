//! Giving up damaged rows.
//!
//! A chain with a hole in it cannot be healed: the rows behind the hole name a predecessor that is gone. So the log ends
//! before the first damaged row. The files with everything from there on are moved aside whole, byte for byte. A row says what
//! was given up and where those bytes are; behind it every row of the old end that is whole in itself is recorded anew, with
//! its old number, actor and time in `extra`.
//!
//! The new end is written and synced beside the old one, then a plan of renames, then the renames are carried out: a crash
//! leaves the log as it was or a plan that [`finish_loss`] carries out to its end. In between the tip is unreadable, so that
//! nobody appends.

mod old;
mod plan;
mod rewrite;

use std::path::Path;

pub use plan::finish_loss;

use self::old::read_old;
use super::LogReader;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::medium::SharedMedium;

/// A file that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name, relative to the store.
    pub file: String,
    /// Its name now, relative to the store.
    pub kept_as: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// What giving up damaged rows means for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossPlan {
    /// The first row that is not as it must be, which is the number of the row that will say so.
    pub from_seq: u64,
    /// The last row of the old end, as far as is known.
    pub to_seq: u64,
    /// Rows of the old end that are whole in themselves and are recorded anew.
    pub whole: u64,
    /// Rows of the old end of which nothing is left, as ranges.
    pub lost: Vec<(u64, u64)>,
    /// What is wrong with the first row.
    pub what: String,
    /// Where that is: a file relative to the store, and the offset in it.
    pub place: (String, u64),
}

/// What giving up damaged rows did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What was planned.
    pub plan: LossPlan,
    /// The files that were moved aside.
    pub kept: Vec<Kept>,
    /// Number of the last row now.
    pub last_seq: u64,
}

/// Returns what giving up damaged rows would mean; `None` where the log is whole and is what was acknowledged.
pub fn plan_loss(medium: &SharedMedium, audit_dir: &Path) -> Result<Option<LossPlan>> {
    let log = LogReader::open(medium.clone(), audit_dir.to_path_buf())?;
    Ok(read_old(&log, &mut |_| Ok(()))?.map(|old| old.plan))
}

/// Gives up damaged rows. The caller holds the store's lock.
///
/// `actor` and `ts_ns` say who does it and when. What is derived from the log has to be made again afterwards.
pub fn accept_loss(medium: &SharedMedium, audit_dir: &Path, actor: &str, ts_ns: u64) -> Result<Loss> {
    if plan::is_pending(medium.as_ref(), audit_dir)? {
        return Err(LogError::Refused("giving up rows was interrupted: finish that first".into()));
    }
    let log = LogReader::open(medium.clone(), audit_dir.to_path_buf())?;
    let Some(old) = read_old(&log, &mut |_| Ok(()))? else {
        return Err(LogError::Invalid("the log is whole: there is nothing to give up".into()));
    };
    // The folder may have gone with everything in it.
    let root = audit_dir.parent().unwrap_or(audit_dir);
    let made = medium.create_dir_all(audit_dir).and_then(|()| medium.sync_dir(root));
    made.map_err(LogError::io("create", audit_dir))?;
    let loss = rewrite::prepare(&log, old, actor, ts_ns)?;
    finish_loss(medium, audit_dir)?;
    Ok(loss)
}
