//! A store, looked at part by part: what its log says, and whether everything that follows from the log is as it says.
//!
//! Nothing here writes or judges: these are the facts that checks are made of. Each part reads the whole log, or all packs.

mod bodies;
mod index;
mod rows;

pub use bodies::{BodyFault, BodyState, Unfinished};
pub use index::IndexState;
pub use rows::{Kind, Purge, Rows, Written};

use std::path::Path;

use crate::error::Result;
use crate::history::Chain;
use crate::log::verify::{Options, Report, verify};
use crate::log::{Agreement, LogReader, TipState, check_head, check_peaks};
use crate::manifest::check_format;
use crate::medium::SharedMedium;

/// Everything about one store.
#[derive(Debug)]
pub struct Survey {
    /// What verifying the log found.
    pub report: Report,
    /// What the tip file says.
    pub tip: TipState,
    /// HEAD, held against the log.
    pub head: Agreement,
    /// Each segment's file, its first row and its length in bytes.
    pub segments: Vec<(String, u64, u64)>,
    /// What follows from the rows; `None` where rows are damaged, so that nothing follows.
    pub derived: Option<Derived>,
}

/// What follows from the rows of a log, compared with what is there.
#[derive(Debug)]
pub struct Derived {
    /// What the rows say.
    pub rows: Rows,
    /// The Merkle peaks beside the log.
    pub peaks: Agreement,
    /// The path index.
    pub index: IndexState,
    /// The Merkle tree's inner nodes.
    pub tree: IndexState,
    /// The version bodies and their index.
    pub bodies: BodyState,
}

/// Looks at the store at `root`. `progress` is called as that of [`verify`].
pub fn survey(medium: &SharedMedium, root: &Path, progress: &(dyn Fn(u64) -> bool + Sync)) -> Result<Survey> {
    check_format(medium.as_ref(), root)?;
    let chain = Chain::over(LogReader::open(medium.clone(), root.join("audit"))?, medium, root)?;
    let log = chain.log();
    let report = verify(log, Options::default(), progress)?;
    let segments = log.segments().list().iter();
    let segments = segments.map(|segment| Ok((segment.label(), segment.first_seq, segment.len()?)));
    let segments = segments.collect::<Result<Vec<_>>>()?;
    let (tip, head) = (log.tip_state(), check_head(log)?);
    let rows_are_whole = report.findings.iter().all(|finding| finding.check == "tip");
    let derived = if rows_are_whole {
        // Without a tip of ours the log is another program's, and its working files are that program's business.
        let applied = tip.valid().map_or(u64::MAX, |tip| tip.view_seq);
        let rows = Rows::read(log, applied)?;
        let peaks = report.peaks.as_ref().map_or(Ok(Agreement::Current), |peaks| check_peaks(log, peaks))?;
        let index = IndexState::of_paths(medium, root, &chain)?;
        let tree = IndexState::of_tree(&chain, report.peaks.as_ref())?;
        let bodies = BodyState::read(medium, root, &chain, &rows)?;
        Some(Derived { rows, peaks, index, tree, bodies })
    } else {
        None
    };
    Ok(Survey { report, tip, head, segments, derived })
}
