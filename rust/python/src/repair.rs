//! Mending a store, step by step.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cyberos_log::log::{self, LossPlan};
use cyberos_log::manifest::check_format;
use cyberos_log::medium::{Os, SharedMedium};
use cyberos_log::store::{self, Lock};
use pyo3::prelude::*;

use crate::errors::{BadArgument, Result};

/// What giving up damaged rows means: from, to, rows that are whole, ranges that are lost, what is wrong, file and offset.
type Planned = (u64, u64, u64, Vec<(u64, u64)>, String, String, u64);

/// A store to be mended. Each method takes the store's lock and gives it back.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Repair(store::Repair);

#[pymethods]
impl Repair {
    /// `patience` is in seconds; `actor` is who mends.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    #[pyo3(signature = (root, *, patience = 10.0, actor = ""))]
    fn new(root: PathBuf, patience: f64, actor: &str) -> Result<Self> {
        let patience =
            Duration::try_from_secs_f64(patience).map_err(|error| BadArgument::new_err(error.to_string()))?;
        let lock = Lock::open(&root, patience)?;
        Ok(Self(store::Repair::new(Arc::new(Os), &root, lock, actor)))
    }

    /// Writes the tip anew from a log that is whole from its start; returns its last row.
    fn rebuild_tip(&self, py: Python<'_>) -> Result<u64> {
        Ok(py.detach(|| self.0.rebuild_tip())?)
    }

    /// Gives up damaged rows. Returns what was planned, the files that were moved aside (name, new name, length and SHA-256)
    /// and the last row.
    #[expect(clippy::type_complexity, reason = "it is a tuple in Python")]
    fn accept_loss(
        &self,
        py: Python<'_>,
        actor: &str,
        ts_ns: u64,
    ) -> Result<(Planned, Vec<(String, String, u64, String)>, u64)> {
        let loss = py.detach(|| self.0.accept_loss(actor, ts_ns))?;
        let kept = loss.kept.into_iter().map(|kept| (kept.file, kept.kept_as, kept.bytes, kept.sha256.to_hex()));
        Ok((planned(loss.plan), kept.collect(), loss.last_seq))
    }

    /// Finishes giving up rows where that was interrupted; returns the row that records it.
    fn finish_loss(&self, py: Python<'_>) -> Result<u64> {
        Ok(py.detach(|| self.0.finish_loss())?)
    }

    /// Erases what purges left behind; returns how many stored copies there were.
    fn finish_purges(&self, py: Python<'_>) -> Result<u64> {
        Ok(py.detach(|| self.0.finish_purges())?)
    }

    /// Writes working files that are missing, as far as their content is stored; returns which.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn restore_files(&self, py: Python<'_>, paths: Vec<String>) -> Result<Vec<String>> {
        Ok(py.detach(|| self.0.restore_files(&paths))?)
    }

    /// Removes files that interrupted writes left.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn remove_leftovers(&self, py: Python<'_>, files: Vec<String>) -> Result<()> {
        Ok(py.detach(|| self.0.remove_leftovers(&files))?)
    }

    /// Removes an index, `history` or `objects`.
    fn drop_index(&self, py: Python<'_>, name: &str) -> Result<()> {
        Ok(py.detach(|| self.0.drop_index(name))?)
    }

    /// Indexes all bodies.
    fn index_bodies(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.0.index_bodies())?)
    }
}

/// Returns what giving up damaged rows of the store at `root` would mean; `None` where there is nothing to give up.
///
/// Takes no lock and writes nothing.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn plan_loss(py: Python<'_>, root: PathBuf) -> Result<Option<Planned>> {
    let medium: SharedMedium = Arc::new(Os);
    let plan = py.detach(|| {
        check_format(medium.as_ref(), &root)?;
        log::plan_loss(&medium, &root.join("audit"))
    })?;
    Ok(plan.map(planned))
}

fn planned(plan: LossPlan) -> Planned {
    let LossPlan { from_seq, to_seq, whole, lost, what, place: (file, offset) } = plan;
    (from_seq, to_seq, whole, lost, what, file, offset)
}
