//! What a store holds, part by part: the facts that `cyberos doctor` judges.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cyberos_log::Digest;
use cyberos_log::log::verify::Finding;
use cyberos_log::log::{Agreement, TipState};
use cyberos_log::medium::{Os, SharedMedium};
use cyberos_log::survey::{self as surveys, Derived, IndexState};
use pyo3::prelude::*;

use crate::errors::Result;

/// One thing that is wrong with the log: check, file, offset, seq and what.
type Fault = (String, String, u64, u64, String);
/// An index: rows, rows covered, foreign rows, unusable files, and what is wrong.
type Index = (u64, u64, u64, Vec<String>, Option<String>);

/// Everything about one store, as it was when it was looked at.
#[pyclass(frozen, get_all, module = "cyberos._native")]
pub struct Survey {
    /// Number of whole rows.
    rows: u64,
    /// Number of the last whole row; 0 for an empty log.
    last_seq: u64,
    /// Each segment's file, first row and length.
    segments: Vec<(String, u64, u64)>,
    /// `missing` (another program keeps none), `lost`, `damaged` or `valid`.
    tip: &'static str,
    /// The last row that the tip acknowledges and the last that is known to be in the working files; `None` without a tip.
    acknowledged: Option<(u64, u64)>,
    /// HEAD: `current`, `missing`, `behind`, `ahead` or `wrong`, and the row or what is wrong.
    head: (&'static str, String),
    /// A torn tail: file, offset and length.
    torn_tail: Option<(String, u64, u64)>,
    /// What is wrong with the log.
    faults: Vec<Fault>,
    /// Whether there is more wrong than `faults` lists.
    truncated: bool,
    /// Whether the rows are whole, so that what follows from them is known. What is below is empty otherwise.
    whole: bool,
    /// The memories: path, row, SHA-256 of the content (empty where no row says), and whether that content is stored.
    memories: Vec<(String, u64, String, bool)>,
    /// Content that the working file of a path may hold while the view lags.
    lagging: Vec<(String, Vec<String>)>,
    /// Kinds of row: name, number and first row.
    kinds: Vec<(String, u64, u64)>,
    /// Purges: row, path, and whether there is a reason.
    purges: Vec<(u64, String, bool)>,
    /// The Merkle peaks beside the log: `current`, `missing`, `behind`, `ahead` or `wrong`, and the row or what is wrong.
    peaks: (&'static str, String),
    /// The path index.
    path_index: Index,
    /// The Merkle tree's inner nodes.
    tree_index: Index,
    /// The index of the bodies.
    body_index: Index,
    /// Damage in the packs: file, offset and what.
    body_faults: Vec<(String, u64, String)>,
    /// Versions neither stored nor erased: the first row that wrote each, and its SHA-256.
    missing_bodies: Vec<(u64, String)>,
    /// Number of versions ever written.
    versions: u64,
    /// Number of bodies in the packs, erased or not.
    stored_bodies: u64,
    /// Bodies that no row names.
    unreferenced: u64,
    /// Purges that left bodies behind: row, path and the bodies.
    unfinished_purges: Vec<(u64, String, Vec<String>)>,
}

/// Looks at the store at `root`. `progress` is called now and then with the number of rows verified so far.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
#[pyo3(signature = (root, progress = None))]
pub fn survey(py: Python<'_>, root: PathBuf, progress: Option<Py<PyAny>>) -> Result<Survey> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let found = py.detach(|| {
        let medium: SharedMedium = Arc::new(Os);
        surveys::survey(&medium, &root, &|rows| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (rows,)).map(drop))
            });
            told.map_err(|error| *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).is_ok()
        })
    });
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    Ok(Survey::from(found?))
}

impl From<surveys::Survey> for Survey {
    fn from(found: surveys::Survey) -> Self {
        let surveys::Survey { report, tip, head, segments, derived } = found;
        let (tip, acknowledged) = match tip {
            TipState::Missing => ("missing", None),
            TipState::Lost => ("lost", None),
            TipState::Damaged => ("damaged", None),
            TipState::Valid(tip) => ("valid", Some((tip.seq, tip.view_seq))),
        };
        let fault = |Finding { check, file, offset, seq, what }| (String::from(check), file, offset, seq, what);
        let whole = derived.is_some();
        let Derived { rows, peaks, index, tree, bodies } = derived.unwrap_or_else(|| Derived {
            rows: surveys::Rows::default(),
            peaks: Agreement::Current,
            index: IndexState::default(),
            tree: IndexState::default(),
            bodies: surveys::BodyState::default(),
        });
        let hex = |digests: Vec<Digest>| digests.into_iter().map(Digest::to_hex).collect();
        let is_stored = |sha: &str| {
            Digest::from_hex(sha.as_bytes()).and_then(|sha| bodies.stored.get(&sha).copied()).unwrap_or(false)
        };
        let memories = rows.memories.into_iter();
        Self {
            rows: report.rows,
            last_seq: report.last.map_or(0, |(seq, _)| seq),
            segments,
            tip,
            acknowledged,
            torn_tail: report.torn_tail.map(|tail| (tail.file, tail.offset, tail.end - tail.offset)),
            faults: report.findings.into_iter().map(fault).collect(),
            truncated: report.truncated,
            whole,
            memories: memories
                .map(|(path, version)| {
                    let stored = is_stored(&version.content_sha256);
                    (path, version.seq, version.content_sha256, stored)
                })
                .collect(),
            lagging: rows.lagging.into_iter().map(|(path, set)| (path, hex(set.into_iter().collect()))).collect(),
            kinds: rows.kinds.into_iter().map(|(name, kind)| (name, kind.rows, kind.first_seq)).collect(),
            purges: rows.purges.into_iter().map(|purge| (purge.seq, purge.path, purge.has_reason)).collect(),
            peaks: agreement(peaks),
            head: agreement(head),
            path_index: tuple(index),
            tree_index: tuple(tree),
            versions: rows.written.len() as u64,
            stored_bodies: bodies.stored.len() as u64,
            unreferenced: bodies.unreferenced,
            body_index: tuple(bodies.index),
            body_faults: bodies.faults.into_iter().map(|fault| (fault.file, fault.offset, fault.what)).collect(),
            missing_bodies: bodies.missing.into_iter().map(|(seq, sha)| (seq, sha.to_hex())).collect(),
            unfinished_purges: bodies
                .unfinished
                .into_iter()
                .map(|purge| (purge.seq, purge.path, hex(purge.bodies)))
                .collect(),
        }
    }
}

fn agreement(agreement: Agreement) -> (&'static str, String) {
    match agreement {
        Agreement::Current => ("current", String::new()),
        Agreement::Missing => ("missing", String::new()),
        Agreement::Behind(seq) => ("behind", seq.to_string()),
        Agreement::Ahead(seq) => ("ahead", seq.to_string()),
        Agreement::Wrong(what) => ("wrong", what),
    }
}

fn tuple(index: IndexState) -> Index {
    (index.rows, index.covered, index.foreign, index.unusable, index.wrong)
}
